/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets: the stretches of inodes that are swept, and the worker that does it.
 *
 * A target is a place, a sweep and a work item. It is in use while its sweep is owed. Asks for pages of the same inode
 * that touch its stretch join it; others have a sweep of their own, so that what lies between is left alone. There is a
 * fixed number of them; who finds none free asks for the owner's whole wb, as the kernel does.
 *
 * At most one slice of a target runs at any time, and one begins no sooner than the least interval after the last
 * ended, also when the target was at rest between them.
 *
 * The inode is found anew for each slice and kept no longer. A device that is gone ends its sweep. A file that cannot
 * be found is looked for once more an interval later, for it may have been just about to be listed, or to be switched;
 * then it is clean, and nothing is owed. Where looking is not possible, the owner's whole wb is flushed: once at a time
 * for each owner.
 *
 * Who pays for the mapping of a block device: the root's blkcg, not the owner's. The metadata is everybody's, whoever
 * happened to dirty the mapping first owns it, and while it is written it is locked for all; the journal, which has the
 * same blocks, is the root's, too. Measured on 6.1 with an owner limited to 1 MiB/s, a cgroup without a limit made
 * 38,770 files in 30 s when the owner paid and 52,351 when the root did (38,001 under stock); when the owner wrote as
 * well, 16,101 and 49,451 (7,254). So the write is not attached to the owner's wb, and also takes no part in the
 * arbitration of who should own the inode. It is not marked as background, which a stock foreign flush is not either:
 * somebody waits for it. The pages of a file are paid for by its owner, and vote, as in any writeback of it.
 *
 * A target with work queued or running holds a reference of the module: work that is stuck on a dead disk keeps the
 * module loaded.
 */
#ifndef CGWB_TARGET_H
#define CGWB_TARGET_H

#include <linux/types.h>

#include "decide.h"
#include "place.h"

/* How many seconds after the livepatch was disabled a sweep that has not ended is reported. */
#define CGWB_REPORT_AFTER_S 5

/* cgwb_targets_init() - room for @nr sweeps; process context */
int cgwb_targets_init(unsigned int nr);
/* cgwb_targets_exit() - nothing is queued or running any more (the references say so); wait for the last steps of it */
void cgwb_targets_exit(void);

/* cgwb_targets_stop() - take no asks; sweeps end at their next slice. Any context. */
void cgwb_targets_stop(void);
/* cgwb_targets_resume() - take asks (again) */
void cgwb_targets_resume(void);
/* cgwb_targets_report() - look in CGWB_REPORT_AFTER_S for sweeps that have not ended, and name them in the log */
void cgwb_targets_report(void);

/**
 * cgwb_target_ask() - owe the caller a sweep of @place
 *
 * Any context, interrupts on or off; does not sleep. Returns 0 if a sweep was started, 1 if one was under way and takes
 * the caller along, -ESHUTDOWN while stopping, -ENOSPC when all targets are in use.
 */
int cgwb_target_ask(const struct cgwb_place *place, const struct cgwb_clock *clock);

/* cgwb_targets_show() - a line for each target: device or bdi:inode, state, lap, cursor; into a sysfs buffer */
ssize_t cgwb_targets_show(char *buf);

#endif /* CGWB_TARGET_H */
