// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernels from an archive that is there, is out of date, is damaged, or cannot be reached, and
 * kernels of the user's own. The archive is bin/apt-get and bin/apt-cache.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcgwb/digest.h"
#include "libcgwb/files.h"
#include "libcgwb/kernel.h"
#include "package.h"
#include "rig.h"

#define RELEASE "1.2.0-3-cloud-amd64"
#define NEWER "1.2.0-10-cloud-amd64"
#define PIN                                                                                        \
	"[1.2]\nrelease = " RELEASE "\nversion = 1.2.9-1\n"                                        \
	"newest = ^linux-image-1\\.2\\.0-[0-9]+-cloud-amd64$\n"

/* Puts a package into $RIG/pool, and into each of the lists named. */
static void publish(struct rig *rig, const char *lists, const char *name, const char *version,
		    const char *depends, const struct package_file *files)
{
	const char *deb = rig_path(rig, "pool/%s_%s_amd64.deb", name, version);
	char digest[CGWB_DIGEST_SIZE], stanza[1024], copy[64], *list, *rest = NULL;
	struct stat st;

	assert_int_equal(cgwb_mkdir_p(rig_path(rig, "pool")), 0);
	package_write(deb, files);
	assert_int_equal(cgwb_digest_file(deb, digest), 0);
	assert_int_equal(stat(deb, &st), 0);
	snprintf(stanza, sizeof(stanza),
		 "Package: %s\nVersion: %s\nInstalled-Size: 1\n%s%s%s"
		 "Filename: pool/x/%s_%s_amd64.deb\n"
		 "Size: %jd\nSHA256: %s\n",
		 name, version, *depends ? "Depends: " : "", depends, *depends ? "\n" : "", name,
		 version, (intmax_t)st.st_size, digest);
	snprintf(copy, sizeof(copy), "%s", lists);
	for (list = strtok_r(copy, " ", &rest); list; list = strtok_r(NULL, " ", &rest))
		rig_write_text(rig_path(rig, "%s/%s=%s", list, name, version), stanza);
}

/* A kernel: image, headers, their common part, build programs. */
static void publish_kernel(struct rig *rig, const char *lists, const char *release,
			   const char *version)
{
	char image[64], headers[64], depends[256], boot[64], module[96], makefile[96];
	const struct package_file image_files[] = { { boot, "bzImage" },
						    { module, "ko" },
						    { NULL } };
	const struct package_file header_files[] = {
		{ makefile, "include /usr/src/linux-headers-common/Makefile\n" }, { NULL }
	};
	static const struct package_file common_files[] = {
		{ "./usr/src/linux-headers-common/Makefile", "all:\n\techo $(MAKEFILE_LIST)\n" },
		{ NULL }
	};
	static const struct package_file kbuild_files[] = { { "./usr/lib/linux-kbuild/x", "" },
							    { NULL } };

	snprintf(image, sizeof(image), "linux-image-%s", release);
	snprintf(headers, sizeof(headers), "linux-headers-%s", release);
	snprintf(boot, sizeof(boot), "./boot/vmlinuz-%s", release);
	snprintf(module, sizeof(module), "./lib/modules/%s/kernel/a.ko", release);
	snprintf(makefile, sizeof(makefile), "./usr/src/linux-headers-%s/Makefile", release);
	snprintf(depends, sizeof(depends),
		 "gcc-12, linux-headers-common (= %s), linux-kbuild-1.2 (>= 1), linux-image-%s | x",
		 version, release);
	publish(rig, lists, image, version, "", image_files);
	publish(rig, lists, headers, version, depends, header_files);
	publish(rig, lists, "linux-headers-common", version, "", common_files);
	publish(rig, lists, "linux-kbuild-1.2", version, "", kbuild_files);
}

static int setup(void **state)
{
	struct rig *rig;
	int ret = rig_setup(state);

	rig = *state;
	if (ret < 0)
		return ret;
	free(rig->context.data_dir);
	rig->context.data_dir = strdup(rig_path(rig, "data-dir"));
	rig_write_text(rig_path(rig, "data-dir/data/kernels.ini"), PIN);
	return 0;
}

static int get(struct rig *rig, const char *name, struct cgwb_kernel *kernel)
{
	const struct cgwb_kernel_request request = { .name = name };

	return cgwb_kernel_get(&rig->context, &request, kernel, &rig->error);
}

