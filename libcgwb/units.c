// SPDX-License-Identifier: GPL-2.0-or-later
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{ "", 1 },	     { "B", 1 },
	{ "K", 1ULL << 10 }, { "KiB", 1ULL << 10 },
	{ "M", 1ULL << 20 }, { "MiB", 1ULL << 20 },
	{ "G", 1ULL << 30 }, { "GiB", 1ULL << 30 },
	{ "T", 1ULL << 40 }, { "TiB", 1ULL << 40 },
	{ "P", 1ULL << 50 }, { "PiB", 1ULL << 50 },
	{ NULL, 0 },
};

static const struct unit time_units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "m", 60 * 1000000000ULL },
	{ "h", 3600 * 1000000000ULL },
	{ NULL, 0 },
};

/* Nine decimals are enough for a nanosecond in a second; more are refused rather than cut off. */
#define FRACTION_DIGITS 9

struct decimal {
	uint64_t whole;
	uint64_t fraction; /* in units of 10^-digits */
	uint64_t scale; /* 10^digits */
};

/* Reads digits and an optional fraction; `ret_end` is where they stop. */
static int parse_decimal(const char *text, struct decimal *ret_decimal, const char **ret_end)
{
	struct decimal decimal = { .scale = 1 };
	const char *at = text;

	if (!isdigit((unsigned char)*at))
		return -EINVAL;

	for (; isdigit((unsigned char)*at); at++) {
		if (__builtin_mul_overflow(decimal.whole, 10, &decimal.whole) ||
		    __builtin_add_overflow(decimal.whole, *at - '0', &decimal.whole))
			return -ERANGE;
	}

	if (*at == '.') {
		int digits = 0;

		for (at++; isdigit((unsigned char)*at); at++, digits++) {
			if (digits == FRACTION_DIGITS)
				return -EINVAL;
			decimal.fraction = decimal.fraction * 10 + (*at - '0');
			decimal.scale *= 10;
		}
		if (!digits)
			return -EINVAL;
	}

	*ret_decimal = decimal;
	*ret_end = at;
	return 0;
}

/* value * factor, exactly or not at all */
static int scale_decimal(const struct decimal *decimal, uint64_t factor, uint64_t *ret_value)
{
	unsigned __int128 fraction = (unsigned __int128)decimal->fraction * factor;
	uint64_t value;

	if (fraction % decimal->scale)
		return -EINVAL;
	if (__builtin_mul_overflow(decimal->whole, factor, &value) ||
	    __builtin_add_overflow(value, (uint64_t)(fraction / decimal->scale), &value))
		return -ERANGE;

	*ret_value = value;
	return 0;
}

int cgwb_parse_bytes(const char *text, uint64_t *ret_bytes)
{
	struct decimal decimal;
	const char *end;
	int err;

	err = parse_decimal(text, &decimal, &end);
	if (err)
		return err;

	for (const struct unit *unit = size_units; unit->name; unit++) {
		if (!strcasecmp(unit->name, end))
			return scale_decimal(&decimal, unit->factor, ret_bytes);
	}
	return -EINVAL;
}

int cgwb_parse_ns(const char *text, uint64_t *ret_ns)
{
	struct decimal decimal;
	const char *end;
	int err;

	err = parse_decimal(text, &decimal, &end);
	if (err)
		return err;

	if (!*end && !decimal.whole && !decimal.fraction) {
		*ret_ns = 0;
		return 0;
	}

	for (const struct unit *unit = time_units; unit->name; unit++) {
		if (!strcmp(unit->name, end))
			return scale_decimal(&decimal, unit->factor, ret_ns);
	}
	return -EINVAL;
}

int cgwb_parse_u64(const char *text, uint64_t *ret_value)
{
	struct decimal decimal;
	const char *end;
	int err;

	err = parse_decimal(text, &decimal, &end);
	if (err)
		return err;
	if (*end || decimal.scale != 1)
		return -EINVAL;

	*ret_value = decimal.whole;
	return 0;
}

int cgwb_parse_percent(const char *text, double *ret_percent)
{
	struct decimal decimal;
	const char *end;
	int err;

	err = parse_decimal(text, &decimal, &end);
	if (err)
		return err;
	if (*end && strcmp(end, "%"))
		return -EINVAL;
	if (decimal.whole > 100 || (decimal.whole == 100 && decimal.fraction))
		return -ERANGE;

	*ret_percent = decimal.whole + (double)decimal.fraction / decimal.scale;
	return 0;
}

/* The largest unit that divides the value is the shortest exact form. */
static const char *format_unit(const struct unit *units, const char *none, uint64_t value,
			       char *text)
{
	const char *name = none;
	uint64_t factor = 1;

	for (const struct unit *unit = units; unit->name && value; unit++) {
		if (strlen(unit->name) <= 2 && unit->factor > factor && value % unit->factor == 0) {
			name = unit->name;
			factor = unit->factor;
		}
	}

	snprintf(text, CGWB_UNITS_TEXT, "%" PRIu64 "%s", value / factor, value ? name : "");
	return text;
}

const char *cgwb_format_bytes(uint64_t bytes, char text[CGWB_UNITS_TEXT])
{
	return format_unit(size_units, "", bytes, text);
}

const char *cgwb_format_ns(uint64_t ns, char text[CGWB_UNITS_TEXT])
{
	return format_unit(time_units, "ns", ns, text);
}
