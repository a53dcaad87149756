/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arithmetic of background thresholds: of how many dirty pages on does a memcg's wb need to be written back?
 *
 * A memcg has a *domain*: the memory that it may fill with file pages. Its background threshold is the system's share
 * of dirty memory, applied to that. Each wb of the memcg gets a part of it, and the part is what this is about: 6.1
 * takes the wb's part of the writeout of the *system*, which scales the threshold a second time - it has been scaled to
 * the memcg's size already. Two memcgs of 50 GiB on a system of 100 GiB, each writing to its own disk, are so written
 * back from 2.5 GiB on and not from 5. Later kernels, and the setting `bgthresh`, take its part of the memcg's
 * writeout.
 *
 * Memory is in pages, fractions are a numerator and a denominator that is not 0. All follows what 6.1 does, rounding
 * included, but for that one part. Nothing here locks, sleeps or remembers.
 */
#ifndef CGWB_THRESHOLD_H
#define CGWB_THRESHOLD_H

#include "decide.h"

/**
 * struct cgwb_dirty_settings - vm.dirty_* as the administrator set them
 * @ratio: vm.dirty_ratio, percent; not used where @bytes is not 0
 * @bytes: vm.dirty_bytes
 * @background_ratio: vm.dirty_background_ratio, percent; not used where @background_bytes is not 0
 * @background_bytes: vm.dirty_background_bytes
 */
struct cgwb_dirty_settings {
	unsigned long ratio, bytes;
	unsigned long background_ratio, background_bytes;
};

/**
 * struct cgwb_part - what decides which part of a threshold is a wb's
 * @numerator: pages that the wb has written lately ...
 * @denominator: ... of these of the domain
 * @reserved_percent: of every threshold: what is set aside for the min_ratio of all bdis
 * @min_percent: what of it is for this wb
 * @max_percent: and how much it may have at most
 */
struct cgwb_part {
	unsigned long numerator, denominator;
	unsigned long reserved_percent;
	unsigned long min_percent, max_percent;
};

/**
 * cgwb_domain_available() - pages that a memcg may fill with file pages
 * @filepages: those it has
 * @dirty: of these: the dirty ones
 * @headroom: what its limits, and those above it, leave it
 * @system_available: the same of the system
 * @system_dirty: the system's dirty pages
 *
 * It can grow by its headroom, but not beyond the clean memory that others have.
 */
unsigned long cgwb_domain_available(unsigned long filepages, unsigned long dirty,
				    unsigned long headroom, unsigned long system_available,
				    unsigned long system_dirty);

/**
 * cgwb_domain_background() - a memcg's background threshold
 * @settings: settings in bytes are of the system, and become the ratio that they are there
 * @available: cgwb_domain_available()
 * @system_available: of the system; not 0
 * @is_realtime: the task that asks is a realtime one, and has a quarter more
 * @system_limit: the system's smoothed dirty limit, of which a realtime task has a little on top
 */
unsigned long cgwb_domain_background(const struct cgwb_dirty_settings *settings,
				     unsigned long available, unsigned long system_available,
				     bool is_realtime, unsigned long system_limit);

/* cgwb_wb_percent() - a bdi's min_ratio (@percent), for a wb that has @bandwidth of the bdi's @total */
unsigned long cgwb_wb_percent(unsigned long percent, unsigned long bandwidth, unsigned long total);
/* cgwb_wb_max_percent() - the same of its max_ratio; of a bdi that may have all, each wb may */
unsigned long cgwb_wb_max_percent(unsigned long percent, unsigned long bandwidth,
				  unsigned long total);

/* cgwb_wb_threshold() - a wb's part of its domain's @threshold */
unsigned long cgwb_wb_threshold(unsigned long threshold, const struct cgwb_part *part);

#endif /* CGWB_THRESHOLD_H */
