// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counters of the daemon: any thread may write them; status and metrics read them. */
#ifndef CORE_COUNTERS_H
#define CORE_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

struct counters {
#define COUNTER(name, kind, help) atomic_ullong name;
#include "core/counters.def"
#undef COUNTER
};

enum counter_kind { COUNTER_EVENTS, COUNTER_STATE };

#define counter_add(counters, name, n)                                                             \
	atomic_fetch_add_explicit(&(counters)->name, (n), memory_order_relaxed)
#define counter_inc(counters, name) counter_add(counters, name, 1)
#define counter_set(counters, name, value)                                                         \
	atomic_store_explicit(&(counters)->name, (value), memory_order_relaxed)
#define counter_get(counters, name)                                                                \
	((uint64_t)atomic_load_explicit(&(counters)->name, memory_order_relaxed))

#endif
