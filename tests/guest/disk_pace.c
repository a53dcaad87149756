// SPDX-License-Identifier: GPL-2.0-or-later
/* When requests end: rates, order, latency, in virtual time. */
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "disk_rig.h"
#include "disk_test.h"
#include "tap.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* From the timer's interrupt to the test: see disk_test.c. */
#define SEEN_NS (150 * US)

#define SPAN (64 * MIB)

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ceil(units * 10^9 / rate): when a meter that began at 0 is through. */
static uint64_t exact_ns(uint64_t units, uint64_t rate)
{
	return (uint64_t)(((unsigned __int128)units * SECOND + rate - 1) / rate);
}

/*
 * The whole load, with the time that it took to begin, is not a nanosecond faster than its cap. While one request is
 * sent for each that ends, the rate is the cap within 0.1 %. `units` are those of the whole load.
 */
static void check_rate(const char *what, const struct load *load, uint64_t units, uint64_t rate)
{
	uint64_t whole = load->end_ns - load->begin_ns, steady = load->end_ns - load->warm_ns;
	double expected = (double)exact_ns(units, rate) * (load->count - load->depth) / load->count;
	double off = (double)steady / expected - 1;

	tap_note("%s: %+.4f %% of the time at the cap", what, off * 100);
	CHECK(whole >= exact_ns(units, rate), "%s: faster than the cap, %llu ns", what,
	      (unsigned long long)whole);
	CHECK(off > -0.001 && off < 0.001, "%s: not at the cap", what);
}

static void run_rates(uint64_t bytes, uint64_t bps, bool write, const char *what)
{
	struct disk_spec spec = { .size = SPAN };
	struct load load = { .write = write, .bytes = bytes, .span = SPAN };
	int ret;

	/* The other class's cap must not matter. */
	spec.write_bps = write ? bps : bps / 16;
	spec.read_bps = write ? bps / 16 : bps;
	ret = disk_make("dt0", &spec);
	NEED(!ret, "making it: %d", ret);
	load.fd = disk_open("dt0", O_RDWR | O_DIRECT);
	load.count = 100 * MIB / bytes;
	load.depth = bytes < MIB ? 256 : 16;
	ret = load_run(&load, 1);
	if (CHECK(!ret, "%s: %d", what, ret))
		check_rate(what, &load, bytes * load.count, bps);
	/* The timer's interrupt, with what holds it up. A copy of this size is done long before. */
	CHECK(disk_get("dt0", "late_max_ns") < SEEN_NS, "%s: ended %llu ns after it was due", what,
	      (unsigned long long)disk_get("dt0", "late_max_ns"));
	tap_note("%s: ended at most %llu ns after they were due, ran dry %llu times", what,
		 (unsigned long long)disk_get("dt0", "late_max_ns"),
		 (unsigned long long)disk_get("dt0", "drained") - 1);
	close(load.fd);
	disk_rmdir("dt0");
}

static void rate_of_writes(void)
{
	run_rates(4 * KIB, 50 * MIB, true, "4 KiB writes at 50 MiB/s");
	run_rates(128 * KIB, 200 * MIB, true, "128 KiB writes at 200 MiB/s");
	run_rates(1 * MIB, 200 * MIB, true, "1 MiB writes at 200 MiB/s");
	run_rates(132 * KIB, 77777777, true, "132 KiB writes at 77777777 B/s");
}

static void rate_of_reads(void)
{
	run_rates(4 * KIB, 50 * MIB, false, "4 KiB reads at 50 MiB/s");
	run_rates(128 * KIB, 200 * MIB, false, "128 KiB reads at 200 MiB/s");
	run_rates(1 * MIB, 200 * MIB, false, "1 MiB reads at 200 MiB/s");
	run_rates(132 * KIB, 77777777, false, "132 KiB reads at 77777777 B/s");
}

/*
 * Both at once, each at its own cap: no more than the guest's processor can submit in 4 KiB requests while they are
 * traced.
 */
