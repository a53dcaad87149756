// SPDX-License-Identifier: GPL-2.0-or-later
#include "expect.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "nearest.h"
#include "scenario.h"

/* Deeper nesting is no relation that a person wrote. */
#define DEPTH_MAX 32

/* A tree: a number, a mean, or an operator and its two sides. */
struct node {
	char operator; /* '#' number, '.' mean, or one of + - * / */
	double number;
	char *variant;
	char *measure;
	struct node *left, *right;
};

struct cgwb_expectation {
	char *text;
	char relation[3];
	struct node *left, *right;
};

static struct node *node_free(struct node *node)
{
	if (!node)
		return NULL;

	node_free(node->left);
	node_free(node->right);
	free(node->variant);
	free(node->measure);
	free(node);
	return NULL;
}

struct cgwb_expectation *cgwb_expectation_free(struct cgwb_expectation *expectation)
{
	if (!expectation)
		return NULL;

	node_free(expectation->left);
	node_free(expectation->right);
	free(expectation->text);
	free(expectation);
	return NULL;
}

const char *cgwb_expectation_text(const struct cgwb_expectation *expectation)
{
	return expectation->text;
}

/* Reading: recursive descent. The first error stops it. */
struct parser {
	const struct cgwb_scenario *scenario;
	const char *at;
	const char *file;
	unsigned int line;
	unsigned int depth;
	struct cgwb_error *error;
	int err;
};

static void *parser_fail(struct parser *parser, int err, const char *what, const char *word,
			 size_t length, const char *nearest)
{
	if (parser->err)
		return NULL;

	cgwb_error_at(parser->error, err, parser->file, parser->line, "%s%.*s", what, (int)length,
		      word);
	cgwb_error_nearest(parser->error, err, nearest);
	parser->err = err;
	return NULL;
}

static void skip(struct parser *parser)
{
	parser->at += strspn(parser->at, " \t");
}

static struct node *node_new(struct parser *parser, char operator)
{
	struct node *node = calloc(1, sizeof(*node));

	if (node)
		node->operator= operator;
	else
		parser->err = -ENOMEM;
	return node;
}

/* A name may contain - but not begin or end with it. */
static size_t name_length(const char *at)
{
	size_t length = 0;

	while (isalnum((unsigned char)at[length]) || (at[length] && strchr("_.-", at[length])))
		length++;
	while (length && at[length - 1] == '-')
		length--;
	return length;
}

/* The name of the measure at an index: the scenario's, then those of every cell. NULL: no more */
static const char *measure_at(const struct cgwb_scenario *scenario, size_t index)
{
	size_t n_own = cgwb_scenario_measures(scenario);
	const struct cgwb_measure *known;

	if (index < n_own)
		return cgwb_scenario_measure_name(scenario, index);
	known = cgwb_measure_at(index - n_own);
	return known ? known->name : NULL;
}

static void check_measure(struct parser *parser, const char *measure)
{
	struct cgwb_nearest nearest = CGWB_NEAREST_INIT(measure);
	const char *name;

	for (size_t i = 0; (name = measure_at(parser->scenario, i)); i++) {
		if (!strcmp(name, measure))
			return;
		cgwb_nearest_offer(&nearest, name);
	}
	parser_fail(parser, -EINVAL, "there is no measure ", measure, strlen(measure),
		    nearest.best);
}

/* VARIANT.MEASURE: measures have no dots, variants may. */
static struct node *parse_mean(struct parser *parser)
{
	size_t length = name_length(parser->at);
	const char *dot = memrchr(parser->at, '.', length);
	struct node *node;
	int err;

	if (!dot || dot == parser->at || dot + 1 == parser->at + length)
		return parser_fail(parser, -EINVAL, "VARIANT.MEASURE is wanted: ", parser->at,
				   length ? length : strlen(parser->at), NULL);

	node = node_new(parser, '.');
	if (!node)
		return NULL;
	node->variant = strndup(parser->at, dot - parser->at);
	node->measure = strndup(dot + 1, parser->at + length - dot - 1);
	parser->at += length;
	if (!node->variant || !node->measure) {
		parser->err = -ENOMEM;
		return node_free(node);
	}

	err = cgwb_scenario_check_variant(parser->scenario, node->variant, NULL);
	if (err) {
		struct cgwb_nearest nearest = CGWB_NEAREST_INIT(node->variant);
		const char *const *variant = cgwb_scenario_all_variants(parser->scenario);

		for (; *variant; variant++)
			cgwb_nearest_offer(&nearest, *variant);
		parser_fail(parser, err, "there is no variant ", node->variant,
			    strlen(node->variant), nearest.best);
	}
	check_measure(parser, node->measure);
	return node;
}

static struct node *parse_number(struct parser *parser)
{
	struct node *node = node_new(parser, '#');
	char *end;

