/* SPDX-License-Identifier: GPL-2.0-only */
/* How this module's messages begin. Included before everything else, by Kbuild: printk.h has a default of its own. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
