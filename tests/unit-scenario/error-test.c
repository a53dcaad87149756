// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is wrong in a scenario, and the exact line that says so.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define BODY SCENARIO DISK MOUNT
#define FILES_JOB "[job d]\nengine = files\ndirectory = /data/d\nduration = 1s\n"
#define FIO_JOB "[job f]\nengine = fio\nfilename = /data/f\nrw = write\nsize = 1M\n"

static const struct {
	const char *text;
	const char *error;
} cases[] = {
	/* The text itself. */
	{ "", "t.ini: no section [scenario]" },
	{ "; nothing\n\n", "t.ini: no section [scenario]" },
	{ "title = t\n", "t.ini:1: a key before the first section" },
	{ "[scenario\n", "t.ini:1: a section is written [kind name]: no ']'" },
	{ "[scenario] x\n", "t.ini:1: text after the section's ']'" },
	{ SCENARIO "kernel\n", "t.ini:3: a line is written KEY = VALUE: no '='" },
	{ SCENARIO "kernel ; = 6.1\n", "t.ini:3: a line is written KEY = VALUE: no '='" },
	{ SCENARIO "kernel: 6.1\n", "t.ini:3: a line is written KEY = VALUE: ':' instead of '='" },
	{ SCENARIO "= 6.1\n", "t.ini:3: a line is written KEY = VALUE: no key" },
	{ SCENARIO "kernel =\n", "t.ini:3: kernel has no value" },
	{ SCENARIO "kernel = ; none\n", "t.ini:3: kernel has no value" },
	{ SCENARIO "title = u\n", "t.ini:3: title is already set at line 2" },
	{ BODY "\n[disk nb0]\n", "t.ini:9: section [disk nb0] is already at line 3" },
	{ SCENARIO DISK "[scenario]\n", "t.ini:5: section [scenario] is already at line 1" },

	{ SCENARIO "source = \xff\n", "t.ini:3: not UTF-8" },
	{ "; \xc3(\n", "t.ini:1: not UTF-8" },
	{ SCENARIO "source = \xc3\nkernel = 6.1\n", "t.ini:3: not UTF-8" },
	{ SCENARIO "source = \xe2\x82", "t.ini:3: not UTF-8" },
	{ SCENARIO "source = \xc0\xaf\n", "t.ini:3: not UTF-8" },
	{ SCENARIO "source = \xe0\x9f\xbf\n", "t.ini:3: not UTF-8" },
	{ SCENARIO "source = \xed\xa0\x80\n", "t.ini:3: not UTF-8" },
	{ SCENARIO "source = \xf4\x90\x80\x80\n", "t.ini:3: not UTF-8" },
	{ SCENARIO "[mount /\xff]\n", "t.ini:3: not UTF-8" },
	{ SCENARIO "source = \033[31m\n", "t.ini:3: a control character" },
	{ SCENARIO "; \b\n", "t.ini:3: a control character" },
	{ SCENARIO "source = \x7f\n", "t.ini:3: a control character" },
	{ SCENARIO "source = \xc2\x9b"
		   "31m\n",
	  "t.ini:3: a control character" },
	{ SCENARIO "source = a\rb\n", "t.ini:3: a control character" },

	/* Sections. */
	{ SCENARIO "[dsik nb0]\n", "t.ini:3: unknown section [dsik]; did you mean disk?" },
	{ SCENARIO "[zebra]\n", "t.ini:3: unknown section [zebra]" },
	{ SCENARIO "[]\n", "t.ini:3: unknown section []" },
	{ SCENARIO "[machine big]\n", "t.ini:3: [machine big]: this section has no name" },
	{ SCENARIO "[disk]\n", "t.ini:3: [disk]: its name is wanted: letters, digits, - _ ." },
	{ SCENARIO "[disk a b]\n",
	  "t.ini:3: [disk a b]: its name is wanted: letters, digits, - _ ." },
	{ SCENARIO "[disk ../x]\n",
	  "t.ini:3: [disk ../x]: its name is wanted: letters, digits, - _ ." },
	{ SCENARIO "[mount data]\n", "t.ini:3: [mount data]: its absolute path is wanted" },
	{ SCENARIO "[mount /]\n", "t.ini:3: [mount /]: its absolute path is wanted" },
	{ SCENARIO "[cgroup /a/../b]\n", "t.ini:3: [cgroup /a/../b]: its absolute path is wanted" },
	{ "[scenario]\nkernel = 6.1\n", "t.ini:1: [scenario] has no title" },
	{ SCENARIO "[disk nb0]\n", "t.ini:3: [disk nb0] has no size" },
	{ SCENARIO "[job j]\nstart = 1s\n", "t.ini:3: [job j] has no engine" },
	{ SCENARIO "[job j]\nengine = files\nduration = 1s\n",
	  "t.ini:3: [job j] has no directory" },
	{ SCENARIO, "t.ini: no section [variant NAME]: there is nothing to run" },

	/* Keys. */
	{ SCENARIO "kernle = 6.1\n",
	  "t.ini:3: unknown key kernle in [scenario]; did you mean kernel?" },
	{ BODY "lazy = 1\n", "t.ini:8: unknown key lazy in [mount /data]" },
	{ SCENARIO "[disk nb0]\nsize = 1G\nlatancy = 1us\n",
	  "t.ini:5: unknown key latancy in [disk nb0]; did you mean latency?" },
	{ SCENARIO "[cgroup /a]\nmemory.hihg = 1M\n",
	  "t.ini:4: unknown key memory.hihg in [cgroup /a]; did you mean memory.high?" },
	{ SCENARIO "[sysctl]\ndirty_ratio = 1\n",
	  "t.ini:4: unknown key dirty_ratio in [sysctl]; did you mean vm.dirty_ratio?" },
	{ SCENARIO "[sysctl]\nvm.dirty_rato = 1\n",
	  "t.ini:4: unknown key vm.dirty_rato in [sysctl]; did you mean vm.dirty_ratio?" },
	{ SCENARIO "[job f]\nengine = fio\niodpeth = 32\n",
	  "t.ini:5: unknown key iodpeth in [job f]; did you mean iodepth?" },
	{ SCENARIO "[job f]\nengine = fio\nnumjobs = 4\n",
	  "t.ini:5: unknown key numjobs in [job f]" },
	{ SCENARIO "[job d]\nengine = files\ndirectory = /d\nrw = write\n",
	  "t.ini:6: unknown key rw in [job d]" },

	/* Values. */
	{ SCENARIO "[disk nb0]\nsize = 8GB\n",
	  "t.ini:4: size = 8GB: not a size (bytes, or with K, M, G, T, P)" },
	{ SCENARIO "[disk nb0]\nsize = 16384P\n", "t.ini:4: size = 16384P: too large" },
	{ SCENARIO "[disk nb0]\nsize = 9P\nlatency = 80\n",
	  "t.ini:5: latency = 80: not a time (a number with ns, us, ms, s, m or h)" },
	{ SCENARIO "[disk nb0]\nsize = 4K\n", "t.ini:4: size = 4K: it is at least 1M" },
	{ SCENARIO "[disk nb0]\nsize = 1G\ndepth = 65536\n",
	  "t.ini:5: depth = 65536: it is at most 65535" },
	{ SCENARIO "[disk nb0]\nsize = 1G\nwbt = on\n",
	  "t.ini:5: wbt = on: not a time (a number with ns, us, ms, s, m or h)" },
	{ SCENARIO "seeds = 0\n", "t.ini:3: seeds = 0: it is at least 1" },
	{ SCENARIO "seeds = 1.5\n", "t.ini:3: seeds = 1.5: not a number" },
	{ SCENARIO "kernel = 6.1 6.12\n", "t.ini:3: kernel = 6.1 6.12: one word is wanted" },
	{ SCENARIO "variants = a,,b\n",
	  "t.ini:3: variants = a,,b: names are wanted, between commas" },
	{ SCENARIO "variants = a b\n",
	  "t.ini:3: variants = a b: names are wanted, between commas" },
	{ SCENARIO "variants = a, ab,b ,\tab\n",
	  "t.ini:3: variants = a, ab,b ,\tab: ab stands there twice" },
	{ SCENARIO "modules = xfs, xfs\n", "t.ini:3: modules = xfs, xfs: xfs stands there twice" },
	{ BODY VARIANT "[quick]\nvariants = stock,stock\n",
	  "t.ini:11: variants = stock,stock: stock stands there twice" },
	{ SCENARIO "policy = mappin\n",
	  "t.ini:3: policy = mappin: it is one of none stock skip mapping precise off; did you mean mapping?" },
	{ SCENARIO "policy = stock\npolicy_parameters = dedupe\n",
	  "t.ini:4: policy_parameters = dedupe: NAME=VALUE words are wanted" },
	{ SCENARIO "[job j]\nengine = foi\n",
	  "t.ini:4: engine = foi: it is one of fio files pages exec; did you mean fio?" },
	{ SCENARIO "[job j]\nengine = exec\nprogram = a\ncgroup = a\n",
	  "t.ini:6: cgroup = a: an absolute path is wanted" },
	{ SCENARIO "[cgroup /a]\nmemory.high = lots\n",
	  "t.ini:4: memory.high = lots: lots is no setting of it" },
	{ SCENARIO DISK "[cgroup /a]\nio.max = nb0 wbsp=2M\n",
	  "t.ini:6: io.max = nb0 wbsp=2M: wbsp=2M is no setting of it" },
	{ SCENARIO DISK "[cgroup /a]\nio.max = nb0 wbps=2X\n",
	  "t.ini:6: io.max = nb0 wbps=2X: wbps=2X is no setting of it" },

	/* What sections say of each other. */
	{ SCENARIO DISK "[mount /data]\ndisk = nb1\ntype = ext4\n" VARIANT,
	  "t.ini:6: disk: there is no [disk nb1]; did you mean nb0?" },
	{ BODY "[mount /more]\ndisk = nb0\ntype = ext4\n" VARIANT,
	  "t.ini:9: disk = nb0: the disk is already mounted elsewhere" },
	{ BODY "[file /dta/x]\nsize = 1M\n" VARIANT,
	  "t.ini:8: [file /dta/x]: it does not lie under any [mount]" },
	{ BODY "[file /data]\nsize = 1M\n" VARIANT, "t.ini:8: [file /data]: it is a [mount]" },
	{ BODY "[file /data/x]\nsize = 65M\n" VARIANT,
	  "t.ini:9: size = 65M: the files are larger than the disk of their mount" },
	{ BODY "[file /data/x]\nsize = 60M\n[file /data/y]\nsize = 5M\n" VARIANT,
	  "t.ini:11: size = 5M: the files are larger than the disk of their mount" },
	{ BODY "[file /data/x]\nsize = 9M\n" VARIANT "[variant b]\n/data/x.size = 1G\n",
	  "t.ini:13: size = 1G: the files are larger than the disk of their mount" },
	{ SCENARIO DISK "[mount /proc]\ndisk = nb0\ntype = ext4\n" VARIANT,
	  "t.ini:5: [mount /proc]: the guest needs that place itself" },
	{ SCENARIO DISK "[mount /lib/x]\ndisk = nb0\ntype = ext4\n" VARIANT,
	  "t.ini:5: [mount /lib/x]: the guest needs that place itself" },
	{ BODY "[cgroup /a/b]\n" VARIANT,
	  "t.ini:8: [cgroup /a/b]: there is no [cgroup] for its parent" },
	{ BODY "[cgroup /a/b]\n[cgroup /a]\n" VARIANT,
	  "t.ini:8: [cgroup /a/b]: its parent stands after it" },
	{ BODY "[cgroup /a]\ncount = 2\n[cgroup /a/b]\n" VARIANT,
	  "t.ini:10: [cgroup /a/b]: its parent has a count" },
	{ BODY "[cgroup /a]\nio.max = nb1 wbps=1M\n" VARIANT,
	  "t.ini:9: io.max: there is no [disk nb1]; did you mean nb0?" },
	{ BODY "[cgroup /a]\ncount = 2\n[cgroup /a1]\n" VARIANT,
	  "t.ini:10: [cgroup /a1]: the count of another section makes that name too" },
	{ BODY "[cgroup /d]\n" FILES_JOB "cgroup = /e\n" VARIANT,
	  "t.ini:13: cgroup: there is no [cgroup /e]; did you mean /d?" },
	{ BODY "[cgroup /dirtier]\n" FILES_JOB "cgroup = /dirtire\n" VARIANT,
	  "t.ini:13: cgroup: there is no [cgroup /dirtire]; did you mean /dirtier?" },
	{ BODY "[job d]\nengine = files\ndirectory = /daat/d\nduration = 1s\n" VARIANT,
	  "t.ini:10: directory: /daat/d does not lie under any [mount]" },
	{ BODY "[job d]\nengine = files\ndirectory = /data/%c\nduration = 1s\n" VARIANT,
	  "t.ini:10: directory = /data/%c: %c is the cgroup's name, and the job has no cgroup" },
	{ BODY "[job d]\nengine = pages\nfilename = /data/d\nsize = 4K\n" VARIANT,
	  "t.ini:8: [job d]: it would never end: neither a duration nor passes" },
	{ BODY "[job d]\nengine = pages\nfilename = /data/d\nsize = 5K\npasses = 1\n" VARIANT,
	  "t.ini:11: size = 5K: not in whole pages of 4K" },
	{ BODY "[job d]\nengine = pages\nfilename = /daat/d\nsize = 4K\npasses = 1\n" VARIANT,
	  "t.ini:10: filename: /daat/d does not lie under any [mount]" },
	{ BODY "[job d]\nengine = files\ndirectory = /data/d\n" VARIANT,
	  "t.ini:8: [job d]: it would never end: neither a duration nor files" },
	{ BODY FILES_JOB "data_every = 5\n" VARIANT,
	  "t.ini:8: [job d]: data_every without data_size" },
	{ BODY FILES_JOB "data_every = 5\ndata_size = 2M\ndata_span = 1M\n" VARIANT,
	  "t.ini:8: [job d]: data_span is smaller than data_size" },
	{ BODY "[job f]\nengine = fio\nfilename = /data/a:/dev/nb1\n" VARIANT,
	  "t.ini:10: filename: /dev/nb1 does not lie under any [mount]" },
	{ BODY "[job f]\nengine = fio\ndirectory = /data/a:/etc\n" VARIANT,
	  "t.ini:10: directory: /etc does not lie under any [mount]" },
	{ BODY "[job f]\nengine = fio\nfilename = /data/a:/data/../etc/x\n" VARIANT,
	  "t.ini:10: filename = /data/a:/data/../etc/x: a path with no .. is wanted" },
	{ BODY "[job f]\nengine = fio\nfilename = a/..\ndirectory = /data\n" VARIANT,
	  "t.ini:10: filename = a/..: a path with no .. is wanted" },
	{ BODY "[job f]\nengine = fio\ndirectory = /data/..\n" VARIANT,
	  "t.ini:10: directory = /data/..: a path with no .. is wanted" },
	{ BODY "[job f]\nengine = fio\ndirectory = /data\nfilename_format = ../$jobnum\n" VARIANT,
	  "t.ini:11: filename_format = ../$jobnum: a path with no .. is wanted" },
	{ BODY FIO_JOB "[measure m]\nkind = file-writes\nfile = /data/g\n" VARIANT,
	  "t.ini:15: file = /data/g: neither a [file] nor the filename of a job; "
	  "did you mean /data/f?" },
	{ BODY FIO_JOB "[measure m]\nkind = file-writes\n" VARIANT,
	  "t.ini:13: [measure m]: file-writes of which file?" },
	{ BODY
	  "[job e]\nengine = exec\nprogram = x\n[measure m]\nkind = job-count\njob = e\n" VARIANT,
	  "t.ini:13: job = e: the engine exec counts nothing" },
	{ SCENARIO "measured_job = e\n[job e]\nengine = exec\nprogram = x\n" VARIANT,
	  "t.ini:3: measured_job = e: the engine exec measures nothing" },
	{ BODY FILES_JOB "[measure m]\nkind = job-p99\njob = d\n" VARIANT,
	  "t.ini:14: job = d: only the engine fio has latencies" },
	{ BODY FILES_JOB "[measure m]\nkind = job-rate\nfile = /data/f\njob = d\n" VARIANT,
	  "t.ini:14: file = /data/f: job-rate takes a job" },
	{ BODY FILES_JOB "[cgroup /a]\n[measure m]\nkind = throttled\ncgroup = /b\n" VARIANT,
	  "t.ini:15: cgroup: there is no [cgroup /b]; did you mean /a?" },
	{ BODY FILES_JOB "[measure m]\nkind = throttled\n" VARIANT,
	  "t.ini:12: [measure m]: throttled of which cgroup?" },
	{ BODY "[cgroup /a]\n[measure m]\nkind = pressure\ncgroup = /a\nresource = io\n" VARIANT,
	  "t.ini:9: [measure m]: pressure of which share?" },
	{ BODY "[cgroup /a]\n[measure m]\nkind = memory-event\nevent = omo\n" VARIANT,
	  "t.ini:11: event = omo: it is one of low high max oom oom_kill oom_group_kill; "
	  "did you mean oom?" },
	{ BODY "[measure m]\nkind = disk-writes\ndisk = nb1\n" VARIANT,
	  "t.ini:10: disk: there is no [disk nb1]; did you mean nb0?" },
	{ BODY "[cgroup /a]\nremove = yes\n" VARIANT,
	  "t.ini:9: remove = yes: there is no job in it" },
	{ BODY "[cgroup /a]\nremove = yes\n[cgroup /a/b]\n" FILES_JOB "cgroup = /a\n" VARIANT,
	  "t.ini:9: remove = yes: there is another cgroup within it" },
	{ BODY "[cgroup /a]\n[measure m]\nkind = free-delay\ncgroup = /a\n" VARIANT,
	  "t.ini:11: cgroup = /a: it is not removed" },
	{ BODY "[cgroup /a]\nremove = yes\n[cgroup /b]\nremove = yes\n" FILES_JOB
	       "cgroup = /a\n[job e]\nengine = exec\nprogram = x\ncgroup = /b\n"
	       "[measure m]\nkind = free-delay\ncgroup = /a\n" VARIANT,
	  "t.ini:23: cgroup = /a: another cgroup is removed as well" },
	{ BODY "[measure m]\nkind = policy-stat\nstat = x\nshare = some\n" VARIANT,
	  "t.ini:11: share = some: policy-stat takes a stat" },
	{ BODY FILES_JOB "[measure m]\nkind = job-count\njob = e\n" VARIANT,
	  "t.ini:14: job: there is no [job e]" },
	{ BODY FILES_JOB "[measure p99_ms]\nkind = job-count\njob = d\n" VARIANT,
	  "t.ini:12: [measure p99_ms]: every cell has a measure of that name" },
	{ SCENARIO "variants = stokc\n" DISK MOUNT VARIANT,
	  "t.ini:3: variants: there is no [variant stokc]; did you mean stock?" },
	{ SCENARIO "base = floor\n" DISK MOUNT VARIANT,
	  "t.ini:3: base: there is no [variant floor]" },
	{ SCENARIO "measured_job = foo\n" DISK MOUNT FIO_JOB VARIANT,
	  "t.ini:3: measured_job: there is no [job foo]" },
	{ SCENARIO "measured_job = d\n" DISK MOUNT "[cgroup /d]\ncount = 2\n" FILES_JOB
		   "cgroup = /d\n" VARIANT,
	  "t.ini:3: measured_job = d: the measured job is in a group of cgroups" },

	/* What cannot be made of it. */
	{ BODY "[machine]\nmemory = 64M\n" VARIANT,
	  "t.ini:9: memory = 64M: a guest needs at least 512M" },
	{ BODY "[machine]\nmemory = 1000000000\n" VARIANT,
	  "t.ini:9: memory = 1000000000: it is a multiple of 2M" },
	{ BODY "[machine]\nmemory = 2T\n" VARIANT,
	  "t.ini:9: memory = 2T: a guest cannot have that much" },
	{ SCENARIO "[disk nb0]\nsize = 1T\n" MOUNT VARIANT,
	  "t.ini:4: size = 1T: memory and disks do not fit in 1 TiB" },
	{ SCENARIO "[disk nb0]\nsize = 1048577\n" MOUNT VARIANT,
	  "t.ini:4: size = 1048577: it is a multiple of 4K" },
	{ BODY "[machine]\nmemory = 0\n" VARIANT,
	  "t.ini:9: memory = 0: a guest needs at least 512M" },
	{ BODY "mkfs = -qFU random\n" VARIANT, "t.ini:8: mkfs = -qFU random: the seed decides -U" },
	{ BODY "mkfs = -FEhash_seed=x\n" VARIANT,
	  "t.ini:8: mkfs = -FEhash_seed=x: the seed decides hash_seed" },
	{ BODY "mkfs = -L \"a b\n" VARIANT,
	  "t.ini:8: mkfs = -L \"a b: words between blanks, no quotes" },
	{ BODY "mkfs = -U random\n" VARIANT, "t.ini:8: mkfs = -U random: the seed decides -U" },
	{ BODY "mkfs = -E nodiscard -E hash_seed=x\n" VARIANT,
	  "t.ini:8: mkfs = -E nodiscard -E hash_seed=x: the seed decides hash_seed" },
	{ SCENARIO "policy_parameters = a=1\n" DISK "[variant none]\n",
	  "t.ini:3: policy_parameters = a=1: there is no policy that takes them" },
	{ BODY "[job e]\nengine = exec\nprogram = x\nargs = a \"b c\n" VARIANT,
	  "t.ini:11: args = a \"b c: a quote is not closed" },
	{ BODY "[job e]\nengine = exec\nprogram = a/x\n[job g]\nengine = exec\n"
	       "program = b/x\n" VARIANT,
	  "t.ini:13: program = b/x: another program has that name in the guest" },

	/* Variants and the quick form: the override's line, and the value's if that is wrong. */
	{ BODY VARIANT "[variant b]\npolcy = skip\n",
	  "t.ini:11: polcy: neither drop, nor a key of [scenario], nor SECTION.KEY; "
	  "did you mean policy?" },
	{ BODY VARIANT "[variant b]\npolicy = skpi\n",
	  "t.ini:11: policy = skpi: it is one of none stock skip mapping precise off; did you mean skip?" },
	{ BODY VARIANT "[variant b]\nnb0.wrte = 1M\n",
	  "t.ini:11: nb0.wrte: no such key: wrte; did you mean write?" },
	{ BODY VARIANT "[variant b]\nnb1.write = 1M\n",
	  "t.ini:11: nb1.write: no section has that name; did you mean nb0?" },
	{ BODY VARIANT "[variant b]\nnb0.write = fast\n",
	  "t.ini:11: write = fast: not a size (bytes, or with K, M, G, T, P)" },
	{ BODY "[cgroup /a]\n[job a]\nengine = fio\nfilename = /data/a\n[disk a]\nsize = 1M\n"
	       "[file /data/b]\nsize = 1M\n" VARIANT "[variant b]\na.size = 2M\n",
	  "t.ini:19: a.size: which one? [job a] or [disk a]" },
	{ BODY FILES_JOB VARIANT "[variant b]\ndrop = dd\n",
	  "t.ini:15: drop: no job or cgroup dd; did you mean d?" },
	{ SCENARIO "measured_job = f\n" DISK MOUNT FIO_JOB VARIANT "[variant b]\ndrop = f\n",
	  "t.ini:3: measured_job: there is no [job f]" },
	{ BODY "[cgroup /d]\n" FILES_JOB "cgroup = /d\n" VARIANT
	       "[variant b]\nd.cgroup =\n[quick]\nmachine.memory = 1M\n",
	  "t.ini:19: memory = 1M: a guest needs at least 512M" },
	{ BODY VARIANT "[quick]\nvariants = mapping\n",
	  "t.ini:11: variants: there is no [variant mapping]" },

	/* Expectations. */
	{ BODY VARIANT "[expect]\nstock.seconds\n", "t.ini:11: one of <= >= == < > is wanted: " },
	{ BODY VARIANT "[expect]\nstock.seconds = 1\n",
	  "t.ini:11: one of <= >= == < > is wanted: = 1" },
	{ BODY VARIANT "[expect]\nstok.seconds < 1\n",
	  "t.ini:11: there is no variant stok; did you mean stock?" },
	{ BODY VARIANT "[expect]\nstock.second < 1\n",
	  "t.ini:11: there is no measure second; did you mean seconds?" },
	{ BODY VARIANT "[expect]\nseconds < 1\n", "t.ini:11: VARIANT.MEASURE is wanted: seconds" },
	{ BODY VARIANT "[expect]\n\nstock.seconds < (1 + 2\n",
	  "t.ini:12: a parenthesis is not closed" },
	{ BODY VARIANT "[expect]\nstock.seconds < 1 2\n", "t.ini:11: too much: 2" },
	{ BODY VARIANT "[expect]\nstock.seconds < 0x10\n",
	  "t.ini:11: VARIANT.MEASURE is wanted: 0x10" },
	{ BODY VARIANT "[expect]\nstock.seconds < \n", "t.ini:11: VARIANT.MEASURE is wanted: " },
};