static void rates_of_a_mix(void)
{
	static const uint64_t sizes[] = { 4 * KIB, 128 * KIB, MIB };
	struct disk_spec spec = { .size = SPAN, .write_bps = 20 * MIB, .read_bps = 30 * MIB };
	int ret = disk_make("dt0", &spec), fd;

	NEED(!ret, "making it: %d", ret);
	fd = disk_open("dt0", O_RDWR | O_DIRECT);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct load loads[] = {
			{ .write = true, .bytes = sizes[i], .count = 20 * MIB / sizes[i] },
			{ .write = false, .bytes = sizes[i], .count = 30 * MIB / sizes[i] },
		};
		for (size_t j = 0; j < ARRAY_SIZE(loads); j++) {
			loads[j].fd = fd;
			loads[j].span = SPAN;
			/* So many that the guest may look away for 50 ms, to read its trace for one. */
			loads[j].depth = sizes[i] < 128 * KIB ? 256 : 16;
		}
		ret = load_run(loads, 2);
		NEED(!ret, "load: %d", ret);
		check_rate("writes of a mix", &loads[0], 20 * MIB, 20 * MIB);
		check_rate("reads of a mix", &loads[1], 30 * MIB, 30 * MIB);
	}
	close(fd);
	disk_rmdir("dt0");
}

/* The IOPS cap counts reads and writes together, whatever their size. */
static void iops_are_shared(void)
{
	struct disk_spec spec = { .size = SPAN, .iops = 1009 };
	struct load loads[] = {
		{ .write = true, .bytes = 4 * KIB, .count = 600, .span = SPAN, .depth = 16 },
		{ .write = false, .bytes = 64 * KIB, .count = 600, .span = SPAN, .depth = 16 },
	};
	struct load both;
	int ret = disk_make("dt0", &spec);

	NEED(!ret, "making it: %d", ret);
	loads[0].fd = loads[1].fd = disk_open("dt0", O_RDWR | O_DIRECT);
	ret = load_run(loads, 2);
	NEED(!ret, "load: %d", ret);
	both = loads[0];
	both.count = loads[0].count + loads[1].count;
	both.depth = loads[0].depth + loads[1].depth;
	both.warm_ns = later(loads[0].warm_ns, loads[1].warm_ns);
	both.end_ns = later(loads[0].end_ns, loads[1].end_ns);
	check_rate("1200 requests at 1009 IOPS", &both, 1200, 1009);
	close(loads[0].fd);
	disk_rmdir("dt0");
}

/* The one that is lower counts. */
static void iops_and_bytes_together(void)
{
	struct disk_spec spec = { .size = SPAN, .iops = 2000, .write_bps = 50 * MIB };
	struct load small = {
		.write = true, .bytes = 4 * KIB, .count = 1000, .span = SPAN, .depth = 8
	};
	struct load large = { .write = true, .bytes = MIB, .count = 25, .span = SPAN, .depth = 8 };
	int ret = disk_make("dt0", &spec);

	NEED(!ret, "making it: %d", ret);
	small.fd = large.fd = disk_open("dt0", O_RDWR | O_DIRECT);
	ret = load_run(&small, 1);
	NEED(!ret, "load: %d", ret);
	check_rate("small requests, held by IOPS", &small, 1000, 2000);
	ret = load_run(&large, 1);
	NEED(!ret, "load: %d", ret);
	check_rate("large requests, held by bytes", &large, 25 * MIB, 50 * MIB);
	close(small.fd);
	disk_rmdir("dt0");
}

/* Two disks at once, each at its own speed. */
static void disks_are_independent(void)
{
	struct disk_spec first = { .size = SPAN, .write_bps = 50 * MIB };
	struct disk_spec second = { .base = SPAN, .size = SPAN, .write_bps = 100 * MIB };
	struct load loads[] = {
		{ .write = true, .bytes = 128 * KIB, .count = 400, .span = SPAN, .depth = 16 },
		{ .write = true, .bytes = 128 * KIB, .count = 800, .span = SPAN, .depth = 16 },
	};
	int ret = disk_make("dt0", &first);

	NEED(!ret, "making the first: %d", ret);
	ret = disk_make("dt1", &second);
	NEED(!ret, "making the second: %d", ret);
	loads[0].fd = disk_open("dt0", O_RDWR | O_DIRECT);
	loads[1].fd = disk_open("dt1", O_RDWR | O_DIRECT);
	ret = load_run(loads, 2);
	NEED(!ret, "load: %d", ret);
	check_rate("the slower disk", &loads[0], 50 * MIB, 50 * MIB);
	check_rate("the faster disk", &loads[1], 100 * MIB, 100 * MIB);
	CHECK(disk_get("dt0", "write_bytes") == 50 * MIB, "the slower disk's account");
	CHECK(disk_get("dt1", "write_bytes") == 100 * MIB, "the faster disk's account");
	close(loads[0].fd);
	close(loads[1].fd);
	disk_rmdir("dt0");
	disk_rmdir("dt1");
}