static const char *get_error(struct rig *rig, const char *name, int expected)
{
	struct cgwb_kernel kernel;
	int ret = get(rig, name, &kernel);

	assert_int_equal(ret, expected);
	return rig_error(rig, ret);
}

static void get_release(struct rig *rig, const char *name, const char *release)
{
	struct cgwb_kernel kernel;
	int ret = get(rig, name, &kernel);

	if (ret < 0)
		print_message("# %s\n", rig_error(rig, ret));
	assert_int_equal(ret, 0);
	assert_string_equal(kernel.name, name);
	assert_string_equal(kernel.release, release);
	assert_int_equal(access(kernel.image, R_OK), 0);
	assert_int_equal(access(kernel.modules_dir, R_OK), 0);
	cgwb_kernel_done(&kernel);
}

/* What is in the cache but kernels that are whole: nothing, and locks. */
static void assert_clean(struct rig *rig, int kernels)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	json_t *list, *item;
	int cached = 0, folders = 0;
	size_t i;

	assert_int_equal(cgwb_kernel_list(&rig->context, &list, &error), 0);
	json_array_foreach(list, i, item)
		cached += json_is_true(json_object_get(item, "cached"));
	json_decref(list);
	assert_int_equal(cached, kernels);

	folders = rig_entries(rig_path(rig, "cgwb/kernels"));
	assert_true(folders <= 2 * kernels + 2);
	assert_int_equal(access(rig_path(rig, "cgwb/kernels/x.tmp"), F_OK), -1);
	assert_int_equal(system("ls \"$RIG\"/cgwb/kernels/*.tmp.* >/dev/null 2>&1") == 0, 0);
}

static void test_fetch(void **state)
{
	struct rig *rig = *state;
	char *makefile;

	publish_kernel(rig, "system", RELEASE, "1.2.9-1");
	get_release(rig, "1.2", RELEASE);
	assert_clean(rig, 1);
	assert_string_equal(rig->notices, "");
	assert_non_null(strstr(rig->steps, "fetching linux-kbuild-1.2_1.2.9-1_amd64.deb"));
	assert_int_equal(
		access(rig_path(rig, "cgwb/kernels/" RELEASE "/usr/lib/linux-kbuild/x"), F_OK), 0);
	assert_int_equal(access(rig_path(rig, "cgwb/kernels/" RELEASE "/debs"), F_OK), -1);

	/* The headers work from where they are. */
	assert_int_equal(
		cgwb_read_file(rig_path(rig, "cgwb/kernels/" RELEASE
					     "/usr/src/linux-headers-" RELEASE "/Makefile"),
			       &makefile, NULL),
		0);
	assert_null(strstr(makefile, " /usr/src"));
	free(makefile);
	assert_int_equal(system("make -s -C \"$RIG\"/cgwb/kernels/" RELEASE
				"/usr/src/linux-headers-" RELEASE " all | grep -q common/Makefile"),
			 0);

	/* From then on nobody is asked. */
	assert_int_equal(unlink(rig_path(rig, "apt.log")), 0);
	get_release(rig, "1.2", RELEASE);
	get_release(rig, RELEASE, RELEASE);
	get_release(rig, "1.2.9-1", RELEASE);
	assert_int_equal(access(rig_path(rig, "apt.log"), F_OK), -1);
}

/* The system's lists do not know it, newer ones do. */
static void test_own_lists(void **state)
{
	struct rig *rig = *state;

	publish_kernel(rig, "net", RELEASE, "1.2.9-1");
	get_release(rig, "1.2", RELEASE);
	assert_clean(rig, 1);
}

/* Another of the system's archives cannot be reached: all the same if this one can. */
static void test_other_archive(void **state)
{
	struct rig *rig = *state;

	publish_kernel(rig, "net", RELEASE, "1.2.9-1");
	rig_write_text(rig_path(rig, "partly"), "");
	assert_non_null(strstr(get_error(rig, "1.3.0-1-amd64", -EHOSTUNREACH), "other.example"));
	get_release(rig, "1.2", RELEASE);
	assert_string_equal(rig->notices, "");
}

