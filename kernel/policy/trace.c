// SPDX-License-Identifier: GPL-2.0-only
/* The bodies of the tracepoints, and on 6.1 their registration. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/trace_events.h>

#include "compat.h"
#include "symbols.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

#if CGWB_REGISTERS_TRACE_EVENTS
/* Where trace-events.lds puts them. */
extern struct trace_event_call *cgwb_trace_events_start[];
extern struct trace_event_call *cgwb_trace_events_end[];

/*
 * 6.1 trusts no livepatch with trace events, but exports what it would have called to create them. They are made to
 * belong to the module, so that the kernel's own notifier takes them away with it, also when loading fails.
 */
int __init cgwb_trace_init(void)
{
	struct mutex *event_mutex = (struct mutex *)cgwb_symbol("event_mutex");
	struct trace_event_call **call;
	int ret = 0;

	if (!event_mutex) {
		pr_err("this kernel has no symbol event_mutex\n");
		return -ENOENT;
	}
	mutex_lock(event_mutex);
	for (call = cgwb_trace_events_start; !ret && call < cgwb_trace_events_end; call++) {
		ret = trace_add_event_call(*call);
		if (!ret)
			(*call)->module = THIS_MODULE;
	}
	mutex_unlock(event_mutex);
	return ret;
}
#else
int __init cgwb_trace_init(void)
{
	return 0;
}
#endif
