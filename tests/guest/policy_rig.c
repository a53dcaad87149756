// SPDX-License-Identifier: GPL-2.0-or-later
#include "policy_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup"
#define EVENTS "/sys/kernel/tracing/events"
#define STATS "/sys/kernel/cgwb/stats"
#define STEP_US 20000
/* As many as make_files() makes, before it begins anew: a filesystem has only so many inodes. */
#define FILES 10000

struct policy_places places;

int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

void file_text(const char *path, char *text, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = 0;

	while (fd >= 0 && n < bytes - 1 && (got = read(fd, text + n, bytes - 1 - n)) > 0)
		n += got;
	text[n] = '\0';
	if (fd >= 0)
		close(fd);
}

long file_number(const char *path)
{
	char text[64], *end;
	long value;

	file_text(path, text, sizeof(text));
	value = strtol(text, &end, 10);
	return end == text ? -1 : value;
}

bool wait_for(int seconds, bool (*is_true)(void))
{
	for (int i = 0; i < seconds * (1000000 / STEP_US); i++) {
		if (is_true())
			return true;
		usleep(STEP_US);
	}
	return is_true();
}

int module_load(const char *path, const char *parameters)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, parameters, 0))
		ret = -errno;
	close(fd);
	return ret;
}

int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

static const char *livepatch_file(const char *name, const char *file)
{
	static char path[256];

	snprintf(path, sizeof(path), "/sys/kernel/livepatch/%s/%s", name, file);
	return path;
}

int livepatch_load(const char *path, const char *name, const char *parameters)
{
	int ret = module_load(path, parameters);

	for (int i = 0; !ret && i < 3000; i++) {
		if (file_number(livepatch_file(name, "transition")) == 0)
			return 0;
		usleep(STEP_US);
	}
	return ret ? ret : -ETIMEDOUT;
}

int livepatch_disable(const char *name)
{
	int ret = file_write(livepatch_file(name, "enabled"), "0");

	for (int i = 0; !ret && i < 3000; i++) {
		if (access(livepatch_file(name, "enabled"), F_OK))
			return 0;
		usleep(STEP_US);
	}
	return ret ? ret : -ETIMEDOUT;
}

int livepatch_unload(const char *name)
{
	int ret = livepatch_disable(name);

	for (int i = 0; !ret && i < 500; i++) {
		ret = module_unload(name);
		if (ret != -EAGAIN && ret != -EBUSY)
			return ret;
		ret = 0;
		usleep(STEP_US);
	}
	return ret ? ret : -ETIMEDOUT;
}

bool kernel_is_6_12(void)
{
	struct utsname name;
	int minor = 0;

	uname(&name);
	sscanf(name.release, "6.%d", &minor);
	return minor >= 12;
}

bool policy_replaces(const char *function)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/kernel/livepatch/cgwb/vmlinux/%s,1", function);
	return !access(path, F_OK);
}

int policy_load(const char *parameters)
{
	return livepatch_load(places.module, "cgwb", parameters);
}

int policy_unload(void)
{
	return livepatch_unload("cgwb");
}

int policy_set(const char *policy)
{
	return file_write("/sys/module/cgwb/parameters/policy", policy);
}

/* Every counter there is, as the module lists them. */
static struct {
	char name[32];
	uint64_t value;
} begun[64];

uint64_t stat_get(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), STATS "/%s", name);
	return file_number(path);
}

static const char *const stat_names[] = {
	"tracked",
	"tracked_bdev",
	"skipped",
	"stock_records",
	"stock_refreshed",
	"stock_dropped",
	"records",
	"refreshed",
	"overflow",
	"held_back",
	"deduped",
	"flushes_stock",
	"flushes_failed",
	"flushes_mapping",
	"flushes_stretch",
	"flushes_joined",
	"flushes_refused",
	"fallbacks",
	"flushes_owner",
	"slices",
	"pages",
	"missed",
	"sweeps",
	"abandoned",
	"gone",
	"clean",
	"reclaim_wakes",
	"reclaim_scoped",
	"reclaim_unknown",
	"reclaim_unreachable",
	"reclaim_again",
	"reclaim_crowded",
	"reclaim_wbs",
	"reclaim_flushes",
	"reclaim_overflow",
};

