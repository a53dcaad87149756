/* SPDX-License-Identifier: GPL-2.0-only */
/* Module parameters that others read. Those that can be changed are read with READ_ONCE(), at each use. */
#ifndef CGWB_PARAMS_H
#define CGWB_PARAMS_H

#include "policy.h"

/* What a foreign dirtying records. */
extern enum cgwb_policy cgwb_policy;

/* At most one unfinished flush of a wb, whoever asks. */
extern bool cgwb_dedupe;
/* A memcg asks when the pages it dirtied elsewhere are this share of its dirty pages; 0: whenever it is throttled. */
extern unsigned int cgwb_threshold_percent;

/* How much a slice writes: as much as the wb in this time. */
extern unsigned int cgwb_slice_ms;
/* The least time from the end of a slice to the beginning of the next one of the same target. */
extern unsigned int cgwb_interval_ms;
/* How long a record lives; 0: as long as vm.dirty_expire_centisecs says. */
extern unsigned int cgwb_record_age_ms;

/* Capacities, chosen when the module is loaded. */
extern unsigned int cgwb_memcgs;
extern unsigned int cgwb_targets;

#endif /* CGWB_PARAMS_H */
