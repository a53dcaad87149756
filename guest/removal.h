/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cgroups that are removed while the cell runs (`remove`): each as soon as its last job has ended.
 *
 * Clean pages that are charged to a cgroup keep it alive after it has been removed, so page caches are
 * dropped before that, and from then on until the kernel has freed it. Nothing is synced: what is dirty
 * goes to the disk when the kernel finds it time, as it would without the lab.
 */
#ifndef GUEST_REMOVAL_H
#define GUEST_REMOVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cell.h"
#include "error.h"
#include "job.h"
#include "measure.h"

struct removal {
	bool *removed; /* of each cgroup of the cell */
	uint64_t drop_ns; /* when caches are to be dropped next */
};

int removal_init(struct removal *removal, const struct cell *cell, struct error *error);

/*
 * Removes the cgroups whose time has come, and drops caches if it is time. Returns when it wants to be
 * called again, or @until_ns if that is before.
 */
int removal_step(struct removal *removal, struct measuring *measuring, const struct jobs *jobs,
		 uint64_t *until_ns, struct error *error);

/* Waits until all that were removed are freed, or for so long that it gives them up. */
int removal_wait(struct removal *removal, struct measuring *measuring, const struct jobs *jobs,
		 struct error *error);

void removal_done(struct removal *removal);

#endif
