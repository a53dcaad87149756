// SPDX-License-Identifier: GPL-2.0-or-later
#include "apt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "libcgwb/digest.h"
#include "libcgwb/files.h"
#include "libcgwb/process.h"

/*
 * Where the own lists are. The hooks that a system runs after an update are for its own caches and
 * fail for an ordinary user; translations and file lists are not needed and big.
 */
static const char own_config[] = "Dir::State::lists \"%s/lists\";\n"
				 "Dir::Cache \"%s/cache\";\n"
				 "Acquire::Languages \"none\";\n"
				 "#clear APT::Update::Pre-Invoke;\n"
				 "#clear APT::Update::Post-Invoke;\n"
				 "#clear APT::Update::Post-Invoke-Success;\n"
				 "#clear Acquire::IndexTargets::deb::Contents-deb;\n"
				 "#clear Acquire::IndexTargets::deb::DEP-11;\n";

static int make_folders(const char *folder)
{
	static const char *const names[] = { "lists/partial", "cache/archives/partial" };
	size_t i;
	int ret = 0;

	for (i = 0; i < 2 && ret == 0; i++) {
		char *path;

		if (asprintf(&path, "%s/%s", folder, names[i]) < 0)
			return -ENOMEM;
		ret = cgwb_mkdir_p(path);
		free(path);
	}
	return ret;
}

int cgwb_apt_init(struct cgwb_apt *apt, const struct cgwb_context *context, bool own_lists,
		  struct cgwb_error *error)
{
	char *folder = NULL, *text = NULL;
	int ret = -ENOMEM;

	*apt = (struct cgwb_apt){ .context = context };
	if (!own_lists)
		return 0;

	if (asprintf(&folder, "%s/apt", context->cache_dir) < 0)
		return -ENOMEM;
	if (asprintf(&apt->config, "%s/apt.conf", folder) < 0) {
		apt->config = NULL;
		goto out;
	}
	if (asprintf(&text, own_config, folder, folder) < 0) {
		text = NULL;
		goto out;
	}
	ret = make_folders(folder);
	if (ret == 0)
		ret = cgwb_write_file(apt->config, text, strlen(text));
	if (ret < 0)
		cgwb_error_set(error, ret, "cannot write %s: %s", folder, strerror(-ret));
out:
	free(text);
	free(folder);
	if (ret < 0)
		cgwb_apt_done(apt);
	return ret;
}

void cgwb_apt_done(struct cgwb_apt *apt)
{
	free(apt->config);
	*apt = (struct cgwb_apt){ 0 };
}

/*
 * Runs apt-get or apt-cache with `args` (ends with NULL) after the settings that go with every
 * call.
 */