#define BATCH 64

/* Sizes, places and classes of no order. */
static void make_batch(struct io *ios, int fd, char *data)
{
	for (int i = 0; i < BATCH; i++) {
		uint64_t bytes = BLOCK * (1 + rig_random() % 16);

		ios[i] = (struct io){
			.fd = fd,
			.write = rig_random() % 2,
			.bytes = bytes,
			.pos = rig_random() % ((SPAN - bytes) / BLOCK) * BLOCK,
			.data = data + i * 16 * BLOCK,
		};
	}
}

static void check_order(const struct io *ios, const char *what)
{
	int last[2] = { -1, -1 };

	for (int i = 0; i < BATCH; i++) {
		CHECK(ios[i].result == (long)ios[i].bytes, "%s: %d failed: %ld", what, i,
		      ios[i].result);
		CHECK(ios[i].order > last[ios[i].write], "%s: %s %d overtook one before it", what,
		      ios[i].write ? "write" : "read", i);
		last[ios[i].write] = ios[i].order;
	}
}

/* Submit a batch in calls of `step` and look at the order of the events. */
static void run_order(const struct disk_spec *spec, const char *what)
{
	static const int steps[] = { 1, 2, 3, 16, BATCH };
	char *data = rig_alloc(BATCH * 16 * BLOCK);
	struct io ios[BATCH];
	int ret = disk_make("dt0", spec), fd;

	NEED(!ret, "making it: %d", ret);
	fd = disk_open("dt0", O_RDWR | O_DIRECT);
	for (size_t s = 0; s < ARRAY_SIZE(steps); s++) {
		make_batch(ios, fd, data);
		io_reset_order();
		for (int i = 0; i < BATCH && !ret; i += steps[s])
			ret = io_start(ios + i, i + steps[s] > BATCH ? BATCH - i : steps[s]);
		NEED(!ret, "submit: %d", ret);
		NEED(io_wait(BATCH, 60 * SECOND) == BATCH, "%s: not all ended", what);
		check_order(ios, what);
	}
	close(fd);
	free(data);
	disk_rmdir("dt0");
}

static void order_is_strict(void)
{
	static const struct disk_spec bytes = { .size = SPAN,
						.write_bps = 33333333,
						.read_bps = 77777777 };
	static const struct disk_spec iops = { .size = SPAN, .iops = 5003, .latency_ns = 70 * US };
	static const struct disk_spec latency = { .size = SPAN, .latency_ns = 20 * MS };
	static const struct disk_spec shallow = { .size = SPAN, .latency_ns = MS, .depth = 8 };
	static const struct disk_spec nothing = { .size = SPAN };

	run_order(&bytes, "with caps");
	run_order(&iops, "with IOPS");
	run_order(&latency, "with latency");
	/* Who submits more than fits waits in the middle of it. */
	run_order(&shallow, "with a depth of 8");
	run_order(&nothing, "without caps");
}

/* How long one request takes, alone. */
static uint64_t time_one(int fd, bool write, uint64_t bytes, void *data)
{
	struct io io = { .fd = fd, .write = write, .bytes = bytes, .data = data };
	uint64_t begin = rig_now();

	if (io_start(&io, 1) || io_wait(1, 60 * SECOND) != 1 || io.result != (long)bytes)
		return UINT64_MAX;
	return io.end_ns - begin;
}

/* Pinning and unpinning the pages of a request takes its time too. */
static void check_time(const char *what, uint64_t took, uint64_t exact, uint64_t bytes)
{
	uint64_t seen_ns = SEEN_NS + bytes / BLOCK * 2 * US;

	tap_note("%s: %llu ns, exactly %llu", what, (unsigned long long)took,
		 (unsigned long long)exact);
	CHECK(took >= exact, "%s: early", what);
	CHECK(took <= exact + seen_ns, "%s: late", what);
}

