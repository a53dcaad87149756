// SPDX-License-Identifier: GPL-2.0-or-later
#include "writes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SECTORS 8u
#define TRIGGERS_MAX 64
#define NAME_BYTES 32

/* The triggers that are not a reason of the kernel's; reasons come behind, as they are met. */
enum trigger {
	TRIGGER_UNKNOWN,
	TRIGGER_DIRECT,
	TRIGGER_FSYNC,
	TRIGGER_SYNC,
	TRIGGER_JOURNAL,
	TRIGGER_CHECKPOINT,
	TRIGGER_MAPPING_FLUSH,
	TRIGGER_RECLAIM,
	TRIGGER_THROTTLED,
	TRIGGER_OTHER,
	TRIGGER_REASONS
};

static const char *const trigger_names[TRIGGER_REASONS] = {
	[TRIGGER_UNKNOWN] = "unknown",
	[TRIGGER_DIRECT] = "direct",
	[TRIGGER_FSYNC] = "fsync",
	[TRIGGER_SYNC] = "sync",
	[TRIGGER_JOURNAL] = "journal",
	[TRIGGER_CHECKPOINT] = "checkpoint",
	[TRIGGER_MAPPING_FLUSH] = "mapping_flush",
	[TRIGGER_RECLAIM] = "reclaim",
	[TRIGGER_THROTTLED] = "throttled",
	[TRIGGER_OTHER] = "other",
};

struct task {
	uint8_t reason; /* a trigger; 0: none is open */
	uint8_t work;
	bool in_fsync;
};

struct disk_writes {
	uint32_t dev;
	uint64_t n_blocks;
	uint8_t *submitted; /* the trigger of the last submission, by block */
	uint64_t sectors[TRIGGERS_MAX];
};

struct file_writes {
	uint32_t dev;
	const struct extents *extents;
	uint64_t sectors[TRIGGERS_MAX];
};

struct writes {
	char names[TRIGGERS_MAX][NAME_BYTES];
	unsigned int n_triggers;
	struct task *tasks; /* by pid */
	size_t n_tasks;
	struct disk_writes *disks;
	size_t n_disks;
	struct file_writes *files;
	size_t n_files;
};

struct writes *writes_new(void)
{
	struct writes *writes = calloc(1, sizeof(*writes));
	unsigned int i;

	if (!writes)
		return NULL;
	for (i = 0; i < TRIGGER_REASONS; i++)
		strcpy(writes->names[i], trigger_names[i]);
	writes->n_triggers = TRIGGER_REASONS;
	return writes;
}

struct writes *writes_free(struct writes *writes)
{
	size_t i;

	if (!writes)
		return NULL;
	for (i = 0; i < writes->n_disks; i++)
		free(writes->disks[i].submitted);
	free(writes->disks);
	free(writes->files);
	free(writes->tasks);
	free(writes);
	return NULL;
}

int writes_disk_add(struct writes *writes, uint32_t dev, uint64_t size_bytes)
{
	struct disk_writes *disks, *disk;

	disks = realloc(writes->disks, (writes->n_disks + 1) * sizeof(*disks));
	if (!disks)
		return -ENOMEM;
	writes->disks = disks;
	disk = &disks[writes->n_disks];
	memset(disk, 0, sizeof(*disk));
	disk->dev = dev;
	disk->n_blocks = size_bytes / (BLOCK_SECTORS * SECTOR_BYTES) + 1;
	disk->submitted = calloc(disk->n_blocks, 1);
	if (!disk->submitted)
		return -ENOMEM;
	writes->n_disks++;
	return 0;
}

int writes_file_add(struct writes *writes, uint32_t dev, const struct extents *extents)
{
	struct file_writes *files;

	files = realloc(writes->files, (writes->n_files + 1) * sizeof(*files));
	if (!files)
		return -ENOMEM;
	writes->files = files;
	memset(&files[writes->n_files], 0, sizeof(*files));
	files[writes->n_files].dev = dev;
	files[writes->n_files].extents = extents;
	return writes->n_files++;
}

/* A task that was not heard of before is in the middle of nothing. NULL: no memory. */
static struct task *task_of(struct writes *writes, int pid)
{
	size_t n = (size_t)pid + 1;

	if (n > writes->n_tasks) {
		size_t size = n < 4096 ? 4096 : 2 * n;
		struct task *tasks = realloc(writes->tasks, size * sizeof(*tasks));

		if (!tasks)
			return NULL;
		memset(tasks + writes->n_tasks, 0, (size - writes->n_tasks) * sizeof(*tasks));
		writes->tasks = tasks;
		writes->n_tasks = size;
	}
	return &writes->tasks[pid];
}

static unsigned int trigger_of_reason(struct writes *writes, const char *reason)
{
	unsigned int i;

	/* A reason of the same name as one of ours is the same thing seen from elsewhere: sync. */
	for (i = TRIGGER_UNKNOWN + 1; i < writes->n_triggers; i++) {
		if (!strncmp(writes->names[i], reason, NAME_BYTES - 1))
			return i;
	}
	if (i == TRIGGERS_MAX)
		return TRIGGER_OTHER;
	strncpy(writes->names[i], reason, NAME_BYTES - 1);
	writes->n_triggers++;
	return i;
}

int writes_reason_begin(struct writes *writes, int pid, const char *reason)
{
	struct task *task = task_of(writes, pid);

	if (!task)
		return -ENOMEM;
	task->reason = trigger_of_reason(writes, reason);
	return 0;
}

void writes_reason_end(struct writes *writes, int pid)
{
	if ((size_t)pid < writes->n_tasks)
		writes->tasks[pid].reason = 0;
}

