/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a seed decides: UUIDs, hash seeds, start phases, the data that jobs write.
 *
 * Each of these has a stream of its own, keyed by the seed and by a name such as "job hot phase":
 * adding a job to a scenario changes nothing for the others. The generator is splitmix64 (Steele,
 * Lea, Flood 2014): the state goes up by 0x9e3779b97f4a7c15 a step, and the output is the state
 * after the finalizer
 *
 *   z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;  z = (z ^ z >> 27) * 0x94d049bb133111eb;  z ^ z >> 31
 *
 * It starts at finalizer(seed) ^ FNV-1a-64(name). The same everywhere, for ever: results depend on
 * it.
 */
#ifndef CGWB_SEED_H
#define CGWB_SEED_H

#include <stdint.h>

struct cgwb_seed {
	uint64_t state;
};

struct cgwb_seed cgwb_seed_init(uint64_t seed, const char *name);

/* The next 64 bits of the stream. */
uint64_t cgwb_seed_next(struct cgwb_seed *seed);

/* Uniform in [0, bound), bound > 0; the bias is below bound / 2^64. */
uint64_t cgwb_seed_below(struct cgwb_seed *seed, uint64_t bound);

/* A random (version 4) UUID of the next 128 bits. */
#define CGWB_UUID_TEXT 37
void cgwb_seed_uuid(struct cgwb_seed *seed, char text[CGWB_UUID_TEXT]);

#endif
