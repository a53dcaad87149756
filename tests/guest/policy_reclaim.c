// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reclaim_scope: whose wbs the reclaim of a memcg starts.
 *
 * Cgroups have dirty pages and nothing else, so that reclaim meets nothing else; whoever writes
 * memory.reclaim begins it, and is in none of them. Dirty limits are far away and periodic writeback is off:
 * what is started with reason vmscan is started by reclaim. The kernel's tracepoint says whose wb it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk_rig.h"
#include "policy_rig.h"
#include "policy_test.h"
#include "tap.h"

#define FUNCTION "/sys/kernel/livepatch/cgwb/vmlinux/wakeup_flusher_threads,1"
#define STARTED "/sys/kernel/tracing/events/writeback/writeback_start"
#define WOKEN "/sys/kernel/tracing/events/cgwb/reclaim_wake"
/* Pages of a cgroup that is to be reclaimed, and what is asked for: less than it has. */
#define PAGES 4096
#define BYTES "8388608"

static const struct {
	const char *path, *text;
} quiet[] = {
	{ PERIODIC, NEVER },
	{ "/proc/sys/vm/dirty_ratio", "90" },
	{ "/proc/sys/vm/dirty_background_ratio", "80" },
};

#define QUIET (sizeof(quiet) / sizeof(quiet[0]))

static long loud[QUIET];

static void set_quiet(void)
{
	sync();
	for (size_t i = 0; i < QUIET; i++) {
		loud[i] = file_number(quiet[i].path);
		CHECK(!file_write(quiet[i].path, quiet[i].text), "%s", quiet[i].path);
	}
}

static void set_loud(void)
{
	char text[32];

	/* The ratios cannot cross each other. */
	for (size_t i = QUIET; i-- > 0;) {
		snprintf(text, sizeof(text), "%ld", loud[i]);
		CHECK(!file_write(quiet[i].path, text), "%s", quiet[i].path);
	}
	sync();
}

/* Count by cgroup; where the module is not loaded, only what the kernel tells. */
static void watch(const char * not )
{
	char text[128];

	snprintf(text, sizeof(text), "%shist:keys=cgroup_ino if reason == %d", not,
		 writeback_reason("vmscan"));
	CHECK(!file_write(STARTED "/trigger", text), "%s", text);
	if (access(WOKEN, F_OK))
		return;
	snprintf(text, sizeof(text), "%shist:keys=cgroup_ino", not );
	CHECK(!file_write(WOKEN "/trigger", text), "%s", text);
}

static unsigned long cgroup_ino(const char *name)
{
	struct stat status;
	char path[128];

	snprintf(path, sizeof(path), "/sys/fs/cgroup/%s", name);
	return stat(path, &status) ? 0 : status.st_ino;
}

/* How often a watched event has hit for the inode number of a cgroup. */
static unsigned long hits_of(const char *event, unsigned long ino)
{
	static char text[65536];
	const char *line;
	char path[128];
	unsigned long key, count;

	snprintf(path, sizeof(path), "%s/hist", event);
	file_text(path, text, sizeof(text));
	for (line = text; (line = strstr(line, "{ cgroup_ino:")); line++)
		if (sscanf(line, "{ cgroup_ino: %lu } hitcount: %lu", &key, &count) == 2 &&
		    key == ino)
			return count;
	return 0;
}

static unsigned long started(const char *cgroup)
{
	return hits_of(STARTED, cgroup_ino(cgroup));
}

static unsigned long woken(const char *cgroup)
{
	return hits_of(WOKEN, cgroup_ino(cgroup));
}

/* A cgroup that has written pages to a file of its own, or to something that is another's. */
static void make_dirty(const char *cgroup, const char *path, long first, long pages)
{
	struct page_writer writer = { path, first, pages };
	int ret = child_wait(cgroup_spawn(cgroup, write_pages, &writer), 60);

	CHECK(!ret, "%s: writing %s: %d", cgroup, path, ret);
}

static const char *file_of(const char *cgroup)
{
	static char path[256];
	char *slash;

	snprintf(path, sizeof(path), "%s/%s", places.mount, cgroup);
	slash = strrchr(cgroup, '/') ? strchr(path + strlen(places.mount) + 1, '/') : NULL;
	if (slash)
		*slash = '-';
	return path;
}

