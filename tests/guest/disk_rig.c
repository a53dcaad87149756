// SPDX-License-Identifier: GPL-2.0-or-later
#include "disk_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CONFIGFS "/sys/kernel/config/cgwb_disk"
#define EVENTS_MAX 1024

uint64_t rig_base, rig_size;

static aio_context_t aio;
static int events_seen;

uint64_t rig_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t written;
	int ret = 0;

	if (fd < 0)
		return -errno;
	written = write(fd, text, strlen(text));
	if (written < 0)
		ret = -errno;
	else if ((size_t)written != strlen(text))
		ret = -EIO;
	close(fd);
	return ret;
}

static int read_file(const char *path, char *text, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;
	int ret = 0;

	if (fd < 0)
		return -errno;
	got = read(fd, text, bytes - 1);
	if (got < 0)
		ret = -errno;
	else
		text[got] = '\0';
	close(fd);
	return ret;
}

int disk_write(const char *name, const char *attribute, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), CONFIGFS "/%s/%s", name, attribute);
	return write_file(path, text);
}

int disk_set(const char *name, const char *attribute, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)value);
	return disk_write(name, attribute, text);
}

uint64_t disk_get(const char *name, const char *attribute)
{
	char path[256], text[64];

	snprintf(path, sizeof(path), CONFIGFS "/%s/%s", name, attribute);
	if (read_file(path, text, sizeof(text)))
		return UINT64_MAX;
	return strtoull(text, NULL, 10);
}

int disk_mkdir(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), CONFIGFS "/%s", name);
	return mkdir(path, 0755) ? -errno : 0;
}

int disk_rmdir(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), CONFIGFS "/%s", name);
	return rmdir(path) ? -errno : 0;
}

int disk_make(const char *name, const struct disk_spec *spec)
{
	const struct {
		const char *attribute;
		uint64_t value;
	} settings[] = {
		{ "base_bytes", rig_base + spec->base },
		{ "size_bytes", spec->size },
		{ "write_bps", spec->write_bps },
		{ "read_bps", spec->read_bps },
		{ "iops", spec->iops },
		{ "latency_ns", spec->latency_ns },
		{ "depth", spec->depth ? spec->depth : 1023 },
		{ "power", 1 },
	};
	int ret = disk_mkdir(name);

	for (size_t i = 0; !ret && i < sizeof(settings) / sizeof(settings[0]); i++)
		ret = disk_set(name, settings[i].attribute, settings[i].value);
	return ret ? ret : block_write(name, "queue/nomerges", "2");
}

int disk_open(const char *name, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/%s", name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int block_write(const char *name, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/block/%s/%s", name, file);
	return write_file(path, text);
}

int block_read(const char *name, const char *file, char *text, size_t bytes)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/block/%s/%s", name, file);
	return read_file(path, text, bytes);
}

void *rig_alloc(uint64_t bytes)
{
	void *memory;

	if (posix_memalign(&memory, BLOCK, bytes)) {
		printf("Bail out! no memory\n");
		exit(EXIT_FAILURE);
	}
	memset(memory, 0, bytes);
	return memory;
}

uint64_t rig_random(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

int io_start(struct io *ios, int n)
{
	static struct iocb iocbs[EVENTS_MAX];
	static struct iocb *pointers[EVENTS_MAX];
	long ret;

	if (n > EVENTS_MAX)
		return -EINVAL;
	if (!aio && syscall(SYS_io_setup, EVENTS_MAX, &aio))
		return -errno;
	for (int i = 0; i < n; i++) {
		iocbs[i] = (struct iocb){
			.aio_data = (uintptr_t)&ios[i],
			.aio_fildes = ios[i].fd,
			.aio_lio_opcode = ios[i].write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
			.aio_buf = (uintptr_t)ios[i].data,
			.aio_nbytes = ios[i].bytes,
			.aio_offset = ios[i].pos,
		};
		pointers[i] = &iocbs[i];
	}
	ret = syscall(SYS_io_submit, aio, n, pointers);
	if (ret < 0)
		return -errno;
	return ret == n ? 0 : -EIO;
}

/* One round of events. Returns how many, or a negative errno; *ret_ios are theirs. */
static int get_events(int min, struct io **ret_ios, int max, uint64_t timeout_ns)
{
	struct timespec timeout = { timeout_ns / SECOND, timeout_ns % SECOND };
	static struct io_event events[EVENTS_MAX];
	long n;

	n = syscall(SYS_io_getevents, aio, min, max, events, &timeout);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		struct io *io = (struct io *)(uintptr_t)events[i].data;

		io->result = (long)events[i].res;
		io->end_ns = rig_now();
		io->order = events_seen++;
		ret_ios[i] = io;
	}
	return n;
}

int io_wait(int n, uint64_t timeout_ns)
{
	struct io *ios[EVENTS_MAX];
	int ret, seen = 0;

	while (seen < n) {
		ret = get_events(n - seen, ios, n - seen, timeout_ns);
		if (ret <= 0)
			break;
		seen += ret;
	}
	return seen;
}

void io_reset_order(void)
{
	events_seen = 0;
}

/* Positions that jump about in the span, so that no two requests are neighbours. */
static uint64_t load_pos(const struct load *load, int i)
{
	uint64_t places = load->span / load->bytes;

	return (uint64_t)i * 7 % places * load->bytes;
}

static void prepare_io(struct load *load, struct io *io)
{
	io->fd = load->fd;
	io->write = load->write;
	io->bytes = load->bytes;
	io->pos = load_pos(load, load->started++);
}

static int load_begin(struct load *load)
{
	char *data = rig_alloc(load->bytes * load->depth);

	load->ios = calloc(load->depth, sizeof(*load->ios));
	load->started = 0;
	load->ended = 0;
	for (int i = 0; i < load->depth; i++) {
		load->ios[i].data = data + i * load->bytes;
		prepare_io(load, &load->ios[i]);
	}
	load->begin_ns = rig_now();
	return io_start(load->ios, load->depth);
}

static struct load *load_of(struct load *loads, int n, const struct io *io)
{
	for (int i = 0; i < n; i++)
		if (io >= loads[i].ios && io < loads[i].ios + loads[i].depth)
			return &loads[i];
	abort();
}

/* A request of a load has ended: send the next in its place. */
static int load_next(struct load *load, struct io *io)
{
	if (io->result != (long)load->bytes)
		return io->result < 0 ? io->result : -EIO;
	load->ended++;
	load->end_ns = io->end_ns;
	if (load->ended == load->depth)
		load->warm_ns = io->end_ns;
	if (load->started == load->count)
		return 0;
	prepare_io(load, io);
	return io_start(io, 1);
}

int load_run(struct load *loads, int n)
{
	struct io *ios[EVENTS_MAX];
	int ret = 0, left = 0, got;

	for (int i = 0; i < n && !ret; i++) {
		left += loads[i].count;
		ret = load_begin(&loads[i]);
	}
	while (left && !ret) {
		got = get_events(1, ios, EVENTS_MAX, 600 * SECOND);
		if (got <= 0)
			ret = got ? got : -ETIMEDOUT;
		for (int i = 0; i < got && !ret; i++, left--)
			ret = load_next(load_of(loads, n, ios[i]), ios[i]);
	}
	for (int i = 0; i < n; i++) {
		free(loads[i].ios[0].data);
		free(loads[i].ios);
	}
	return ret;
}
