/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data that a seed decides: splitmix64. It is here to be the same every time and not to compress,
 * not to be unpredictable.
 */
#ifndef GUEST_RANDOM_H
#define GUEST_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct random {
	uint64_t state;
};

static inline uint64_t random_next(struct random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static inline void random_fill(struct random *random, void *data, size_t bytes)
{
	unsigned char *to = data;
	uint64_t value;

	for (; bytes >= sizeof(value); bytes -= sizeof(value), to += sizeof(value)) {
		value = random_next(random);
		memcpy(to, &value, sizeof(value));
	}
	value = random_next(random);
	memcpy(to, &value, bytes);
}

/* A seed of its own for each user of one seed: FNV-1a of the name, over the seed. */
static inline uint64_t random_seed(uint64_t seed, const char *name)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ seed;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3ull;
	return hash;
}

#endif