static void make_cgroup(const char *name)
{
	int ret = cgroup_make(name, "max");

	CHECK(!ret, "cgroup %s: %d", name, ret);
}

static void remove_cgroup(const char *name)
{
	unlink(file_of(name));
	CHECK(!cgroup_rmdir(name), "rmdir %s", name);
}

/* Ask for the reclaim of a cgroup's memory; that it falls short of what was asked for is no matter. */
static void reclaim(const char *cgroup)
{
	int ret = cgroup_set(cgroup, "memory.reclaim", BYTES);

	CHECK(!ret || ret == -EAGAIN, "memory.reclaim of %s: %d", cgroup, ret);
}

static uint64_t dirty_pages(const char *cgroup)
{
	return cgroup_stat(cgroup, "file_dirty") / 4096;
}

/* A target with dirty pages on its own wb, and a bystander that has as many. */
static void begin_two(const char *parameters)
{
	CHECK(!policy_load(parameters), "load %s", parameters);
	set_quiet();
	make_cgroup("target");
	make_cgroup("bystander");
	make_dirty("target", file_of("target"), 0, PAGES);
	make_dirty("bystander", file_of("bystander"), 0, PAGES);
	watch("");
	stats_begin();
}

static void end_two(void)
{
	watch("!");
	set_loud();
	remove_cgroup("target");
	remove_cgroup("bystander");
	CHECK(!policy_unload(), "unload");
}

#define D(name) ((unsigned long)stat_delta(#name))

static void check_sum(void)
{
	CHECK(D(reclaim_wakes) == D(reclaim_scoped) + D(reclaim_unknown) + D(reclaim_unreachable) +
					  D(reclaim_again) + D(reclaim_crowded),
	      "%lu wakes", D(reclaim_wakes));
	CHECK(D(reclaim_overflow) == 0, "overflow %lu", D(reclaim_overflow));
	tap_note("wakes %lu scoped %lu unknown %lu unreachable %lu again %lu, wbs %lu, flushes %lu",
		 D(reclaim_wakes), D(reclaim_scoped), D(reclaim_unknown), D(reclaim_unreachable),
		 D(reclaim_again), D(reclaim_wbs), D(reclaim_flushes));
}

/* Who has not asked for it has the kernel's function, and that starts everybody. */
static void not_asked_for(void)
{
	begin_two("policy=mapping");
	CHECK(access(FUNCTION, F_OK), "the function is replaced");
	reclaim("target");
	sleep(1);
	CHECK(started("target") > 0, "the target was not started");
	CHECK(started("bystander") > 0,
	      "the kernel leaves bystanders alone: the test proves nothing");
	CHECK(D(reclaim_wakes) == 0, "%lu wakes", D(reclaim_wakes));
	end_two();
}

static void only_the_target(void)
{
	uint64_t dirty;

	begin_two("policy=mapping reclaim_scope=1");
	CHECK(!access(FUNCTION, F_OK), "the function is not replaced");
	reclaim("target");
	sleep(3);
	CHECK(woken("target") > 0, "nobody woke for the target");
	CHECK(started("target") > 0, "the target was not started");
	CHECK(started("bystander") == 0, "the bystander was started %lu times",
	      started("bystander"));
	CHECK(started("") == 0, "the root was started %lu times", started(""));
	CHECK(D(reclaim_scoped) == D(reclaim_wakes), "not all were scoped");
	CHECK(D(reclaim_wbs) >= 1, "no wb was started");
	dirty = dirty_pages("target");
	CHECK(dirty < PAGES / 10, "%lu pages of the target are dirty", dirty);
	dirty = dirty_pages("bystander");
	CHECK(dirty >= PAGES * 9 / 10, "%lu pages of the bystander are dirty", dirty);
	check_sum();
	end_two();
}