static void latency_is_a_floor(void)
{
	struct disk_spec spec = { .size = SPAN, .write_bps = 100 * MIB, .latency_ns = 3 * MS };
	char *data = rig_alloc(MIB);
	uint64_t range[2] = { 0, SPAN }, begin;
	int ret = disk_make("dt0", &spec), fd;

	NEED(!ret, "making it: %d", ret);
	fd = disk_open("dt0", O_RDWR | O_DIRECT);
	check_time("4 KiB read", time_one(fd, false, BLOCK, data), 3 * MS, BLOCK);
	check_time("4 KiB write", time_one(fd, true, BLOCK, data), 3 * MS, BLOCK);
	check_time("1 MiB read, uncapped", time_one(fd, false, MIB, data), 3 * MS, MIB);
	check_time("1 MiB write, longer than the latency", time_one(fd, true, MIB, data), 10 * MS,
		   MIB);
	begin = rig_now();
	CHECK(!ioctl(fd, BLKDISCARD, range), "discard");
	check_time("discard of everything", rig_now() - begin, 3 * MS, 0);
	begin = rig_now();
	CHECK(!ioctl(fd, BLKZEROOUT, range), "zeroout");
	check_time("zeroout of everything", rig_now() - begin, 3 * MS, 0);

	/* Changed while powered. */
	CHECK(!disk_set("dt0", "latency_ns", 50 * US), "lower the latency");
	check_time("4 KiB read at 50 us", time_one(fd, false, BLOCK, data), 50 * US, BLOCK);
	CHECK(!disk_set("dt0", "latency_ns", 200 * MS), "raise the latency");
	check_time("4 KiB read at 200 ms", time_one(fd, false, BLOCK, data), 200 * MS, BLOCK);
	close(fd);
	free(data);
	disk_rmdir("dt0");
}

/* Latency is not a cap: requests spend it side by side. */
static void latency_is_shared(void)
{
	struct disk_spec spec = { .size = SPAN, .latency_ns = 50 * MS };
	struct load load = { .bytes = BLOCK, .count = 64, .span = SPAN, .depth = 64 };
	int ret = disk_make("dt0", &spec);

	NEED(!ret, "making it: %d", ret);
	load.fd = disk_open("dt0", O_RDWR | O_DIRECT);
	ret = load_run(&load, 1);
	NEED(!ret, "load: %d", ret);
	CHECK(load.end_ns - load.begin_ns >= 50 * MS, "early");
	CHECK(load.end_ns - load.begin_ns < 55 * MS, "one after another: %llu ns",
	      (unsigned long long)(load.end_ns - load.begin_ns));
	close(load.fd);
	disk_rmdir("dt0");
}

static void caps_change_while_powered(void)
{
	struct disk_spec spec = { .size = SPAN, .write_bps = 50 * MIB };
	struct load load = {
		.write = true, .bytes = 128 * KIB, .count = 200, .span = SPAN, .depth = 16
	};
	int ret = disk_make("dt0", &spec);

	NEED(!ret, "making it: %d", ret);
	load.fd = disk_open("dt0", O_RDWR | O_DIRECT);
	ret = load_run(&load, 1);
	NEED(!ret, "load: %d", ret);
	check_rate("at 50 MiB/s", &load, 25 * MIB, 50 * MIB);
	CHECK(!disk_set("dt0", "write_bps", 25 * MIB), "halve the cap");
	ret = load_run(&load, 1);
	NEED(!ret, "load: %d", ret);
	check_rate("at 25 MiB/s", &load, 25 * MIB, 25 * MIB);
	CHECK(!disk_set("dt0", "write_bps", 0), "lift the cap");
	ret = load_run(&load, 1);
	NEED(!ret, "load: %d", ret);
	CHECK(load.end_ns - load.begin_ns < SECOND / 4, "still capped: %llu ns",
	      (unsigned long long)(load.end_ns - load.begin_ns));
	close(load.fd);
	disk_rmdir("dt0");
}

