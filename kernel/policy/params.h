/* SPDX-License-Identifier: GPL-2.0-only */
/* Module parameters that others read. */
#ifndef CGWB_PARAMS_H
#define CGWB_PARAMS_H

/* Capacities, chosen when the module is loaded. */
extern unsigned int cgwb_memcgs;
extern unsigned int cgwb_targets;

#endif /* CGWB_PARAMS_H */
