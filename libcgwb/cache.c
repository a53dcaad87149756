// SPDX-License-Identifier: GPL-2.0-or-later
#include "cache.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcgwb/digest.h"
#include "libcgwb/files.h"

/* Seeds move estimates by less than this share; another form of the scenario moves them by more. */
#define SAME_FORM 0.1

/* CACHE/cells/DIGEST, without a suffix. */
static int cell_path(const struct cgwb_context *context, const json_t *inputs, char **ret_path)
{
	char digest[CGWB_DIGEST_SIZE];
	int ret;

	ret = cgwb_digest_json(inputs, digest);
	if (ret == 0 && asprintf(ret_path, "%s/cells/%s", context->cache_dir, digest) < 0)
		ret = -ENOMEM;
	return ret;
}

static int file_copy(const char *from, const char *to)
{
	char *text;
	size_t size;
	int ret;

	ret = cgwb_read_file(from, &text, &size);
	if (ret < 0)
		return ret;
	ret = cgwb_write_file(to, text, size);
	free(text);
	return ret;
}

static int result_at(const char *path, const json_t *cell, const json_t *inputs,
		     struct cgwb_result **ret_result)
{
	char *file;
	int ret;

	if (asprintf(&file, "%s.json", path) < 0)
		return -ENOMEM;
	ret = cgwb_result_read(file, ret_result, NULL);
	free(file);
	if (ret < 0)
		return -ENOENT;
	if (!cgwb_result_ok(*ret_result) || !cgwb_result_is_of(*ret_result, cell, inputs)) {
		cgwb_result_free(*ret_result);
		return -ENOENT;
	}
	return 0;
}

int cgwb_cache_get(const struct cgwb_context *context, const json_t *cell, const json_t *inputs,
		   const char *console, struct cgwb_result **ret_result)
{
	char *path, *log = NULL;
	int ret;

	ret = cell_path(context, inputs, &path);
	if (ret < 0)
		return ret;
	ret = result_at(path, cell, inputs, ret_result);
	if (ret == 0) {
		if (asprintf(&log, "%s.log", path) < 0 || file_copy(log, console) < 0) {
			cgwb_result_free(*ret_result);
			ret = -ENOENT;
		}
		free(log);
	}
	free(path);
	return ret;
}

bool cgwb_cache_has(const struct cgwb_context *context, const json_t *cell, const json_t *inputs)
{
	struct cgwb_result *result;
	char *path;
	int ret;

	if (cell_path(context, inputs, &path) < 0)
		return false;
	ret = result_at(path, cell, inputs, &result);
	free(path);
	if (ret < 0)
		return false;
	cgwb_result_free(result);
	return true;
}

int cgwb_cache_put(const struct cgwb_context *context, const json_t *inputs,
		   const struct cgwb_result *result, const char *console)
{
	char *path, *log = NULL, *file = NULL, *folder = NULL;
	int ret;

	if (!cgwb_result_ok(result))
		return 0;
	ret = cell_path(context, inputs, &path);
	if (ret < 0)
		return ret;
	ret = -ENOMEM;
	if (asprintf(&folder, "%s/cells", context->cache_dir) < 0)
		folder = NULL;
	if (asprintf(&log, "%s.log", path) < 0)
		log = NULL;
	if (asprintf(&file, "%s.json", path) < 0)
		file = NULL;
	if (folder && log && file) {
		ret = cgwb_mkdir_p(folder);
		/* The result last: one that is there has its console. */
		if (ret == 0)
			ret = file_copy(console, log);
		if (ret == 0)
			ret = cgwb_result_write(result, file, NULL);
	}
	free(folder);
	free(file);
	free(log);
	free(path);
	return ret;
}

static int timing_paths(const struct cgwb_context *context, char **ret_file, char **ret_lock)
{
	if (asprintf(ret_file, "%s/timings.json", context->cache_dir) < 0)
		return -ENOMEM;
	if (asprintf(ret_lock, "%s.lock", *ret_file) < 0) {
		free(*ret_file);
		return -ENOMEM;
	}
	return 0;
}

/* SCENARIO VARIANT FORM KERNEL */
static char *timing_key(const json_t *cell)
{
	const char *scenario, *variant, *kernel;
	int quick;
	char *key;

	if (json_unpack((json_t *)cell, "{s:s, s:s, s:b, s:s}", "scenario", &scenario, "variant",
			&variant, "quick", &quick, "kernel", &kernel) < 0 ||
	    asprintf(&key, "%s %s %s %s", scenario, variant, quick ? "quick" : "full", kernel) < 0)
		return NULL;
	return key;
}

int cgwb_timing_get(const struct cgwb_context *context, const json_t *cell, double estimate_s,
		    struct cgwb_timing *ret_timing)
{
	char *file, *lock, *key;
	json_int_t memory_bytes;
	json_t *timings;
	int ret;

	ret = timing_paths(context, &file, &lock);
	if (ret < 0)
		return ret;
	timings = json_load_file(file, 0, NULL);
	key = timing_key(cell);
	ret = -ENOENT;
	if (timings && key &&
	    json_unpack(json_object_get(timings, key), "{s:F, s:F, s:F, s:I}", "estimate_s",
			&ret_timing->estimate_s, "virtual_s", &ret_timing->virtual_s, "wall_s",
			&ret_timing->wall_s, "memory_bytes", &memory_bytes) == 0 &&
	    fabs(ret_timing->estimate_s - estimate_s) <= SAME_FORM * estimate_s) {
		ret_timing->memory_bytes = memory_bytes;
		ret = 0;
	}
	free(key);
	json_decref(timings);
	free(lock);
	free(file);
	return ret;
}

int cgwb_timing_put(const struct cgwb_context *context, const json_t *cell,
		    const struct cgwb_timing *timing)
{
	char *file, *lock, *key, *text;
	json_t *timings;
	int ret, lock_fd;

	ret = timing_paths(context, &file, &lock);
	if (ret < 0)
		return ret;
	ret = lock_fd = cgwb_lock_file(lock);
	if (ret < 0)
		goto out;

	timings = json_load_file(file, 0, NULL);
	if (!json_is_object(timings)) {
		json_decref(timings);
		timings = json_object();
	}
	key = timing_key(cell);
	if (key)
		json_object_set_new(timings, key,
				    json_pack("{s:f, s:f, s:f, s:I}", "estimate_s",
					      timing->estimate_s, "virtual_s", timing->virtual_s,
					      "wall_s", timing->wall_s, "memory_bytes",
					      (json_int_t)timing->memory_bytes));
	text = json_dumps(timings, JSON_INDENT(1));
	ret = text && key ? cgwb_write_file(file, text, strlen(text)) : -ENOMEM;
	free(text);
	free(key);
	json_decref(timings);
	close(lock_fd);
out:
	free(lock);
	free(file);
	return ret;
}
