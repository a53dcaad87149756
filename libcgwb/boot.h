/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one cell's guest is booted with, and the digests of it all.
 *
 * `inputs` decides the result: two cells with the same inputs have the same result, so that a
 * finished one can be used again. It has no path and no time of the host's in it.
 */
#ifndef CGWB_BOOT_H
#define CGWB_BOOT_H

#include <jansson.h>
#include <stdint.h>

#include "libcgwb/cell.h"
#include "libcgwb/kit.h"
#include "libcgwb/scenario.h"

struct cgwb_boot;

/*
 * Finds everything that the cell needs. The cell's kernel becomes that of the kit. `kit` and `cell`
 * are borrowed and must live as long. Returns 0 or a negative errno, with the program, module or
 * file that is missing.
 */
int cgwb_boot_new(struct cgwb_kit *kit, const struct cgwb_scenario *scenario,
		  const struct cgwb_cell *cell, struct cgwb_boot **ret_boot,
		  struct cgwb_error *error);

/* NULL-safe, returns NULL. */
struct cgwb_boot *cgwb_boot_free(struct cgwb_boot *boot);

/* Borrowed. */
const json_t *cgwb_boot_cell(const struct cgwb_boot *boot);
const json_t *cgwb_boot_inputs(const struct cgwb_boot *boot);
const char *cgwb_boot_name(const struct cgwb_boot *boot); /* VARIANT-SEED */

/*
 * The size of the initramfs, about; the host's memory and the virtual time that running it takes,
 * estimated.
 */
uint64_t cgwb_boot_initramfs_bytes(const struct cgwb_boot *boot);
uint64_t cgwb_boot_host_memory_bytes(const struct cgwb_boot *boot);
double cgwb_boot_virtual_s(const struct cgwb_boot *boot);

/* Writes the initramfs to a file. */
int cgwb_boot_write_initramfs(struct cgwb_boot *boot, const char *path, struct cgwb_error *error);

/* QEMU's command line with these files (`kernel` is filled in); see qemu.h. */
int cgwb_boot_argv(const struct cgwb_boot *boot, const char *initrd, const char *console,
		   const char *result, char ***ret_argv, struct cgwb_error *error);

#endif
