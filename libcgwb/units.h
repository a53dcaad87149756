/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sizes, times and numbers as people write them in a scenario, in 64 bits.
 *
 * A whole number or a decimal fraction (`1.5G`), then a unit, nothing else: no sign, no exponent,
 * no space within. The result is exact: a value that is no whole number of bytes or nanoseconds is
 * refused, not rounded.
 *
 * Sizes are as fio writes them: K M G T P, upper or lower case, also KiB and the like, always
 * powers of 1024; B or no unit: bytes. Times take ns, us, ms, s, m, h; a bare number other than 0
 * is refused, since nobody can know what it means.
 *
 * Functions return 0, -EINVAL (not such a value), or -ERANGE (it does not fit); `ret` is set only
 * on success.
 */
#ifndef CGWB_UNITS_H
#define CGWB_UNITS_H

#include <stdint.h>

/* "8G", "64K", "512", "1.5M" */
int cgwb_parse_bytes(const char *text, uint64_t *ret_bytes);

/* "80us", "150s", "1.5ms", "15m", "0" */
int cgwb_parse_ns(const char *text, uint64_t *ret_ns);

/* Decimal digits only. */
int cgwb_parse_u64(const char *text, uint64_t *ret_value);

/* "20" or "20%", with up to nine decimals; 0 to 100. */
int cgwb_parse_percent(const char *text, double *ret_percent);

/*
 * The shortest exact form that the parsers above read: 268435456 is "256M", 1000 is "1000"; 80000
 * ns is "80us".
 */
#define CGWB_UNITS_TEXT 32
const char *cgwb_format_bytes(uint64_t bytes, char text[CGWB_UNITS_TEXT]);
const char *cgwb_format_ns(uint64_t ns, char text[CGWB_UNITS_TEXT]);

#endif
