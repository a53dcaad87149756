// SPDX-License-Identifier: GPL-2.0-or-later
#include "disk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "attribute.h"
#include "clock.h"
#include "extent.h"

#define CONFIGFS "/sys/kernel/config/cgwb_disk"

static int queue_set(const struct disk *disk, struct error *error)
{
	char *scheduler, active[64];
	int err;

	err = attribute_write(error, disk->scheduler, "/sys/block/%s/queue/scheduler", disk->name);
	if (err < 0)
		return err;
	/* The kernel takes a name that it cannot load for no error at all on some versions. */
	err = attribute_read(error, &scheduler, "/sys/block/%s/queue/scheduler", disk->name);
	if (err < 0)
		return err;
	snprintf(active, sizeof(active), "[%s]", disk->scheduler);
	if (!strstr(scheduler, active))
		err = error_set(error, -EINVAL, "disk %s: the scheduler is not %s but '%s'",
				disk->name, disk->scheduler, scheduler);
	free(scheduler);
	if (err < 0)
		return err;
	err = attribute_write_u64(error, disk->wbt_lat_us, "/sys/block/%s/queue/wbt_lat_usec",
				  disk->name);
	return err   ?:
		       attribute_write_u64(error, disk->max_sectors_kb,
					   "/sys/block/%s/queue/max_sectors_kb", disk->name);
}

int disk_make(const struct disk *disk, struct error *error)
{
	const struct {
		const char *name;
		uint64_t value;
	} attributes[] = {
		{ "base_bytes", disk->base_bytes },
		{ "size_bytes", disk->size_bytes },
		{ "write_bps", disk->write_bps },
		{ "read_bps", disk->read_bps },
		{ "iops", disk->iops },
		{ "latency_ns", disk->latency_ns },
		{ "depth", disk->depth },
		{ "max_sectors_kb", disk->max_sectors_kb },
	};
	char path[256];
	struct stat st;
	size_t i;
	int err;

	snprintf(path, sizeof(path), CONFIGFS "/%s", disk->name);
	if (mkdir(path, 0755) < 0)
		return error_errno(error, -errno, "cannot make the disk %s: mkdir %s", disk->name,
				   path);
	for (i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		err = attribute_write_u64(error, attributes[i].value, "%s/%s", path,
					  attributes[i].name);
		if (err < 0)
			return err;
	}
	err = attribute_write(error, "1", "%s/power", path);
	if (err < 0)
		return err;
	snprintf(path, sizeof(path), "/dev/%s", disk->name);
	if (stat(path, &st) < 0)
		return error_errno(error, -errno, "the disk %s was made, but there is no %s",
				   disk->name, path);
	return queue_set(disk, error);
}

static int disk_stat(const struct disk *disk, struct stat *st, struct error *error)
{
	char path[256];

	snprintf(path, sizeof(path), "/dev/%s", disk->name);
	if (stat(path, st) < 0)
		return error_errno(error, -errno, "cannot find %s", path);
	return 0;
}

int disk_dev(const struct disk *disk, uint32_t *ret_dev, struct error *error)
{
	struct stat st;
	int err = disk_stat(disk, &st, error);

	if (err < 0)
		return err;
	*ret_dev = major(st.st_rdev) << 20 | minor(st.st_rdev);
	return 0;
}

int disk_number_text(const struct disk *disk, char *text, unsigned int size, struct error *error)
{
	struct stat st;
	int err = disk_stat(disk, &st, error);

	if (err < 0)
		return err;
	snprintf(text, size, "%u:%u", major(st.st_rdev), minor(st.st_rdev));
	return 0;
}

/* What the block layer counts: sectors written, and requests under way. */
static int block_stat_read(const struct disk *disk, uint64_t *ret_sectors, uint64_t *ret_in_flight,
			   struct error *error)
{
	char *text;
	int n, err;

	err = attribute_read(error, &text, "/sys/block/%s/stat", disk->name);
	if (err < 0)
		return error_errno(error, err, "cannot read the account of %s", disk->name);
	n = sscanf(text, "%*u %*u %*u %*u %*u %*u %" SCNu64 " %*u %" SCNu64, ret_sectors,
		   ret_in_flight);
	free(text);
	return n == 2 ? 0 :
			error_set(error, -EINVAL, "/sys/block/%s/stat has no nine numbers",
				  disk->name);
}

int disk_wait_idle(const struct disk *disk, struct error *error)
{
	uint64_t until_ns = clock_now_ns() + NS_PER_S;
	uint64_t sectors, in_flight;

	do {
		int err = block_stat_read(disk, &sectors, &in_flight, error);

		if (err < 0 || !in_flight)
			return err;
		clock_sleep_until(clock_now_ns() + NS_PER_S / 1000);
	} while (clock_now_ns() < until_ns);
	return -EBUSY;
}

int disk_account_read(const struct disk *disk, struct disk_account *ret, struct error *error)
{
	uint64_t sectors, in_flight;
	int err = block_stat_read(disk, &sectors, &in_flight, error);

	if (err < 0)
		return err;
	ret->block_bytes = sectors * SECTOR_BYTES;
	err = attribute_read_u64(error, &ret->written_bytes, CONFIGFS "/%s/write_bytes",
				 disk->name);
	return err == -ENOENT ? error_errno(error, err, "cannot read the disk's own account of %s",
					    disk->name) :
				err;
}