static void test_gone(void **state)
{
	struct rig *rig = *state;

	publish_kernel(rig, "net", "1.2.0-9-cloud-amd64", "1.2.10-1");
	publish_kernel(rig, "net", NEWER, "1.2.11-1");
	publish_kernel(rig, "net", "1.2.0-11-amd64", "1.2.12-1");
	get_release(rig, "1.2", NEWER);
	assert_non_null(strstr(rig->notices, "kernel 1.2 should be " RELEASE
					     ", which the archive no longer has: using " NEWER));
	assert_clean(rig, 1);

	/* Who asks for that one gets no other. */
	assert_string_equal(get_error(rig, RELEASE, -ENOENT),
			    "no kernel " RELEASE ": the archive does not have it; without an "
			    "archive, give --kernel BZIMAGE");
	assert_string_equal(get_error(rig, "1.2.9-1", -ENOENT),
			    "no kernel 1.2.9-1: the archive does not have it; without an archive, "
			    "give --kernel BZIMAGE");
	get_release(rig, "1.2.10-1", "1.2.0-9-cloud-amd64");
}

static void test_offline(void **state)
{
	struct rig *rig = *state;

	rig_write_text(rig_path(rig, "offline"), "");
	assert_string_equal(get_error(rig, "1.2", -EHOSTUNREACH),
			    "no kernel 1.2: cannot fetch the archive's package lists: Failed to "
			    "fetch update: Could not connect to archive.example:80; without an "
			    "archive, give --kernel BZIMAGE");
	publish_kernel(rig, "system", RELEASE, "1.2.9-1");
	assert_non_null(strstr(get_error(rig, "1.2", -EHOSTUNREACH), "Could not connect"));
	assert_clean(rig, 0);

	/* One of the series that is there already will do, and it is said. */
	assert_int_equal(unlink(rig_path(rig, "offline")), 0);
	publish_kernel(rig, "system", NEWER, "1.2.11-1");
	get_release(rig, NEWER, NEWER);
	rig_write_text(rig_path(rig, "offline"), "");
	get_release(rig, "1.2", NEWER);
	assert_non_null(strstr(rig->notices, "which cannot be fetched now: using " NEWER));
}

static void test_no_apt(void **state)
{
	struct rig *rig = *state;

	setenv("PATH", "/proc/nonexistent", 1);
	/* The real one may be in an sbin folder of this host: then there is nothing to see. */
	if (access("/usr/sbin/apt-cache", X_OK) == 0)
		skip();
	assert_non_null(strstr(get_error(rig, "1.2", -ENOPKG), "apt-cache is not installed"));
}

/* What arrives is not what the archive promised. */
static void test_damaged(void **state)
{
	struct rig *rig = *state;
	const char *deb = rig_path(rig, "pool/linux-kbuild-1.2_1.2.9-1_amd64.deb");
	char *data;
	size_t size;

	publish_kernel(rig, "system", RELEASE, "1.2.9-1");
	assert_int_equal(cgwb_read_file(deb, &data, &size), 0);
	data[size / 2] ^= 1;
	rig_write(deb, data, size);
	free(data);
	assert_non_null(strstr(get_error(rig, RELEASE, -ENOENT), "archive does not have it"));
	assert_clean(rig, 0);
}

static void test_headers_missing(void **state)
{
	struct rig *rig = *state;

	publish_kernel(rig, "system net", RELEASE, "1.2.9-1");
	assert_int_equal(unlink(rig_path(rig, "system/linux-kbuild-1.2=1.2.9-1")), 0);
	assert_int_equal(unlink(rig_path(rig, "net/linux-kbuild-1.2=1.2.9-1")), 0);
	assert_non_null(strstr(get_error(rig, RELEASE, -ENOENT),
			       "the archive does not have linux-kbuild-1.2"));
	assert_clean(rig, 0);
}