static void test_errors(void **state)
{
	int wrong = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *error = text_error(cases[i].text);

		if (strcmp(error, cases[i].error)) {
			print_error("\n%s\nsays: %s\nwant: %s\n", cases[i].text, error,
				    cases[i].error);
			wrong++;
		}
		free(error);
	}
	assert_int_equal(wrong, 0);
}

/* The pieces are right by themselves, or the table above would prove nothing. */
static void test_no_error(void **state)
{
	static const char *const right[] = {
		BODY VARIANT,
		BODY FIO_JOB VARIANT,
		BODY "mkfs = -qLU -FE nodiscard\n[file /data/x]\nsize = 32M\n[file /data/y]\n"
		     "size = 32M\n" VARIANT,
		SCENARIO DISK "[mount /library]\ndisk = nb0\ntype = ext4\n" VARIANT,
		BODY
		"[job f]\nengine = fio\ndirectory = /data/a:/tmp\nfilename = ..a:b../c...\n" VARIANT,
		BODY "[cgroup /d]\n" FILES_JOB "cgroup = /d\n" VARIANT "[expect]\n"
		     "stock.seconds < 1\n",
		"\xef\xbb\xbf" BODY VARIANT,
		"[scenario]\r\ntitle = t\r\n[variant a]\r\n",
		"[scenario]\ntitle = \xc3\xa9\t\xc2\xa0\xe2\x82\xac\xed\x9f\xbf\xf0\x9f\x98\x80\n[variant a]",
		"  [scenario]  ; x\n\ttitle = t ; x\n  # y\n[ variant   a ]",
	};

	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
		char *error = text_error(right[i]);

		assert_string_equal(error, "");
		free(error);
	}
}