/* The root's reclaim is the machine's: nobody is the target. */
static void machine(void)
{
	begin_two("policy=mapping reclaim_scope=1");
	reclaim("");
	sleep(1);
	CHECK(D(reclaim_wakes) > 0 && D(reclaim_unknown) == D(reclaim_wakes),
	      "%lu of %lu wakes had no target", D(reclaim_unknown), D(reclaim_wakes));
	CHECK(hits_of(WOKEN, 0) == D(reclaim_wakes), "not as many events");
	CHECK(started("target") > 0 && started("bystander") > 0, "not everybody was started");
	check_sum();
	end_two();
}

static int use_memory(void *bytes)
{
	size_t n = *(size_t *)bytes;
	char *memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < n; i += 4096)
		memory[i] = 1;
	return 0;
}

static uint64_t memory_event(const char *cgroup, const char *key)
{
	static char text[1024];
	char path[128], *line;

	snprintf(path, sizeof(path), "/sys/fs/cgroup/%s/memory.events", cgroup);
	file_text(path, text, sizeof(text));
	line = strstr(text, key);
	return line ? strtoull(line + strlen(key), NULL, 10) : ~0ULL;
}

/*
 * A parent's limit is hit by the charges of a child that has nothing dirty; the dirty pages are a sibling's.
 * The target is the parent, so the sibling is started, and the charges succeed.
 */
static void parents_limit(void)
{
	size_t bytes = 24 * MIB;
	int ret;

	CHECK(!policy_load("policy=mapping reclaim_scope=1"), "load");
	set_quiet();
	make_cgroup("bystander");
	make_cgroup("parent");
	CHECK(!cgroup_set("parent", "memory.max", "33554432"), "memory.max");
	CHECK(!cgroup_set("parent", "cgroup.subtree_control", "+memory +io"), "subtree_control");
	make_cgroup("parent/writer");
	make_cgroup("parent/charger");
	make_dirty("bystander", file_of("bystander"), 0, PAGES);
	make_dirty("parent/writer", file_of("parent/writer"), 0, PAGES);
	watch("");
	stats_begin();
	ret = child_wait(cgroup_spawn("parent/charger", use_memory, &bytes), 60);
	CHECK(!ret, "the charger: %d", ret);
	CHECK(woken("parent") > 0, "nobody woke for the parent");
	CHECK(woken("parent/charger") == 0, "the charger was taken for the target");
	CHECK(started("parent/writer") > 0, "the sibling was not started");
	CHECK(started("bystander") == 0, "the bystander was started");
	CHECK(memory_event("parent", "\noom_kill ") == 0, "OOM");
	check_sum();
	watch("!");
	set_loud();
	remove_cgroup("parent/writer");
	remove_cgroup("parent/charger");
	remove_cgroup("parent");
	remove_cgroup("bystander");
	CHECK(!policy_unload(), "unload");
}

/* A disk whose mapping is the root's, dirtied by the target; the bystander has a file of its own. */
static int begin_disk(const char *parameters)
{
	struct disk_spec spec = { .size = 128 * MIB, .write_bps = 50 * MIB };
	char page[4096] = "owned by the root";
	int ret, fd;

	CHECK(!policy_load(parameters), "load %s", parameters);
	set_quiet();
	ret = disk_make("pt0", &spec);
	CHECK(!ret, "disk: %d", ret);
	fd = disk_open("pt0", O_RDWR);
	CHECK(pwrite(fd, page, sizeof(page), 0) > 0 && !fsync(fd), "the first page");
	make_cgroup("target");
	make_cgroup("bystander");
	make_dirty("target", "/dev/pt0", 256, PAGES);
	make_dirty("bystander", file_of("bystander"), 0, PAGES);
	watch("");
	stats_begin();
	return fd;
}

static void end_disk(int fd)
{
	uint64_t dirty;

	sleep(5);
	dirty = dirty_pages("target");
	CHECK(dirty < PAGES / 10, "%lu pages of the target are dirty", dirty);
	check_sum();
	fsync(fd);
	close(fd);
	CHECK(!disk_rmdir("pt0"), "rmdir of the disk");
	end_two();
}