static int apt_run(struct cgwb_apt *apt, const char *program, const char *const args[],
		   const char *folder, struct cgwb_output *output, struct cgwb_error *error)
{
	static const char *const env[] = { "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive", NULL };
	struct cgwb_command command = { .env = env, .folder = folder };
	const char **argv;
	size_t n = 0, m = 0;
	int ret;

	while (args[m])
		m++;
	argv = calloc(m + 16, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	argv[n++] = program;
	if (apt->config) {
		argv[n++] = "-c";
		argv[n++] = apt->config;
	}
	/* Root's downloads are otherwise made by a user who cannot read the cache. */
	argv[n++] = "-oAPT::Sandbox::User=root";
	argv[n++] = "-oAcquire::Retries=2";
	argv[n++] = "-oAcquire::http::Timeout=30";
	argv[n++] = "-oAcquire::https::Timeout=30";
	argv[n++] = "-q";
	memcpy(argv + n, args, m * sizeof(*argv));

	command.argv = argv;
	ret = cgwb_command_run(apt->context, &command, output, error);
	free(argv);
	return ret == -ENOENT ? -ENOPKG : ret; /* -ENOENT is for packages */
}

/*
 * apt's reason: the first `E:` line if there is one, as the last one only sums up; else its last
 * line.
 */
static const char *apt_reason(struct cgwb_output *output)
{
	char *at = output->err;

	while (at && strncmp(at, "E: ", 3)) {
		at = strchr(at, '\n');
		if (at)
			at++;
	}
	if (!at)
		return cgwb_output_last_line(output);
	*strchrnul(at, '\n') = '\0';
	return at + 3;
}

#define LISTS_FRESH_S (6 * 3600)

bool cgwb_apt_updated_lately(const struct cgwb_apt *apt)
{
	struct stat st;
	bool lately = false;
	char *path;

	if (!apt->config || asprintf(&path, "%s.updated", apt->config) < 0)
		return false;
	if (stat(path, &st) == 0)
		lately = time(NULL) - st.st_mtime < LISTS_FRESH_S;
	free(path);
	return lately;
}

static int apt_stamp(const struct cgwb_apt *apt)
{
	char *path;
	int ret;

	if (asprintf(&path, "%s.updated", apt->config) < 0)
		return -ENOMEM;
	ret = cgwb_write_file(path, "", 0);
	free(path);
	return ret;
}

int cgwb_apt_update(struct cgwb_apt *apt, struct cgwb_error *error)
{
	static const char *const args[] = { "-oAPT::Update::Error-Mode=any", "update", NULL };
	struct cgwb_output output = { 0 };
	int ret;

	cgwb_context_step(apt->context, "fetching the archive's package lists");
	ret = apt_run(apt, "apt-get", args, NULL, &output, error);
	if (ret > 0)
		ret = cgwb_error_set(error, -EHOSTUNREACH,
				     "cannot fetch the archive's package lists: %s",
				     apt_reason(&output));
	cgwb_output_done(&output);
	if (ret == 0)
		ret = apt_stamp(apt);
	return ret;
}

void cgwb_apt_package_done(struct cgwb_apt_package *package)
{
	free(package->name);
	free(package->version);
	free(package->depends);
	free(package->sha256);
	free(package->file);
	*package = (struct cgwb_apt_package){ 0 };
}

static char *field_copy(const char *value)
{
	return strndup(value, strcspn(value, "\n"));
}

/* Reads one stanza, which ends at `end`. */
static int package_parse(struct cgwb_apt_package *package, const char *at, const char *end)
{
	static const struct {
		const char *key;
		size_t offset;
	} fields[] = {
		{ "Package: ", offsetof(struct cgwb_apt_package, name) },
		{ "Version: ", offsetof(struct cgwb_apt_package, version) },
		{ "Depends: ", offsetof(struct cgwb_apt_package, depends) },
		{ "SHA256: ", offsetof(struct cgwb_apt_package, sha256) },
		{ "Filename: ", offsetof(struct cgwb_apt_package, file) },
	};
	size_t i;

	*package = (struct cgwb_apt_package){ 0 };
	for (; at && at < end; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
		for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
			char **field = (char **)((char *)package + fields[i].offset);
			size_t len = strlen(fields[i].key);

			if (!*field && !strncmp(at, fields[i].key, len))
				*field = field_copy(at + len);
		}
		sscanf(at, "Size: %" SCNu64, &package->size_bytes);
		if (sscanf(at, "Installed-Size: %" SCNu64, &package->installed_bytes) == 1)
			package->installed_bytes *= 1024;
	}
	if (package->file && strrchr(package->file, '/'))
		memmove(package->file, strrchr(package->file, '/') + 1,
			strlen(strrchr(package->file, '/')));

	/* A package that is only installed has no file to fetch. */
	if (package->name && package->version && package->sha256 && package->file)
		return 0;
	cgwb_apt_package_done(package);
	return -ENOENT;
}

/*
 * Of the stanzas in `text`, the one with the highest name in that version (NULL: the first there is
 * of each name).
 */
static int package_pick(const char *text, const char *version, struct cgwb_apt_package *ret)
{
	struct cgwb_apt_package best = { 0 }, package;
	const char *end;

	for (; *text; text = end) {
		end = strstr(text, "\n\n");
		end = end ? end + 2 : text + strlen(text);
		if (package_parse(&package, text, end) < 0)
			continue;
		if ((!version || !strcmp(package.version, version)) &&
		    (!best.name || strverscmp(package.name, best.name) > 0)) {
			cgwb_apt_package_done(&best);
			best = package;
		} else {
			cgwb_apt_package_done(&package);
		}
	}
	if (!best.name)
		return -ENOENT;
	*ret = best;
	return 0;
}

