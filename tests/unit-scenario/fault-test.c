// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory runs out: the Nth allocation fails, for N = 1, 2, ... until there is no Nth. Each time the
 * whole way from a scenario to the texts of its cell and result ends with -ENOMEM, or with the same
 * texts as ever (an allocation may be one that can be done without); and nothing is left behind.
 *
 * The allocator is replaced in this program, for the libraries as well, so it does not go together
 * with a sanitizer that does the same.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libcgwb/cell.h"
#include "libcgwb/result.h"
#include "text.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

static struct {
	bool armed;
	long until_failure;
	long allocations;
	long live;
} heap;

static bool fails(void)
{
	if (!heap.armed)
		return false;
	heap.allocations++;
	if (heap.until_failure-- > 0)
		return false;
	if (heap.until_failure == -1)
		errno = ENOMEM;
	return heap.until_failure == -1;
}

static void *count(void *memory)
{
	heap.live += memory != NULL;
	return memory;
}

void *malloc(size_t size)
{
	return fails() ? NULL : count(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : count(__libc_calloc(n, size));
}

void *realloc(void *memory, size_t size)
{
	void *moved = fails() ? NULL : __libc_realloc(memory, size);

	return memory ? moved : count(moved);
}

void *reallocarray(void *memory, size_t n, size_t size)
{
	return realloc(memory, n * size);
}

void free(void *memory)
{
	heap.live -= memory != NULL;
	__libc_free(memory);
}

#define TEXT                                                                                       \
	"[scenario]\ntitle = t\nmeasured_job = f\nmodules = xfs\npublished = a, b\n" DISK MOUNT    \
	"mkfs = -E a -N 1\n[sysctl]\nvm.dirty_ratio = 5\n[file /data/h]\nsize = 1M\n"              \
	"[cgroup /d]\ncount = 2\nmemory.high = 8M\nio.max = nb0 wbps=1M\n"                         \
	"[job f]\nengine = fio\nfilename = /data/h\nrw = write\nsize = 1M\n"                       \
	"[job d]\nengine = files\ncgroup = /d\ndirectory = /data/%c\nduration = 1s\n"              \
	"[job e]\nengine = exec\nprogram = a\nargs = x \"y z\"\n"                                  \
	"[measure hot_gib]\nkind = file-writes\nfile = /data/h\n"                                  \
	"[variant stock]\npolicy = stock\npolicy_parameters = a=1\n"                               \
	"[variant mapping]\npolicy = mapping\nd.count = 1\ndrop = e\n[quick]\nseeds = 2\n"         \
	"[expect]\nmapping.hot_gib <= 0.5 * stock.hot_gib\n"

/* What comes out; all NULL unless it succeeds. */
struct texts {
	char *cell;
	char *shown;
	char *result;
};

static void texts_done(struct texts *texts)
{
	free(texts->cell);
	free(texts->shown);
	free(texts->result);
	*texts = (struct texts){ 0 };
}

static int result_text(const struct cgwb_cell *cell, char **ret_text)
{
	json_t *guest = json_pack("{s:s, s:{s:f}}", "status", "ok", "measures", "hot_gib", 2.5);
	json_t *inputs = json_pack("{s:s}", "cell", "x");
	struct cgwb_outcome outcome = { cgwb_cell_json(cell), inputs, guest, 0, NULL };
	struct cgwb_result *result = NULL;
	const json_t *digest;
	int err = guest && inputs ? cgwb_result_new(&outcome, &result, NULL) : -ENOMEM;

	if (!err) {
		digest = json_object_get(cgwb_result_json(result), "digest");
		*ret_text = strdup(json_string_value(digest));
		err = *ret_text ? 0 : -ENOMEM;
	}
	cgwb_result_free(result);
	json_decref(guest);
	json_decref(inputs);
	return err;
}

static int all_texts(const struct cgwb_scenario *scenario, struct texts *texts)
{
	struct cgwb_cell *cell;
	int err = cgwb_cell_new(scenario, "mapping", 1, false, &cell, NULL);

	if (err)
		return err;
	texts->cell = cgwb_cell_text(cell);
	err = texts->cell ? result_text(cell, &texts->result) : -ENOMEM;
	if (!err)
		err = cgwb_scenario_show(scenario, "stock", true, &texts->shown, NULL);
	cgwb_cell_free(cell);
	return err;
}

static int attempt(struct texts *texts)
{
	static const char *const overrides[] = { "f.size = 2M", NULL };
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_scenario *scenario = NULL;
	FILE *stream = fmemopen((char *)TEXT, strlen(TEXT), "r");
	int err = -ENOMEM;

	*texts = (struct texts){ 0 };
	if (stream) {
		err = cgwb_scenario_read_stream(stream, "t.ini", &scenario, &error);
		fclose(stream);
	}
	if (!err)
		err = cgwb_scenario_add_variant(scenario, "more", "stock", overrides, "x", &error);
	if (!err)
		err = all_texts(scenario, texts);
	cgwb_scenario_free(scenario);
	cgwb_error_done(&error);
	if (err)
		texts_done(texts);
	return err;
}

static void check_attempt(const struct texts *want, long failing)
{
	long live = heap.live;
	struct texts texts;
	int err;

	heap.until_failure = failing;
	heap.armed = true;
	err = attempt(&texts);
	heap.armed = false;

	if (err && err != -ENOMEM)
		fail_msg("allocation %ld fails: error %d", failing, err);
	if (!err && (strcmp(texts.cell, want->cell) || strcmp(texts.shown, want->shown) ||
		     strcmp(texts.result, want->result)))
		fail_msg("allocation %ld fails: another text", failing);
	texts_done(&texts);
	if (heap.live != live)
		fail_msg("allocation %ld fails: %ld are left", failing, heap.live - live);
}

static void test_allocations(void **state)
{
	struct texts want;
	long n;

	assert_int_equal(attempt(&want), 0);
	heap.allocations = 0;
	check_attempt(&want, LONG_MAX - 1);
	n = heap.allocations;
	assert_true(n > 1000);
	for (long i = 0; i < n; i++)
		check_attempt(&want, i);
	texts_done(&want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allocations),
	};

	return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