/* The disk fills up at any point: an error, and nothing that looks like a kernel. */
static void test_full(void **state)
{
	struct rig *rig = *state;
	struct rlimit old, small;
	rlim_t bytes;
	int ret;

	publish_kernel(rig, "system", RELEASE, "1.2.9-1");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	for (bytes = 0; bytes < 600; bytes += 100) {
		struct cgwb_kernel kernel;

		small = (struct rlimit){ bytes, old.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		ret = get(rig, RELEASE, &kernel);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		if (ret == 0)
			cgwb_kernel_done(&kernel);
		else
			assert_true(*rig_error(rig, ret) != '\0');
		assert_clean(rig, ret == 0);
		assert_int_equal(cgwb_remove(rig_path(rig, "cgwb/kernels")), 0);
	}
}

static void test_names(void **state)
{
	struct rig *rig = *state;

	assert_non_null(strstr(get_error(rig, "1.3", -EINVAL), "no kernel is called '1.3'"));
	assert_non_null(strstr(get_error(rig, "1.3", -EINVAL), "did you mean 1.2?"));
	assert_non_null(strstr(get_error(rig, "", -EINVAL), "no kernel is called ''"));
}

static void test_own_kernel(void **state)
{
	struct rig *rig = *state;
	struct cgwb_kernel_request request = { .name = rig_path(rig, "bzImage") };
	struct cgwb_kernel kernel;

	assert_non_null(strstr(get_error(rig, request.name, -ENOENT), "No such file"));
	rig_write_text(request.name, "no kernel");
	assert_non_null(strstr(get_error(rig, request.name, -ENOEXEC), "no Linux kernel image"));

	rig_write_image(request.name, "5.4.3-own");
	assert_int_equal(cgwb_kernel_get(&rig->context, &request, &kernel, NULL), 0);
	assert_string_equal(kernel.release, "5.4.3-own");
	assert_null(kernel.modules_dir);
	assert_null(kernel.headers_dir);
	cgwb_kernel_done(&kernel);

	/* A root folder of modules, with a link to what they were built with. */
	rig_write_text(rig_path(rig, "root/lib/modules/5.4.3-own/build/Makefile"), "");
	request.modules_dir = rig_path(rig, "root");
	assert_int_equal(cgwb_kernel_get(&rig->context, &request, &kernel, NULL), 0);
	assert_string_equal(kernel.modules_dir, rig_path(rig, "root/lib/modules/5.4.3-own"));
	assert_string_equal(kernel.headers_dir, rig_path(rig, "root/lib/modules/5.4.3-own/build"));
	cgwb_kernel_done(&kernel);

	request.headers_dir = rig_path(rig, "root");
	assert_int_equal(cgwb_kernel_get(&rig->context, &request, &kernel, &rig->error), -ENOENT);
	assert_non_null(strstr(rig_error(rig, -ENOENT), "has no Makefile"));
	request.modules_dir = rig_path(rig, "nothing");
	assert_int_equal(cgwb_kernel_get(&rig->context, &request, &kernel, &rig->error), -ENOENT);
	assert_non_null(strstr(rig_error(rig, -ENOENT), "the kernel's modules"));

	request.name = "1.2";
	assert_int_equal(cgwb_kernel_get(&rig->context, &request, &kernel, &rig->error), -EINVAL);
	assert_non_null(strstr(rig_error(rig, -EINVAL), "kernel 1.2 brings its own"));
}

static void test_prune(void **state)
{
	struct rig *rig = *state;
	json_t *removed;

	publish_kernel(rig, "system", RELEASE, "1.2.9-1");
	publish_kernel(rig, "system", NEWER, "1.2.11-1");
	get_release(rig, "1.2", RELEASE);
	get_release(rig, NEWER, NEWER);
	rig_write_text(rig_path(rig, "cgwb/modules/" NEWER "/cgwb-1/cgwb.ko"), "");

	assert_int_equal(cgwb_kernel_prune(&rig->context, false, &removed, NULL), 0);
	assert_int_equal(json_array_size(removed), 1);
	assert_string_equal(json_string_value(json_array_get(removed, 0)), NEWER);
	json_decref(removed);
	assert_clean(rig, 1);
	assert_int_equal(access(rig_path(rig, "cgwb/modules/" NEWER), F_OK), -1);

	assert_int_equal(cgwb_kernel_prune(&rig->context, true, &removed, NULL), 0);
	json_decref(removed);
	assert_clean(rig, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fetch),   TEST(test_own_lists), TEST(test_other_archive),
		TEST(test_gone),    TEST(test_offline),	  TEST(test_no_apt),
		TEST(test_damaged), TEST(test_full),	  TEST(test_headers_missing),
		TEST(test_names),   TEST(test_prune),	  TEST(test_own_kernel),
	};

	return cmocka_run_group_tests_name("kernel", tests, NULL, NULL);
}