	if (!node)
		return NULL;
	node->number = strtod(parser->at, &end);
	parser->at = end;
	return node;
}

static struct node *parse_sum(struct parser *parser);

static struct node *parse_factor(struct parser *parser)
{
	struct node *node;

	skip(parser);
	if (*parser->at == '(') {
		if (++parser->depth > DEPTH_MAX)
			return parser_fail(parser, -EINVAL, "too many parentheses", "", 0, NULL);
		parser->at++;
		node = parse_sum(parser);
		skip(parser);
		if (*parser->at != ')')
			parser_fail(parser, -EINVAL, "a parenthesis is not closed", "", 0, NULL);
		else
			parser->at++;
		parser->depth--;
		return node;
	}

	/*
	 * "6.1-stock.seconds" begins with a digit and is a name all the same. Nothing but digits and
	 * dots is a number: what else strtod() takes is not.
	 */
	if (isdigit((unsigned char)*parser->at) &&
	    strspn(parser->at, "0123456789.") == name_length(parser->at))
		return parse_number(parser);
	return parse_mean(parser);
}

/* `left OPERATOR right`, either of which may be missing after an error */
static struct node *join(struct parser *parser, char operator, struct node * left,
			 struct node *right)
{
	struct node *node = parser->err ? NULL : node_new(parser, operator);

	if (!node) {
		node_free(left);
		return node_free(right);
	}
	node->left = left;
	node->right = right;
	return node;
}

static struct node *parse_product(struct parser *parser)
{
	struct node *node = parse_factor(parser);

	for (skip(parser); !parser->err && (*parser->at == '*' || *parser->at == '/');
	     skip(parser)) {
		char operator= * parser->at++;

		node = join(parser, operator, node, parse_factor(parser));
	}
	return node;
}

static struct node *parse_sum(struct parser *parser)
{
	struct node *node = parse_product(parser);

	for (skip(parser); !parser->err && (*parser->at == '+' || *parser->at == '-');
	     skip(parser)) {
		char operator= * parser->at++;

		node = join(parser, operator, node, parse_product(parser));
	}
	return node;
}

static void parse_relation(struct parser *parser, char relation[3])
{
	static const char *const relations[] = { "<=", ">=", "==", "<", ">" };

	skip(parser);
	for (size_t i = 0; i < sizeof(relations) / sizeof(*relations); i++) {
		size_t length = strlen(relations[i]);

		if (!strncmp(parser->at, relations[i], length)) {
			strcpy(relation, relations[i]);
			parser->at += length;
			return;
		}
	}
	parser_fail(parser, -EINVAL, "one of <= >= == < > is wanted: ", parser->at,
		    strlen(parser->at), NULL);
}

int cgwb_expectation_new(const struct cgwb_scenario *scenario, const char *text, const char *file,
			 unsigned int line, struct cgwb_expectation **ret_expectation,
			 struct cgwb_error *error)
{
	struct cgwb_expectation *expectation = calloc(1, sizeof(*expectation));
	struct parser parser = {
		.scenario = scenario,
		.at = text,
		.file = file,
		.line = line,
		.error = error,
	};

	if (!expectation)
		return -ENOMEM;

	expectation->text = strdup(text);
	if (!expectation->text)
		parser.err = -ENOMEM;
	if (!parser.err)
		expectation->left = parse_sum(&parser);
	if (!parser.err)
		parse_relation(&parser, expectation->relation);
	if (!parser.err)
		expectation->right = parse_sum(&parser);
	skip(&parser);
	if (!parser.err && *parser.at)
		parser_fail(&parser, -EINVAL, "too much: ", parser.at, strlen(parser.at), NULL);

	if (parser.err) {
		cgwb_expectation_free(expectation);
		return parser.err;
	}
	*ret_expectation = expectation;
	return 0;
}

/* Judging. */

/* Whether a seed has a result for each mean in the tree; `usable` as well, or at all. */
static bool has_seed(const struct node *node, const struct cgwb_results *results, unsigned int seed,
		     bool usable)
{
	const struct cgwb_result *result;
	double value;

	if (!node || node->operator== '#')
		return true;
	if (node->operator!= '.')
		return has_seed(node->left, results, seed, usable) &&
		       has_seed(node->right, results, seed, usable);

	result = cgwb_results_find(results, node->variant, seed);
	if (!result)
		return false;
	return !usable ||
	       (cgwb_result_usable(result) && !cgwb_result_measure(result, node->measure, &value));
}

static bool counts(const struct cgwb_expectation *expectation, const struct cgwb_results *results,
		   unsigned int seed, bool usable)
{
	return has_seed(expectation->left, results, seed, usable) &&
	       has_seed(expectation->right, results, seed, usable);
}