bool targets_are_at_rest(void)
{
	char text[4096];

	file_text("/sys/kernel/cgwb/targets", text, sizeof(text));
	return !strstr(text, "sweep");
}

void stats_begin(void)
{
	for (size_t i = 0; i < sizeof(stat_names) / sizeof(stat_names[0]); i++) {
		snprintf(begun[i].name, sizeof(begun[i].name), "%s", stat_names[i]);
		begun[i].value = stat_get(stat_names[i]);
	}
}

uint64_t stat_delta(const char *name)
{
	for (size_t i = 0; i < sizeof(begun) / sizeof(begun[0]); i++)
		if (!strcmp(begun[i].name, name))
			return stat_get(name) - begun[i].value;
	return ~0ULL;
}

/* What is counted, and a key that every event of the kind has. */
static const struct {
	const char *event, *key;
} counted[] = {
	{ "writeback/track_foreign_dirty", "memcg_id" },
	{ "writeback/flush_foreign", "frn_memcg_id" },
	{ "writeback/writeback_queue", "reason" },
	{ "cgwb/flush", "kind" },
	{ "cgwb/mapping_written", "dev" },
};

#define COUNTED (sizeof(counted) / sizeof(counted[0]))

int writeback_reason(const char *reason)
{
	static char text[8192];
	char quoted[64];
	const char *name;

	snprintf(quoted, sizeof(quoted), "\"%s\"", reason);
	file_text(EVENTS "/writeback/writeback_queue/format", text, sizeof(text));
	name = strstr(text, quoted);
	while (name && name > text && *name != '{')
		name--;
	return name && *name == '{' ? atoi(name + 1) : -1;
}

static int set_trigger(size_t i, const char * not )
{
	char path[128], text[128], filter[64] = "";

	if (!strcmp(counted[i].event, "writeback/writeback_queue"))
		snprintf(filter, sizeof(filter), " if reason == %d",
			 writeback_reason("foreign_flush"));
	snprintf(path, sizeof(path), EVENTS "/%s/trigger", counted[i].event);
	snprintf(text, sizeof(text), "%shist:keys=%s%s", not, counted[i].key, filter);
	return file_write(path, text);
}

int trace_begin(void)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < COUNTED; i++)
		ret = set_trigger(i, "");
	return ret;
}

void trace_end(void)
{
	for (size_t i = 0; i < COUNTED; i++)
		set_trigger(i, "!");
}

uint64_t trace_hits(const char *event)
{
	static char text[65536];
	const char *hits;
	char path[128];

	snprintf(path, sizeof(path), EVENTS "/%s/hist", event);
	file_text(path, text, sizeof(text));
	hits = strstr(text, "Hits: ");
	return hits ? strtoull(hits + 6, NULL, 10) : ~0ULL;
}

static const char *cgroup_path(const char *name, const char *file)
{
	static char path[256];

	snprintf(path, sizeof(path), CGROUPS "/%s/%s", name, file);
	return path;
}

int cgroup_set(const char *name, const char *file, const char *text)
{
	return file_write(cgroup_path(name, file), text);
}

int cgroup_make(const char *name, const char *high)
{
	file_write(CGROUPS "/cgroup.subtree_control", "+memory +io");
	if (mkdir(cgroup_path(name, ""), 0755))
		return -errno;
	return cgroup_set(name, "memory.high", high);
}

int cgroup_rmdir(const char *name)
{
	return rmdir(cgroup_path(name, "")) ? -errno : 0;
}

