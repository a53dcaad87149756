/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel modules of the initramfs, uncompressed. */
#ifndef GUEST_MODULE_H
#define GUEST_MODULE_H

#include "cell.h"
#include "error.h"

/* Loads each line of @list ("PATH [PARAMETER...]"), in order; no list, no modules. */
int modules_load(const char *list, struct error *error);

/* Loads the policy module and waits until its livepatch has taken effect. */
int policy_load(const struct cell *cell, struct error *error);

#endif
