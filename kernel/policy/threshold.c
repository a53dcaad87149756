// SPDX-License-Identifier: GPL-2.0-only
/* The arithmetic of background thresholds: see threshold.h for what it is about. */

#include "threshold.h"

unsigned long cgwb_domain_available(unsigned long filepages, unsigned long dirty,
				    unsigned long headroom, unsigned long system_available,
				    unsigned long system_dirty)
{
	/* Counters of memcgs and of the system are never read at one moment: each may seem to be more than the other. */
	unsigned long clean = filepages - min(filepages, dirty);
	unsigned long system_clean = system_available - min(system_available, system_dirty);
	unsigned long clean_elsewhere = system_clean - min(system_clean, clean);

	return filepages + min(headroom, clean_elsewhere);
}

/* In 1/PAGE_SIZE: so much of a page of memory may be dirty. */
static unsigned long bytes_a_page(unsigned long percent, unsigned long bytes,
				  unsigned long system_available)
{
	if (bytes)
		return min(DIV_ROUND_UP(bytes, system_available), PAGE_SIZE);
	return percent * PAGE_SIZE / 100;
}

static unsigned long lift(unsigned long threshold, unsigned long system_limit)
{
	return threshold + threshold / 4 + system_limit / 32;
}

unsigned long cgwb_domain_background(const struct cgwb_dirty_settings *settings,
				     unsigned long available, unsigned long system_available,
				     bool is_realtime, unsigned long system_limit)
{
	unsigned long limit, background;

	limit = bytes_a_page(settings->ratio, settings->bytes, system_available) * available /
		PAGE_SIZE;
	background = bytes_a_page(settings->background_ratio, settings->background_bytes,
				  system_available) *
		     available / PAGE_SIZE;
	if (is_realtime) {
		limit = lift(limit, system_limit);
		background = lift(background, system_limit);
	}
	limit = min(limit, (unsigned long)UINT_MAX);
	/* One that would begin no earlier than throttling is no background. */
	return background < limit ? background : limit / 2;
}

unsigned long cgwb_wb_percent(unsigned long percent, unsigned long bandwidth, unsigned long total)
{
	/* A wb that has just become clean may be missing in the total. */
	return bandwidth < total ? percent * bandwidth / total : percent;
}

unsigned long cgwb_wb_max_percent(unsigned long percent, unsigned long bandwidth,
				  unsigned long total)
{
	return percent < 100 ? cgwb_wb_percent(percent, bandwidth, total) : percent;
}

unsigned long cgwb_wb_threshold(unsigned long threshold, const struct cgwb_part *part)
{
	unsigned long own = threshold * (100 - part->reserved_percent) / 100;

	own = own * part->numerator / part->denominator;
	own += threshold * part->min_percent / 100;
	return min(own, threshold * part->max_percent / 100);
}