uint64_t cgroup_stat(const char *name, const char *key)
{
	static char text[16384];
	char pattern[64];
	const char *line;

	file_text(cgroup_path(name, "memory.stat"), text, sizeof(text));
	snprintf(pattern, sizeof(pattern), "\n%s ", key);
	line = strstr(text, pattern);
	return line ? strtoull(line + strlen(pattern), NULL, 10) : ~0ULL;
}

pid_t cgroup_spawn(const char *name, int (*run)(void *), void *arg)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	if (name && cgroup_set(name, "cgroup.procs", "0"))
		_exit(125);
	_exit(run(arg));
}

int child_wait(pid_t pid, int seconds)
{
	int status;

	for (int i = 0; i < seconds * (1000000 / STEP_US); i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		usleep(STEP_US);
	}
	return -ETIMEDOUT;
}

void child_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int write_pages(void *arg)
{
	const struct page_writer *writer = arg;
	size_t bytes = writer->count * 4096, done = 0, chunk = 1 << 20;
	char *data = malloc(chunk);
	int fd = open(writer->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (!data || fd < 0)
		return 1;
	memset(data, 'x', chunk);
	while (done < bytes) {
		size_t want = bytes - done < chunk ? bytes - done : chunk;
		ssize_t n = pwrite(fd, data, want, writer->first * 4096 + done);

		if (n <= 0)
			return 2;
		done += n;
		usleep(writer->pause_us);
	}
	return 0;
}

int make_files(void *arg)
{
	const struct dirtier *dirtier = arg;
	static char data[1 << 20];
	struct timespec begin, now;
	char path[256];

	mkdir(dirtier->directory, 0755);
	snprintf(path, sizeof(path), "%s/data", dirtier->directory);
	int data_fd = open(path, O_RDWR | O_CREAT, 0600);

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int n = 0;; n++) {
		int i = n % FILES, fd;

		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - begin.tv_sec >= dirtier->seconds)
			return 0;
		if (i % 100 == 0) {
			snprintf(path, sizeof(path), "%s/d%d", dirtier->directory, i / 100);
			mkdir(path, 0755);
		}
		snprintf(path, sizeof(path), "%s/d%d/f%d", dirtier->directory, i / 100, i);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (fd < 0 || write(fd, data, 100) != 100 || close(fd))
			return 1;
		if (i % 50 == 0 &&
		    pwrite(data_fd, data, sizeof(data), (off_t)(i / 50 % 64) << 20) < 0)
			return 2;
	}
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	return remove(path);
}

void remove_files(const char *directory)
{
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static char *log_text;
static size_t log_from, log_begin;

static void read_log(void)
{
	int bytes = klogctl(10, NULL, 0);

	if (!log_text)
		log_text = malloc(bytes + 1);
	log_text[0] = '\0';
	bytes = klogctl(3, log_text, bytes);
	log_text[bytes > 0 ? bytes : 0] = '\0';
}

void kernel_log_begin(void)
{
	read_log();
	log_from = strlen(log_text);
	if (!log_begin)
		log_begin = log_from;
}

bool kernel_log_has(const char *a, const char *b)
{
	const char *line, *end;

	read_log();
	if (strlen(log_text) < log_from)
		return false;
	for (line = log_text + log_from; (end = strchr(line, '\n')); line = end + 1) {
		const char *found_a = strstr(line, a), *found_b = strstr(line, b);

		if (found_a && found_a < end && found_b && found_b < end)
			return true;
	}
	return false;
}

const char *kernel_log_warning(void)
{
	static const char *const bad[] = {
		"WARNING:",
		"BUG:",
		"Call Trace:",
		"INFO: task",
		"possible recursive locking",
		"general protection",
		"Oops:",
	};
	char *found;

	read_log();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (strlen(log_text) < log_begin)
			break;
		found = strstr(log_text + log_begin, bad[i]);
		if (found) {
			found[strcspn(found, "\n")] = '\0';
			return found;
		}
	}
	return NULL;
}