/* Its dirty pages are in the mapping of a disk: its records are flushed, and nobody else is started. */
static void mapping_is_swept(void)
{
	int fd = begin_disk("policy=mapping reclaim_scope=1");

	reclaim("target");
	sleep(1);
	CHECK(D(reclaim_flushes) > 0 && D(flushes_mapping) == D(reclaim_flushes),
	      "%lu records, %lu flushes of a mapping", D(reclaim_flushes), D(flushes_mapping));
	CHECK(D(reclaim_scoped) == D(reclaim_wakes), "not all were scoped");
	CHECK(started("bystander") == 0 && started("") == 0, "others were started");
	end_disk(fd);
}

static void kernels_record_is_flushed(void)
{
	int fd = begin_disk("policy=stock reclaim_scope=1");

	reclaim("target");
	sleep(1);
	CHECK(D(reclaim_flushes) > 0 && D(flushes_stock) == D(reclaim_flushes),
	      "%lu records, %lu flushes of a wb", D(reclaim_flushes), D(flushes_stock));
	CHECK(D(reclaim_scoped) == D(reclaim_wakes), "not all were scoped");
	CHECK(started("bystander") == 0 && started("") == 0, "others were started");
	end_disk(fd);
}

/* Nothing is known of them under skip: so it is everybody. */
static void out_of_reach(void)
{
	int fd = begin_disk("policy=skip reclaim_scope=1");

	reclaim("target");
	sleep(1);
	CHECK(D(reclaim_unreachable) > 0, "%lu found nothing in reach", D(reclaim_unreachable));
	CHECK(D(reclaim_scoped) == 0, "%lu were scoped", D(reclaim_scoped));
	CHECK(started("") > 0 && started("bystander") > 0, "not everybody was started");
	end_disk(fd);
}

/*
 * The target owns a file that another has filled with dirty pages: they are in reach, and not the target's.
 * Its own are where nothing is known of them. The first wake-up is deceived; a later one sees that nothing of
 * it was cleaned.
 */
static void deceived(void)
{
	int fd = begin_disk("policy=skip reclaim_scope=1");
	int file = open(file_of("target"), O_RDWR | O_CREAT, 0600);

	make_dirty("target", file_of("target"), 0, 1);
	CHECK(!fsync(file), "fsync");
	make_dirty("bystander", file_of("target"), 1, PAGES);
	CHECK(dirty_pages("target") >= PAGES * 9 / 10, "the target has %lu dirty",
	      dirty_pages("target"));
	reclaim("target");
	CHECK(D(reclaim_scoped) > 0, "the test proves nothing");
	sleep(1);
	reclaim("target");
	sleep(1);
	CHECK(D(reclaim_again) > 0, "%lu saw it", D(reclaim_again));
	CHECK(started("") > 0, "the root was not started");
	close(file);
	end_disk(fd);
}

/* Another's livepatch of the function matters only to who wants to replace it. */
static void refuse_another(void)
{
	int ret =
		livepatch_load(places.other, "other_livepatch", "function=wakeup_flusher_threads");

	NEED(!ret, "loading the other livepatch: %d", ret);
	kernel_log_begin();
	ret = module_load(places.module, "reclaim_scope=1");
	CHECK(ret == -EBUSY, "loading cgwb: %d", ret);
	CHECK(kernel_log_has("livepatch other_livepatch has replaced", "wakeup_flusher_threads"),
	      "not said");
	CHECK(!policy_load("reclaim_scope=0"), "loading cgwb without it");
	CHECK(!policy_unload(), "unload");
	CHECK(!livepatch_unload("other_livepatch"), "unloading the other");
}

void policy_reclaim_cases(void)
{
	tap_case("reclaim wakes everybody, unless it was asked for", not_asked_for);
	tap_case("a target with its own dirty pages, reclaimed from outside", only_the_target);
	tap_case("reclaim of the machine has no target", machine);
	tap_case("a parent's limit, and the dirty pages a sibling's", parents_limit);
	tap_case("dirty pages in a disk's mapping are swept", mapping_is_swept);
	tap_case("the kernel's records are flushed", kernels_record_is_flushed);
	tap_case("what is out of reach wakes everybody", out_of_reach);
	tap_case("what does not help wakes everybody the next time", deceived);
	tap_case("another livepatch of its function is left in peace", refuse_another);
}
