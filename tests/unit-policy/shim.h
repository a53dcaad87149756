/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few kernel words that the deciding half of kernel/policy uses, for user space. One thread, so
 * locks only count.
 */
#ifndef CGWB_SHIM_H
#define CGWB_SHIM_H

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int32_t s32;
typedef uint32_t u32;
typedef int64_t s64;
typedef uint64_t u64;
typedef unsigned long pgoff_t;

#define PAGE_SHIFT 12
#define PAGE_SIZE (1UL << PAGE_SHIFT)

#define DIV_ROUND_UP(n, d) (((n) + (d)-1) / (d))

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)

/* A few CPUs; a test chooses the one that it is on. */
#define NR_CPUS 4
extern int shim_cpu;
#define raw_smp_processor_id() shim_cpu
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < NR_CPUS; (cpu)++)

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define clamp(x, low, high) min(max(x, low), high)

#define time_after64(a, b) ((s64)((b) - (a)) < 0)
#define time_before64(a, b) time_after64(b, a)

/* Any good multiplicative hash will do. */
static inline u32 hash_64(u64 value, unsigned int bits)
{
	return value * 0x61C8864680B583EBull >> (64 - bits);
}

/* A lock that insists on being taken once and released once. */
typedef struct {
	bool is_held;
} raw_spinlock_t;

static inline void raw_spin_lock_init(raw_spinlock_t *lock)
{
	lock->is_held = false;
}

static inline void raw_spin_lock(raw_spinlock_t *lock)
{
	assert(!lock->is_held);
	lock->is_held = true;
}

static inline void raw_spin_unlock(raw_spinlock_t *lock)
{
	assert(lock->is_held);
	lock->is_held = false;
}

#define raw_spin_lock_irqsave(lock, flags)                                                         \
	do {                                                                                       \
		(flags) = 0;                                                                       \
		raw_spin_lock(lock);                                                               \
	} while (0)
#define raw_spin_unlock_irqrestore(lock, flags)                                                    \
	do {                                                                                       \
		(void)(flags);                                                                     \
		raw_spin_unlock(lock);                                                             \
	} while (0)

typedef struct {
	int counter;
} atomic_t;

static inline int atomic_read(const atomic_t *v)
{
	return v->counter;
}

static inline void atomic_set(atomic_t *v, int value)
{
	v->counter = value;
}

static inline void atomic_inc(atomic_t *v)
{
	v->counter++;
}

static inline void atomic_dec(atomic_t *v)
{
	v->counter--;
}

typedef struct {
	int unused;
} wait_queue_head_t;

struct wb_completion {
	atomic_t cnt;
	wait_queue_head_t *waitq;
};

/* A memcg's own records, as linux/memcontrol.h has them. */
#define MEMCG_CGWB_FRN_CNT 4

struct memcg_cgwb_frn {
	u64 bdi_id;
	int memcg_id;
	u64 at;
	struct wb_completion done;
};

#endif /* CGWB_SHIM_H */