/* Whatever scheduler the kernel offers, the cap is the cap. */
static void schedulers_change_no_rate(void)
{
	struct disk_spec spec = { .size = SPAN, .write_bps = 50 * MIB };
	struct load load = {
		.write = true, .bytes = 128 * KIB, .count = 200, .span = SPAN, .depth = 16
	};
	char offered[128], *name, *rest = offered;
	int ret = disk_make("dt0", &spec);

	NEED(!ret, "making it: %d", ret);
	NEED(!block_read("dt0", "queue/scheduler", offered, sizeof(offered)), "scheduler");
	load.fd = disk_open("dt0", O_RDWR | O_DIRECT);
	while ((name = strtok_r(rest, "[] \n", &rest))) {
		ret = block_write("dt0", "queue/scheduler", name);
		CHECK(!ret, "set %s: %d", name, ret);
		ret = load_run(&load, 1);
		NEED(!ret, "load: %d", ret);
		check_rate(name, &load, 25 * MIB, 50 * MIB);
	}
	close(load.fd);
	disk_rmdir("dt0");
}

/* A disk that did nothing for a while is no faster afterwards. */
static void idle_time_earns_nothing(void)
{
	struct disk_spec spec = { .size = SPAN, .write_bps = 50 * MIB };
	struct load load = {
		.write = true, .bytes = 128 * KIB, .count = 200, .span = SPAN, .depth = 16
	};
	int ret = disk_make("dt0", &spec);

	NEED(!ret, "making it: %d", ret);
	load.fd = disk_open("dt0", O_RDWR | O_DIRECT);
	usleep(1500000);
	ret = load_run(&load, 1);
	NEED(!ret, "load: %d", ret);
	check_rate("after a pause", &load, 25 * MIB, 50 * MIB);
	close(load.fd);
	disk_rmdir("dt0");
}

/* One system call for two disks. */
static void order_is_strict_on_two(void)
{
	struct disk_spec first = { .size = SPAN, .write_bps = 33333333, .latency_ns = 70 * US };
	struct disk_spec second = { .base = SPAN, .size = SPAN, .read_bps = 77777777 };
	char *data = rig_alloc(BATCH * 16 * BLOCK);
	struct io ios[BATCH];
	int ret, fds[2], last[2][2] = { { -1, -1 }, { -1, -1 } };

	ret = disk_make("dt0", &first);
	NEED(!ret, "making the first: %d", ret);
	ret = disk_make("dt1", &second);
	NEED(!ret, "making the second: %d", ret);
	fds[0] = disk_open("dt0", O_RDWR | O_DIRECT);
	fds[1] = disk_open("dt1", O_RDWR | O_DIRECT);
	make_batch(ios, fds[0], data);
	for (int i = 0; i < BATCH; i++)
		ios[i].fd = fds[i / 3 % 2];
	io_reset_order();
	ret = io_start(ios, BATCH);
	NEED(!ret, "submit: %d", ret);
	NEED(io_wait(BATCH, 60 * SECOND) == BATCH, "not all ended");
	for (int i = 0; i < BATCH; i++) {
		int *before = &last[ios[i].fd == fds[1]][ios[i].write];

		CHECK(ios[i].order > *before, "%d overtook one before it", i);
		*before = ios[i].order;
	}
	close(fds[0]);
	close(fds[1]);
	free(data);
	disk_rmdir("dt0");
	disk_rmdir("dt1");
}

void disk_pace_cases(void)
{
	tap_case("writes go at their cap within 0.1 %", rate_of_writes);
	tap_case("reads go at their cap within 0.1 %", rate_of_reads);
	tap_case("reads and writes at once go at their own caps", rates_of_a_mix);
	tap_case("the IOPS cap is shared by reads and writes", iops_are_shared);
	tap_case("of an IOPS cap and a byte cap the lower counts", iops_and_bytes_together);
	tap_case("disks are independent", disks_are_independent);
	tap_case("within a class requests end in the order of submission", order_is_strict);
	tap_case("also when one call submits to two disks", order_is_strict_on_two);
	tap_case("latency is a floor, and exact", latency_is_a_floor);
	tap_case("latency is spent side by side", latency_is_shared);
	tap_case("caps change while powered", caps_change_while_powered);
	tap_case("schedulers change no rate", schedulers_change_no_rate);
	tap_case("idle time earns no burst", idle_time_earns_nothing);
}
