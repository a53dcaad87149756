// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What it costs to make a clean page dirty, and how much more if the page is of another memory cgroup than its inode.
 *
 *   hotpath FILE PAGES ROUNDS
 *
 * One process, so that nothing else differs: in a cgroup `owner` it fills most of a file (or of a disk), which makes
 * that cgroup the owner of the inode, in a cgroup `dirtier` the rest of it. Whose a page is was decided then. In each
 * round it dirties PAGES pages of the owner's and as many of the dirtier's, all clean, with one byte each, and
 * takes the CPU time of its own thread: what else the machine does is not in it. In between it dirties more of the
 * owner's, which so stays the one that most of the file is from, and writes all.
 *
 * Prints a line of JSON: instructions for one page of either kind, and how many dirtyings the kernel saw. In virtual
 * time an instruction takes two nanoseconds.
 *
 * The lab's own counting of such dirtyings would be most of the cost: it is taken off before.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup"
#define TRIGGERS "/sys/kernel/tracing/instances/*/events/writeback/track_foreign_dirty/trigger"
#define PAGE 4096
#define NS_PER_INSTRUCTION 2
/* The owner's pages for one of the dirtier's: a clear majority. */
#define OWNERS_SHARE 2
/* Pages that are left alone at the beginning: whoever looked for partitions there has brought them in. */
#define FIRST_PAGE 256

struct cost {
	uint64_t ns, pages, seen; /* seen: dirtyings that the kernel counted meanwhile */
};

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	int err = errno;
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, ": %s\n", strerror(err));
	exit(1);
}

static void text_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("cannot write %s to %s", text, path);
	close(fd);
}

static void cgroup_enter(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), CGROUPS "/%s", name);
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		die("cannot make %s", path);
	snprintf(path, sizeof(path), CGROUPS "/%s/cgroup.procs", name);
	text_write(path, "0");
}

/* "hist:keys=...:size=2048 [active]" is taken away by "!hist:keys=..." as it was set, and so as it is shown. */
static void untrace_one(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[512], remove[516];

	if (!file)
		die("cannot open %s", path);
	while (fgets(line, sizeof(line), file)) {
		char *state = strstr(line, " [");

		if (line[0] == '#' || !state)
			continue;
		*state = '\0';
		snprintf(remove, sizeof(remove), "!%s", line);
		text_write(path, remove);
	}
	fclose(file);
}

static void untrace(void)
{
	glob_t found;
	size_t i;

	if (glob(TRIGGERS, 0, NULL, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++)
		untrace_one(found.gl_pathv[i]);
	globfree(&found);
}

/* Folios that were dirtied since boot; what each CPU has counted for itself is folded in first. */
static uint64_t dirtyings(void)
{
	FILE *file;
	char line[128];
	uint64_t n;

	text_write("/proc/sys/vm/stat_refresh", "1");
	file = fopen("/proc/vmstat", "re");
	if (!file)
		die("cannot open /proc/vmstat");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "nr_dirtied %" SCNu64, &n) == 1) {
			fclose(file);
			return n;
		}
	}
	die("/proc/vmstat has no nr_dirtied");
}

static uint64_t cpu_ns(void)
{
	struct timespec time;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) < 0)
		die("cannot read the clock");
	return time.tv_sec * UINT64_C(1000000000) + time.tv_nsec;
}

static void pages_write(int fd, uint64_t first, uint64_t n, size_t bytes)
{
	static char page[PAGE];
	uint64_t i;

	for (i = first; i < first + n; i++) {
		if (pwrite(fd, page, bytes, i * PAGE) != (ssize_t)bytes)
			die("cannot write page %" PRIu64, i);
	}
}

static void pages_measure(int fd, uint64_t first, uint64_t n, struct cost *cost)
{
	uint64_t seen = dirtyings(), ns = cpu_ns();

	pages_write(fd, first, n, 1);
	cost->ns += cpu_ns() - ns;
	cost->seen += dirtyings() - seen;
	cost->pages += n;
}

static void clean(int fd)
{
	if (fsync(fd) < 0)
		die("cannot write the pages");
}

static double instructions(const struct cost *cost)
{
	return (double)cost->ns / NS_PER_INSTRUCTION / cost->pages;
}

int main(int argc, char **argv)
{
	uint64_t n, rounds, round, own = FIRST_PAGE, foreign;
	struct cost of_own = { 0 }, of_foreign = { 0 };
	int fd;

	if (argc != 4) {
		fputs("usage: hotpath FILE PAGES ROUNDS\n", stderr);
		return 2;
	}
	n = strtoull(argv[2], NULL, 10);
	rounds = strtoull(argv[3], NULL, 10);
	foreign = own + OWNERS_SHARE * n;
	untrace();
	cgroup_enter("owner");
	fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		die("cannot open %s", argv[1]);
	pages_write(fd, own, OWNERS_SHARE * n, PAGE);
	cgroup_enter("dirtier");
	pages_write(fd, foreign, n, PAGE);
	clean(fd);
	for (round = 0; round < rounds; round++) {
		/* In turn, so that neither is always the one that finds the caches warm, or the file older. */
		if (round % 2)
			pages_measure(fd, foreign, n, &of_foreign);
		pages_measure(fd, own, n, &of_own);
		if (round % 2 == 0)
			pages_measure(fd, foreign, n, &of_foreign);
		pages_write(fd, own + n, (OWNERS_SHARE - 1) * n, 1);
		clean(fd);
	}
	if (of_own.seen < of_own.pages || of_foreign.seen < of_foreign.pages) {
		fprintf(stderr,
			"the kernel saw %" PRIu64 " and %" PRIu64 " of %" PRIu64 " dirtyings\n",
			of_own.seen, of_foreign.seen, of_own.pages);
		return 1;
	}
	printf("{\"pages\": %" PRIu64 ", \"own\": %.1f, \"foreign\": %.1f, \"more\": %.1f}\n",
	       of_own.pages, instructions(&of_own), instructions(&of_foreign),
	       instructions(&of_foreign) - instructions(&of_own));
	return 0;
}