/* The first mean in the tree whose result is usable and has not that measure; NULL: there is none. */
static const struct node *find_null(const struct node *node, const struct cgwb_results *results,
				    unsigned int seed)
{
	const struct cgwb_result *result;
	const struct node *found;
	double value;

	if (!node || node->operator== '#')
		return NULL;
	if (node->operator!= '.') {
		found = find_null(node->left, results, seed);
		return found ? found : find_null(node->right, results, seed);
	}

	result = cgwb_results_find(results, node->variant, seed);
	if (!result || !cgwb_result_usable(result))
		return NULL;
	return cgwb_result_measure(result, node->measure, &value) ? node : NULL;
}

static void note_null(const struct cgwb_expectation *expectation,
		      const struct cgwb_results *results, unsigned int seed,
		      struct cgwb_judgement *judgement)
{
	const struct node *null = find_null(expectation->left, results, seed);

	if (!null)
		null = find_null(expectation->right, results, seed);
	if (!null || judgement->null_measure)
		return;
	judgement->null_variant = null->variant;
	judgement->null_measure = null->measure;
}

/* Each seed once: at the first result that has it. */
static bool is_first(const struct cgwb_results *results, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (cgwb_result_seed(results->all[i]) == cgwb_result_seed(results->all[index]))
			return false;
	}
	return true;
}

static double mean(const struct cgwb_expectation *expectation, const struct node *node,
		   const struct cgwb_results *results)
{
	double sum = 0, value;
	unsigned int n = 0;

	for (size_t i = 0; i < results->n; i++) {
		unsigned int seed = cgwb_result_seed(results->all[i]);

		if (!is_first(results, i) || !counts(expectation, results, seed, true))
			continue;
		cgwb_result_measure(cgwb_results_find(results, node->variant, seed), node->measure,
				    &value);
		sum += value;
		n++;
	}
	return sum / n;
}

static double evaluate(const struct cgwb_expectation *expectation, const struct node *node,
		       const struct cgwb_results *results)
{
	double left, right;

	if (node->operator== '#')
		return node->number;
	if (node->operator== '.')
		return mean(expectation, node, results);

	left = evaluate(expectation, node->left, results);
	right = evaluate(expectation, node->right, results);
	switch (node->operator) {
	case '+':
		return left + right;
	case '-':
		return left - right;
	case '*':
		return left * right;
	default:
		return left / right;
	}
}

static bool holds(const char *relation, double left, double right)
{
	if (!strcmp(relation, "<="))
		return left <= right;
	if (!strcmp(relation, ">="))
		return left >= right;
	if (!strcmp(relation, "<"))
		return left < right;
	if (!strcmp(relation, ">"))
		return left > right;
	return left == right;
}

struct cgwb_judgement cgwb_expectation_judge(const struct cgwb_expectation *expectation,
					     const struct cgwb_results *results)
{
	struct cgwb_judgement judgement = { .verdict = CGWB_UNKNOWN };

	for (size_t i = 0; i < results->n; i++) {
		unsigned int seed = cgwb_result_seed(results->all[i]);

		if (!is_first(results, i))
			continue;
		if (counts(expectation, results, seed, true)) {
			judgement.seeds++;
		} else if (counts(expectation, results, seed, false)) {
			judgement.left_out++;
			note_null(expectation, results, seed, &judgement);
		}
	}
	if (!judgement.seeds)
		return judgement;

	judgement.left = evaluate(expectation, expectation->left, results);
	judgement.right = evaluate(expectation, expectation->right, results);
	/* What is divided by nothing proves nothing. */
	if (isfinite(judgement.left) && isfinite(judgement.right))
		judgement.verdict = holds(expectation->relation, judgement.left, judgement.right) ?
					    CGWB_HOLDS :
					    CGWB_FAILS;
	return judgement;
}

char *cgwb_judgement_line(const struct cgwb_expectation *expectation,
			  const struct cgwb_judgement *judgement)
{
	char left_out[256] = "", *line = NULL;
	int length = 0;

	if (judgement->left_out)
		length = snprintf(left_out, sizeof(left_out), ", %u left out", judgement->left_out);
	if (judgement->null_measure)
		snprintf(left_out + length, sizeof(left_out) - length, ": %s.%s is null",
			 judgement->null_variant, judgement->null_measure);

	if (judgement->verdict == CGWB_UNKNOWN)
		length = asprintf(&line, "unknown: %s (%s%s)", expectation->text,
				  judgement->seeds ? "no number" : "no usable result", left_out);
	else
		length = asprintf(&line, "%s: %s (%.6g %s %.6g, %u seed%s%s)",
				  judgement->verdict == CGWB_HOLDS ? "holds" : "fails",
				  expectation->text, judgement->left, expectation->relation,
				  judgement->right, judgement->seeds,
				  judgement->seeds == 1 ? "" : "s", left_out);
	return length < 0 ? NULL : line;
}
