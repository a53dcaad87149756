// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A scenario as text. What is printed for one variant is a scenario itself: reading it gives the
 * same cells.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "scenario.h"
#include "schema.h"
#include "sections.h"

static void print_section(FILE *stream, const struct section *section)
{
	fprintf(stream, "\n[%s%s%s]\n", section->kind, *section->name ? " " : "", section->name);
	for (size_t i = 0; i < section->n_keys; i++) {
		const struct section_key *key = &section->keys[i];

		if (!strcmp(section->kind, "expect"))
			fprintf(stream, "%s\n", key->value);
		else
			fprintf(stream, "%s = %s\n", key->name, key->value);
	}
}

static void print_names(FILE *stream, const char *what, const char *const *names)
{
	fprintf(stream, "%-10s", what);
	for (size_t i = 0; names[i]; i++)
		fprintf(stream, "%s%s", i ? ", " : "", names[i]);
	fputc('\n', stream);
}

/* The head of a page: what it is about, and what a run would do. */
static void print_summary(FILE *stream, const struct cgwb_scenario *scenario, bool quick)
{
	const struct cgwb_expectation *const *expectations;
	size_t n = cgwb_scenario_expectations(scenario, &expectations);

	fprintf(stream, "%-10s%s\n", "scenario", cgwb_scenario_name(scenario));
	fprintf(stream, "%-10s%s\n", "title", cgwb_scenario_title(scenario));
	if (cgwb_scenario_source(scenario))
		fprintf(stream, "%-10s%s\n", "source", cgwb_scenario_source(scenario));
	fprintf(stream, "%-10s%s\n", "file", cgwb_scenario_file(scenario));
	print_names(stream, "runs", cgwb_scenario_variants(scenario, quick));
	fprintf(stream, "%-10s%u\n", "seeds", cgwb_scenario_seeds(scenario, quick));
	for (size_t i = 0; i < n; i++)
		fprintf(stream, "%-10s%s\n", i ? "" : "expects",
			cgwb_expectation_text(expectations[i]));
}

static int show_all(const struct cgwb_scenario *scenario, bool quick, FILE *stream)
{
	const struct sections *sections = scenario_sections(scenario);

	print_summary(stream, scenario, quick);
	for (size_t i = 0; i < sections->n_all; i++) {
		const struct section *section = &sections->all[i];

		/* Those are in the summary. */
		if (strcmp(section->kind, "scenario") && strcmp(section->kind, "expect"))
			print_section(stream, section);
	}
	return 0;
}

/* Everything as it is in that variant, and the variant itself as one that changes nothing more. */
static int show_variant(const struct cgwb_scenario *scenario, const char *variant, bool quick,
			FILE *stream, struct cgwb_error *error)
{
	struct sections *sections;
	int err;

	err = scenario_resolve(scenario, variant, quick, &sections, error);
	if (err)
		return err;

	fprintf(stream, "; %s, variant %s%s\n", cgwb_scenario_file(scenario), variant,
		quick ? ", quick" : "");
	section_unset(sections_find(sections, "scenario", ""), "variants");
	section_unset(sections_find(sections, "scenario", ""), "base");
	for (size_t i = 0; i < sections->n_all; i++) {
		const struct section *section = &sections->all[i];

		if (schema_kind(section->kind)->overridable && (section->n_keys || *section->name))
			print_section(stream, section);
	}
	fprintf(stream, "\n[variant %s]\n", variant);
	sections_free(sections);
	return 0;
}

int cgwb_scenario_show(const struct cgwb_scenario *scenario, const char *variant, bool quick,
		       char **ret_text, struct cgwb_error *error)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	int err;

	if (!stream)
		return -ENOMEM;

	err = variant ? show_variant(scenario, variant, quick, stream, error) :
			show_all(scenario, quick, stream);
	if (fclose(stream) && !err)
		err = -ENOMEM;
	if (err) {
		free(text);
		return err;
	}
	*ret_text = text;
	return 0;
}
