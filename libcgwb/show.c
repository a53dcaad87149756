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
#include "strbuf.h"

static void print_section(struct strbuf *buf, const struct section *section)
{
	strbuf_addf(buf, "\n[%s%s%s]\n", section->kind, *section->name ? " " : "", section->name);
	for (size_t i = 0; i < section->n_keys; i++) {
		const struct section_key *key = &section->keys[i];

		if (!strcmp(section->kind, "expect"))
			strbuf_addf(buf, "%s\n", key->value);
		else
			strbuf_addf(buf, "%s = %s\n", key->name, key->value);
	}
}

static void print_names(struct strbuf *buf, const char *what, const char *const *names)
{
	strbuf_addf(buf, "%-10s", what);
	for (size_t i = 0; names[i]; i++)
		strbuf_addf(buf, "%s%s", i ? ", " : "", names[i]);
	strbuf_addf(buf, "\n");
}

/* The head of a page: what it is about, and what a run would do. */
static void print_summary(struct strbuf *buf, const struct cgwb_scenario *scenario, bool quick)
{
	const struct cgwb_expectation *const *expectations;
	size_t n = cgwb_scenario_expectations(scenario, &expectations);

	strbuf_addf(buf, "%-10s%s\n", "scenario", cgwb_scenario_name(scenario));
	strbuf_addf(buf, "%-10s%s\n", "title", cgwb_scenario_title(scenario));
	if (cgwb_scenario_source(scenario))
		strbuf_addf(buf, "%-10s%s\n", "source", cgwb_scenario_source(scenario));
	strbuf_addf(buf, "%-10s%s\n", "file", cgwb_scenario_file(scenario));
	print_names(buf, "runs", cgwb_scenario_variants(scenario, quick));
	strbuf_addf(buf, "%-10s%u\n", "seeds", cgwb_scenario_seeds(scenario, quick));
	for (size_t i = 0; i < n; i++)
		strbuf_addf(buf, "%-10s%s\n", i ? "" : "expects",
			    cgwb_expectation_text(expectations[i]));
}

static int show_all(const struct cgwb_scenario *scenario, bool quick, struct strbuf *buf)
{
	const struct sections *sections = scenario_sections(scenario);

	print_summary(buf, scenario, quick);
	for (size_t i = 0; i < sections->n_all; i++) {
		const struct section *section = &sections->all[i];

		/* Those are in the summary. */
		if (strcmp(section->kind, "scenario") && strcmp(section->kind, "expect"))
			print_section(buf, section);
	}
	return 0;
}

/* Everything as it is in that variant, and the variant itself as one that changes nothing more. */
static int show_variant(const struct cgwb_scenario *scenario, const char *variant, bool quick,
			struct strbuf *buf, struct cgwb_error *error)
{
	struct sections *sections;
	int err;

	err = scenario_resolve(scenario, variant, quick, &sections, error);
	if (err)
		return err;

	strbuf_addf(buf, "; %s, variant %s%s\n", cgwb_scenario_file(scenario), variant,
		    quick ? ", quick" : "");
	section_unset(sections_find(sections, "scenario", ""), "variants");
	section_unset(sections_find(sections, "scenario", ""), "base");
	for (size_t i = 0; i < sections->n_all; i++) {
		const struct section *section = &sections->all[i];

		if (schema_kind(section->kind)->overridable && (section->n_keys || *section->name))
			print_section(buf, section);
	}
	strbuf_addf(buf, "\n[variant %s]\n", variant);
	sections_free(sections);
	return 0;
}

int cgwb_scenario_show(const struct cgwb_scenario *scenario, const char *variant, bool quick,
		       char **ret_text, struct cgwb_error *error)
{
	struct strbuf buf = STRBUF_INIT;
	int err;

	err = variant ? show_variant(scenario, variant, quick, &buf, error) :
			show_all(scenario, quick, &buf);
	if (err)
		strbuf_done(&buf);
	else
		err = strbuf_finish(&buf, ret_text);
	return err;
}
