// SPDX-License-Identifier: GPL-2.0-or-later
#include "seed.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t finalize(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* FNV-1a, 64 bits */
static uint64_t hash_name(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
	return hash;
}

struct cgwb_seed cgwb_seed_init(uint64_t seed, const char *name)
{
	return (struct cgwb_seed){ .state = finalize(seed) ^ hash_name(name) };
}

uint64_t cgwb_seed_next(struct cgwb_seed *seed)
{
	seed->state += 0x9e3779b97f4a7c15;
	return finalize(seed->state);
}

uint64_t cgwb_seed_below(struct cgwb_seed *seed, uint64_t bound)
{
	return ((unsigned __int128)cgwb_seed_next(seed) * bound) >> 64;
}

void cgwb_seed_uuid(struct cgwb_seed *seed, char text[CGWB_UUID_TEXT])
{
	uint64_t high = cgwb_seed_next(seed), low = cgwb_seed_next(seed);

	/*
	 * RFC 4122: the version is in bits 12-15 of the high half, the variant in the top two of
	 * the low one.
	 */
	high = (high & ~0xf000ULL) | 0x4000;
	low = (low & ~(3ULL << 62)) | 2ULL << 62;
	snprintf(text, CGWB_UUID_TEXT, "%08x-%04x-%04x-%04x-%012" PRIx64, (uint32_t)(high >> 32),
		 (uint32_t)(high >> 16) & 0xffff, (uint32_t)high & 0xffff, (uint32_t)(low >> 48),
		 low & 0xffffffffffff);
}
