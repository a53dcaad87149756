/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scenario: an experiment in a file, as cgwb-scenario(5) describes it.
 *
 * Reading one checks all of it: every section, key, value and name, every variant with its
 * overrides, in the full and the quick form, down to whether its memory can be laid out, and every
 * expectation. So what has been read can be run, and whatever is wrong in the file has been said
 * with its line.
 *
 * Everything returned is borrowed, and lives as long as the scenario, unless it says otherwise.
 */
#ifndef CGWB_SCENARIO_H
#define CGWB_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "error.h"
#include "names.h"

struct cgwb_scenario;
struct cgwb_expectation;
struct sections;

/* Reads a file. -ENOENT and the like; -EINVAL: something in it is wrong, or it is no file; -ENOMEM. */
int cgwb_scenario_read(const char *path, struct cgwb_scenario **ret_scenario,
		       struct cgwb_error *error);

/*
 * Reads a stream to its end; `file` is the name for errors, and what its relative paths are
 * relative to. The scenario's name is the file's, without folders and `.ini`.
 */
int cgwb_scenario_read_stream(FILE *stream, const char *file, struct cgwb_scenario **ret_scenario,
			      struct cgwb_error *error);

/*
 * Reads the scenario that a user names: a path, if it has a slash or ends in `.ini`, else
 * DATA_DIR/scenarios/NAME.ini. What it names of the published figures must be there too.
 * -ENOENT with the nearest name; else as cgwb_scenario_read().
 */
int cgwb_scenario_find(const char *data_dir, const char *name, struct cgwb_scenario **ret_scenario,
		       struct cgwb_error *error);

/* NULL-safe, returns NULL */
struct cgwb_scenario *cgwb_scenario_free(struct cgwb_scenario *scenario);

/*
 * The names of all scenarios in DATA_DIR/scenarios, sorted; the caller frees the list with
 * cgwb_names_free(). Nothing is read: a broken one is listed too.
 */
int cgwb_scenario_names(const char *data_dir, char ***ret_names, struct cgwb_error *error);

const char *cgwb_scenario_name(const struct cgwb_scenario *scenario);
const char *cgwb_scenario_file(const struct cgwb_scenario *scenario);
const char *cgwb_scenario_title(const struct cgwb_scenario *scenario);
const char *cgwb_scenario_source(const struct cgwb_scenario *scenario); /* NULL: none is given */

/* How many seeds a run has unless its user says otherwise; they are 1, 2, ... */
unsigned int cgwb_scenario_seeds(const struct cgwb_scenario *scenario, bool quick);

/*
 * The variants that a run has unless its user says otherwise, in the order of tables; all that
 * there are, in the order of the file. NULL-terminated.
 */
const char *const *cgwb_scenario_variants(const struct cgwb_scenario *scenario, bool quick);
const char *const *cgwb_scenario_all_variants(const struct cgwb_scenario *scenario);

/* -EINVAL with the nearest name if there is no such variant */
int cgwb_scenario_check_variant(const struct cgwb_scenario *scenario, const char *variant,
				struct cgwb_error *error);

/*
 * Adds a variant: what `from` overrides (NULL: nothing), and then `overrides`, each written as a
 * line of a [variant] ("dirtier.count = 4"), NULL-terminated. `where` is what errors name as their
 * place, such as "--vary". The new variant has been checked like those of the file, and its name is
 * a word, since files are named after it. -EEXIST: there is one of that name.
 */
int cgwb_scenario_add_variant(struct cgwb_scenario *scenario, const char *name, const char *from,
			      const char *const *overrides, const char *where,
			      struct cgwb_error *error);

/*
 * The variant that others are compared with: `base`, else the first whose policy is stock, else the
 * first.
 */
const char *cgwb_scenario_base(const struct cgwb_scenario *scenario);

/* The policy of a variant in its full form: "none", "stock", ... */
const char *cgwb_scenario_policy(const struct cgwb_scenario *scenario, const char *variant);

/* The keys in published.json that the scenario is compared with. NULL-terminated, may be empty. */
const char *const *cgwb_scenario_published(const struct cgwb_scenario *scenario);

/* The scenario's own measures (those of measure.h come on top): its [measure] sections. */
size_t cgwb_scenario_measures(const struct cgwb_scenario *scenario);
const char *cgwb_scenario_measure_name(const struct cgwb_scenario *scenario, size_t index);
const char *cgwb_scenario_measure_title(const struct cgwb_scenario *scenario, size_t index);
const char *cgwb_scenario_measure_kind(const struct cgwb_scenario *scenario, size_t index);

/* Whether it has a measured job, and so seconds, MiB/s, IOPS, mean and p99 */
bool cgwb_scenario_has_measured_job(const struct cgwb_scenario *scenario);

/* The relations of [expect], in order: expect.h evaluates them. */
size_t cgwb_scenario_expectations(const struct cgwb_scenario *scenario,
				  const struct cgwb_expectation *const **ret_expectations);

/*
 * The scenario as text: what it is, and what each variant changes; with `variant`, the whole of it
 * with that variant's overrides applied, in the form that cgwb_scenario_read() reads. The caller
 * frees it.
 */
int cgwb_scenario_show(const struct cgwb_scenario *scenario, const char *variant, bool quick,
		       char **ret_text, struct cgwb_error *error);

/*
 * Where on this host the program of an exec job is: relative to the scenario's folder if it has a
 * slash, else in the folders of $CGWB_PROGRAM_PATH, then those of $PATH. The caller frees
 * `*ret_path`. -ENOENT.
 */
int cgwb_scenario_program(const struct cgwb_scenario *scenario, const char *program,
			  char **ret_path, struct cgwb_error *error);

/*
 * The sections with the overrides applied and checked, for cell.c; `variant` may be NULL. The
 * caller frees them with sections_free(). Internal to libcgwb.
 */
int scenario_resolve(const struct cgwb_scenario *scenario, const char *variant, bool quick,
		     struct sections **ret_sections, struct cgwb_error *error);

/* The sections as they were read, and the variants that were added. Internal to libcgwb. */
const struct sections *scenario_sections(const struct cgwb_scenario *scenario);

#endif
