/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets: the block devices whose mappings are swept, and the worker that does it.
 *
 * A target is a device number, a sweep and a work item. It is held for a device while live records name that device, so
 * that whoever has a record can ask, and until its sweep is at rest. There is a fixed number of them; when all are
 * held, another device's dirtyings use the kernel's own records.
 *
 * At most one slice of a target runs at any time, and one begins no sooner than CGWB_SLICE_MS after the last ended.
 *
 * The inode is found by its number for each slice and kept no longer. The disk is pinned meanwhile, for an inode alone
 * does not keep a disk's queue. A device that is gone ends its sweep.
 *
 * Who pays: the root's blkcg, not the owner's. The metadata is everybody's, whoever happened to dirty the
 * mapping first owns it, and while it is written it is locked for all; the journal, which has the same
 * blocks, is the root's, too. Measured on 6.1 with an owner limited to 1 MiB/s, a cgroup without a limit made
 * 38,770 files in 30 s when the owner paid and 52,351 when the root did (38,001 under stock); when the owner
 * wrote as well, 16,101 and 49,451 (7,254). So the write is not attached to the owner's wb, and also takes no
 * part in the arbitration of who should own the inode. It is not marked as background, which a stock foreign
 * flush is not either: somebody waits for it.
 *
 * A target with work queued or running holds a reference of the module: work that is stuck on a dead disk keeps the
 * module loaded.
 */
#ifndef CGWB_TARGET_H
#define CGWB_TARGET_H

#include <linux/types.h>

#include "decide.h"

/* How many seconds after the livepatch was disabled a sweep that has not ended is reported. */
#define CGWB_REPORT_AFTER_S 5

/* cgwb_targets_init() - room for @nr devices; process context */
int cgwb_targets_init(unsigned int nr);
/* cgwb_targets_exit() - nothing is queued or running any more (the references say so); wait for the last steps of it */
void cgwb_targets_exit(void);

/* cgwb_targets_stop() - take no asks; sweeps end at their next slice. Any context. */
void cgwb_targets_stop(void);
/* cgwb_targets_resume() - take asks (again) */
void cgwb_targets_resume(void);
/* cgwb_targets_report() - look in CGWB_REPORT_AFTER_S for sweeps that have not ended, and name them in the log */
void cgwb_targets_report(void);

/* cgwb_target_hold() - keep a target for @dev from now on for a record's life. False if all are held. Any context. */
bool cgwb_target_hold(u32 dev, const struct cgwb_clock *clock);

/**
 * cgwb_target_ask() - owe the caller a sweep of @dev
 *
 * Any context, interrupts on or off; does not sleep. Returns 0 if a sweep was started, 1 if one was under way and takes
 * the caller along, -ESHUTDOWN while stopping, -ENOSPC when no target is left.
 */
int cgwb_target_ask(u32 dev, const struct cgwb_clock *clock);

/* cgwb_targets_show() - a line "major:minor state sweep-lap cursor" for each target held; into a sysfs buffer */
ssize_t cgwb_targets_show(char *buf);

#endif /* CGWB_TARGET_H */
