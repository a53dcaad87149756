// SPDX-License-Identifier: GPL-2.0-only
/*
 * cgwb_disk: block devices in memory that is kept from the kernel, with exact caps, for experiments in virtual time.
 *
 * It exists because null_blk serves in bursts of 20 ms, drops budget that it has not used, never ends a request above
 * one burst's budget, turns a plug's requests round on 6.1, and grows in the very memory whose thresholds an experiment
 * is about.
 */
#include <linux/module.h>

#include "disk.h"

static int __init cgwb_disk_init(void)
{
	return disk_configfs_register();
}

static void __exit cgwb_disk_exit(void)
{
	disk_configfs_unregister();
}

module_init(cgwb_disk_init);
module_exit(cgwb_disk_exit);
MODULE_DESCRIPTION("In-memory disks with exact caps, for cgwb lab");
MODULE_LICENSE("GPL");