/* A line that is too long is refused, not cut off; the longest that fits is kept whole. */
static void test_long_lines(void **state)
{
	char text[1024], title[512], *error;
	struct cgwb_scenario *scenario;
	size_t longest = 0;

	for (size_t length = 1; length < sizeof(title); length++) {
		memset(title, 'x', length);
		title[length] = '\0';
		snprintf(text, sizeof(text), "[scenario]\ntitle = %s\n[variant a]\n", title);
		error = text_error(text);
		if (*error) {
			assert_string_equal(strstr(error, "the line is longer than ") ? "" : error,
					    "");
			assert_memory_equal(error, "t.ini:2: ", 9);
		} else {
			assert_int_equal(length, longest + 1);
			longest = length;
			scenario = text_scenario(text);
			assert_string_equal(cgwb_scenario_title(scenario), title);
			cgwb_scenario_free(scenario);
		}
		free(error);
	}
	assert_true(longest > 150);

	/* A comment may be as long as it likes. */
	memset(title, 'x', sizeof(title) - 1);
	title[sizeof(title) - 1] = '\0';
	snprintf(text, sizeof(text), "; %s\n" SCENARIO VARIANT, title);
	error = text_error(text);
	assert_string_equal(error, "");
	free(error);
}

/* Not text, and without end. */
static void test_hostile(void **state)
{
	struct cgwb_error error = CGWB_ERROR_INIT;
	struct cgwb_scenario *scenario;
	char nul[] = "[scenario]\ntitle = a\0b\n", *line;
	FILE *stream = fmemopen(nul, sizeof(nul) - 1, "r");
	int err;

	err = cgwb_scenario_read_stream(stream, "t.ini", &scenario, &error);
	fclose(stream);
	line = cgwb_error_line(&error, err);
	assert_string_equal(line, "t.ini:2: a NUL byte in the text");
	free(line);
	cgwb_error_done(&error);

	stream = fopen("/dev/zero", "r");
	assert_int_equal(cgwb_scenario_read_stream(stream, "zero", &scenario, NULL) < 0, 1);
	fclose(stream);

	stream = tmpfile();
	for (int i = 0; i < 40000; i++)
		fprintf(stream, "; %030d\n", i);
	rewind(stream);
	err = cgwb_scenario_read_stream(stream, "big", &scenario, &error);
	fclose(stream);
	assert_int_equal(err, -EINVAL);
	cgwb_error_done(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_error),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("errors", tests, NULL, NULL);
}
