/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The setting `bgthresh`: a memcg's background threshold is shared by the wb's part of the memcg's writeout, not of the
 * system's. Chosen when the module is loaded; kernels that do so by themselves have none of this.
 */
#ifndef CGWB_BGTHRESH_H
#define CGWB_BGTHRESH_H

#include <linux/types.h>

#include "compat.h"

struct bdi_writeback;

#if CGWB_BGTHRESH_APPLIES
/* Is it asked for? Written by the parameter only. */
extern bool cgwb_bgthresh;

/* cgwb_bgthresh_init() - look up what it needs if it is asked for: -ENOENT, and says what is missing */
int cgwb_bgthresh_init(void);

/* In place of wb_over_bg_thresh(). */
bool cgwb_over_bg_thresh(struct bdi_writeback *wb);
#else
static inline int cgwb_bgthresh_init(void)
{
	return 0;
}
#endif

#endif /* CGWB_BGTHRESH_H */