int writes_work_begin(struct writes *writes, int pid, enum work work)
{
	struct task *task = task_of(writes, pid);

	if (!task)
		return -ENOMEM;
	task->work = work;
	return 0;
}

void writes_work_end(struct writes *writes, int pid)
{
	if ((size_t)pid < writes->n_tasks)
		writes->tasks[pid].work = WORK_NONE;
}

int writes_fsync_begin(struct writes *writes, int pid)
{
	struct task *task = task_of(writes, pid);

	if (!task)
		return -ENOMEM;
	task->in_fsync = true;
	return 0;
}

void writes_fsync_end(struct writes *writes, int pid)
{
	if ((size_t)pid < writes->n_tasks)
		writes->tasks[pid].in_fsync = false;
}

/* "W", "WS", "WSM", "FWFS": F before or behind W is a flush or FUA; D, DE and R are something else. */
static bool is_write(const char *rwbs)
{
	return rwbs[rwbs[0] == 'F'] == 'W';
}

static bool starts_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static enum trigger trigger_of_kernel(const struct task *task, const char *comm)
{
	if (task->work == WORK_MAPPING)
		return TRIGGER_MAPPING_FLUSH;
	if (task->work == WORK_THROTTLE)
		return TRIGGER_THROTTLED;
	if (starts_with(comm, "jbd2/"))
		return TRIGGER_JOURNAL;
	if (starts_with(comm, "kswapd"))
		return TRIGGER_RECLAIM;
	return TRIGGER_OTHER;
}

static bool is_kernel_thread(const char *comm)
{
	return starts_with(comm, "kworker/") || starts_with(comm, "jbd2/") ||
	       starts_with(comm, "kswapd");
}

static unsigned int trigger_of(const struct task *task, int pid, const char *comm, const char *rwbs)
{
	if (task->reason)
		return task->reason;
	if (is_kernel_thread(comm))
		return trigger_of_kernel(task, comm);
	if (pid == 1)
		return TRIGGER_SYNC; /* the guest writes nothing but by its final sync */
	if (task->in_fsync)
		return TRIGGER_FSYNC;
	/* A task has no other cause to write metadata itself than that the journal wants room. */
	if (strchr(rwbs, 'M'))
		return TRIGGER_CHECKPOINT;
	return strchr(rwbs, 'S') ? TRIGGER_DIRECT : TRIGGER_OTHER;
}

static struct disk_writes *disk_of(const struct writes *writes, uint32_t dev)
{
	size_t i;

	for (i = 0; i < writes->n_disks; i++) {
		if (writes->disks[i].dev == dev)
			return &writes->disks[i];
	}
	return NULL;
}

int writes_submit(struct writes *writes, int pid, const char *comm, uint32_t dev, uint64_t sector,
		  uint32_t n_sectors, const char *rwbs)
{
	struct disk_writes *disk = disk_of(writes, dev);
	uint64_t block = sector / BLOCK_SECTORS, end;
	struct task *task;

	if (!disk || !n_sectors || !is_write(rwbs))
		return 0;
	task = task_of(writes, pid);
	if (!task)
		return -ENOMEM;
	end = (sector + n_sectors - 1) / BLOCK_SECTORS + 1;
	if (end > disk->n_blocks)
		end = disk->n_blocks;
	if (block < end)
		memset(disk->submitted + block, trigger_of(task, pid, comm, rwbs), end - block);
	return 0;
}

static void files_count(struct writes *writes, uint32_t dev, uint64_t sector, uint64_t n_sectors,
			unsigned int trigger)
{
	size_t i;

	for (i = 0; i < writes->n_files; i++) {
		struct file_writes *file = &writes->files[i];

		if (file->dev == dev)
			file->sectors[trigger] += extents_overlap(file->extents, sector, n_sectors);
	}
}

void writes_complete(struct writes *writes, uint32_t dev, uint64_t sector, uint32_t n_sectors,
		     const char *rwbs)
{
	struct disk_writes *disk = disk_of(writes, dev);
	uint64_t end = sector + n_sectors;

	if (!disk || !n_sectors || !is_write(rwbs))
		return;
	/* In runs of blocks that were submitted for the same trigger: bios may have been merged. */
	while (sector < end) {
		uint64_t block = sector / BLOCK_SECTORS, run = sector, n;
		unsigned int trigger = TRIGGER_UNKNOWN;

		if (block < disk->n_blocks)
			trigger = disk->submitted[block];
		while (run < end &&
		       (block < disk->n_blocks ? disk->submitted[block] : 0u) == trigger) {
			block++;
			run = block * BLOCK_SECTORS;
		}
		n = (run < end ? run : end) - sector;
		disk->sectors[trigger] += n;
		files_count(writes, dev, sector, n, trigger);
		sector += n;
	}
}

const char *writes_trigger_name(const struct writes *writes, unsigned int trigger)
{
	return trigger < writes->n_triggers ? writes->names[trigger] : NULL;
}

uint64_t writes_disk_bytes(const struct writes *writes, uint32_t dev, unsigned int trigger)
{
	const struct disk_writes *disk = disk_of(writes, dev);

	return disk && trigger < TRIGGERS_MAX ? disk->sectors[trigger] * SECTOR_BYTES : 0;
}

uint64_t writes_file_bytes(const struct writes *writes, int file, unsigned int trigger)
{
	if (file < 0 || (size_t)file >= writes->n_files || trigger >= TRIGGERS_MAX)
		return 0;
	return writes->files[file].sectors[trigger] * SECTOR_BYTES;
}