int cgwb_apt_show(struct cgwb_apt *apt, const char *name, const char *version,
		  struct cgwb_apt_package *ret_package, struct cgwb_error *error)
{
	const char *args[] = { "show", "--no-all-versions", NULL, NULL };
	struct cgwb_output output = { 0 };
	char *what;
	int ret;

	if (asprintf(&what, "%s%s%s", name, version ? "=" : "", version ? version : "") < 0)
		return -ENOMEM;
	args[2] = what;
	ret = apt_run(apt, "apt-cache", args, NULL, &output, error);
	if (ret >= 0)
		ret = ret == 0 ? package_pick(output.out, version, ret_package) : -ENOENT;
	cgwb_output_done(&output);
	free(what);
	return ret;
}

/*
 * The names that `apt-cache search` printed, one at the start of each line, as arguments of
 * `apt-cache show`.
 */
static const char **show_args(char *text)
{
	size_t lines = 0, n = 0;
	const char **args;
	char *at;

	for (at = text; *at; at++)
		lines += *at == '\n';
	args = calloc(lines + 3, sizeof(*args));
	if (!args)
		return NULL;
	args[n++] = "show";
	for (at = strtok(text, "\n"); at; at = strtok(NULL, "\n")) {
		at[strcspn(at, " ")] = '\0';
		args[n++] = at;
	}
	return args;
}

int cgwb_apt_newest(struct cgwb_apt *apt, const char *pattern, const char *version,
		    struct cgwb_apt_package *ret_package, struct cgwb_error *error)
{
	const char *search[] = { "search", "--names-only", pattern, NULL };
	struct cgwb_output names = { 0 }, output = { 0 };
	const char **args = NULL;
	int ret;

	ret = apt_run(apt, "apt-cache", search, NULL, &names, error);
	if (ret < 0)
		goto out;
	args = show_args(names.out);
	if (!args) {
		ret = -ENOMEM;
		goto out;
	}
	ret = -ENOENT;
	if (!args[1])
		goto out;
	ret = apt_run(apt, "apt-cache", args, NULL, &output, error);
	if (ret >= 0)
		ret = package_pick(output.out, version, ret_package);
out:
	free(args);
	cgwb_output_done(&output);
	cgwb_output_done(&names);
	return ret;
}

static int check_download(const struct cgwb_apt_package *package, const char *path,
			  struct cgwb_error *error)
{
	char digest[CGWB_DIGEST_SIZE];
	struct stat st;
	int ret;

	if (stat(path, &st) < 0)
		return cgwb_error_set(error, -errno, "apt-get said that it fetched %s, but: %s",
				      path, strerror(errno));
	ret = cgwb_digest_file(path, digest);
	if (ret < 0)
		return cgwb_error_set(error, ret, "cannot read %s: %s", path, strerror(-ret));
	if ((uint64_t)st.st_size != package->size_bytes || strcmp(digest, package->sha256))
		return cgwb_error_set(error, -EBADMSG,
				      "%s is not what the archive says it should be: "
				      "%jd bytes, SHA-256 %s",
				      package->file, (intmax_t)st.st_size, digest);
	return 0;
}

int cgwb_apt_download(struct cgwb_apt *apt, const struct cgwb_apt_package *package,
		      const char *folder, struct cgwb_error *error)
{
	const char *args[] = { "download", NULL, NULL };
	struct cgwb_output output = { 0 };
	char *what, *path = NULL;
	int ret;

	if (asprintf(&what, "%s=%s", package->name, package->version) < 0)
		return -ENOMEM;
	args[1] = what;
	cgwb_context_step(apt->context, "fetching %s (%.1f MB)", package->file,
			  (double)package->size_bytes / 1e6);
	ret = apt_run(apt, "apt-get", args, folder, &output, error);
	if (ret > 0)
		ret = cgwb_error_set(error, -EHOSTUNREACH, "cannot fetch %s: %s", package->file,
				     apt_reason(&output));
	if (ret == 0 && asprintf(&path, "%s/%s", folder, package->file) < 0) {
		path = NULL;
		ret = -ENOMEM;
	}
	if (ret == 0)
		ret = check_download(package, path, error);
	free(path);
	free(what);
	cgwb_output_done(&output);
	return ret;
}
