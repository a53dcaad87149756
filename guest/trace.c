// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <traceevent/event-parse.h>
#include <traceevent/kbuffer.h>
#include <unistd.h>

#include "attribute.h"
#include "clock.h"

#define TRACEFS "/sys/kernel/tracing"
#define INSTANCE TRACEFS "/instances/cgwb"
/*
 * For each CPU. A second of the busiest known scenario is about 2 MiB of events; the buffer is
 * drained once a second, or later if the guest is busy.
 */
#define BUFFER_KB 16384
#define FIELDS_MAX 12

struct trace_field {
	unsigned int offset, bytes;
	bool is_signed, is_dynamic;
};

struct subscription {
	struct subscription *next; /* of the same event */
	trace_fn fn;
	void *userdata;
	struct trace_field fields[FIELDS_MAX];
};

struct event {
	struct tep_event *format;
	struct subscription *subscriptions;
};

/* The ring buffer of one CPU, and the page of it that is being read. */
struct buffer {
	int fd;
	struct kbuffer *page;
	char *bytes;
	bool has_page;
};

struct trace {
	struct tep_handle *tep;
	struct event *events; /* by id */
	size_t n_events;
	struct buffer *buffers;
	size_t n_buffers, page_bytes;
	uint64_t read, missed;
};

static uint64_t number_at(const struct trace_field *field, const void *data)
{
	const char *at = (const char *)data + field->offset;
	uint64_t value = 0;

	memcpy(&value, at, field->bytes < sizeof(value) ? field->bytes : sizeof(value));
	if (field->is_signed && field->bytes < sizeof(value)) {
		unsigned int shift = 64 - 8 * field->bytes;

		value = (uint64_t)((int64_t)(value << shift) >> shift);
	}
	return value;
}

uint64_t trace_number(const struct trace_record *record, unsigned int i)
{
	return number_at(&record->fields[i], record->data);
}

const char *trace_text(const struct trace_record *record, unsigned int i)
{
	const struct trace_field *field = &record->fields[i];

	/* __data_loc: where the text is stands in the low half. */
	if (field->is_dynamic)
		return (const char *)record->data + (number_at(field, record->data) & 0xffff);
	return (const char *)record->data + field->offset;
}

static struct tep_event *event_format(struct trace *trace, const char *system, const char *name,
				      int *ret_err, struct error *error)
{
	struct tep_event *format = tep_find_event_by_name(trace->tep, system, name);
	char *text;
	int err;

	*ret_err = 0;
	if (format)
		return format;
	err = attribute_read(error, &text, INSTANCE "/events/%s/%s/format", system, name);
	if (err < 0) {
		*ret_err = err;
		return NULL;
	}
	/* The print format may be beyond the parser; the fields are there all the same. */
	tep_parse_event(trace->tep, text, strlen(text), system);
	free(text);
	format = tep_find_event_by_name(trace->tep, system, name);
	if (!format)
		*ret_err = error_set(error, -EINVAL, "cannot understand the format of %s:%s",
				     system, name);
	return format;
}

static struct event *event_of(struct trace *trace, struct tep_event *format)
{
	size_t id = format->id;

	if (id >= trace->n_events) {
		struct event *events = realloc(trace->events, (id + 1) * sizeof(*events));

		if (!events)
			return NULL;
		memset(events + trace->n_events, 0, (id + 1 - trace->n_events) * sizeof(*events));
		trace->events = events;
		trace->n_events = id + 1;
	}
	trace->events[id].format = format;
	return &trace->events[id];
}

static int fields_find(struct tep_event *format, const char *const *names,
		       struct trace_field *fields, struct error *error)
{
	size_t i;

	for (i = 0; names[i]; i++) {
		struct tep_format_field *field = tep_find_any_field(format, names[i]);

		if (!field || i == FIELDS_MAX)
			return error_set(error, -EINVAL, "the event %s:%s has no field %s",
					 format->system, format->name, names[i]);
		fields[i] = (struct trace_field){
			.offset = field->offset,
			.bytes = field->size,
			.is_signed = field->flags & TEP_FIELD_IS_SIGNED,
			.is_dynamic = field->flags & TEP_FIELD_IS_DYNAMIC,
		};
	}
	return 0;
}

int trace_subscribe(struct trace *trace, const char *system, const char *name, const char *filter,
		    const char *const *fields, trace_fn fn, void *userdata, struct error *error)
{
	struct subscription *subscription, **last;
	struct tep_event *format;
	struct event *event;
	int err;

	format = event_format(trace, system, name, &err, error);
	if (!format)
		return err;
	event = event_of(trace, format);
	subscription = calloc(1, sizeof(*subscription));
	if (!event || !subscription) {
		free(subscription);
		return error_errno(error, -ENOMEM, "cannot subscribe to %s:%s", system, name);
	}
	subscription->fn = fn;
	subscription->userdata = userdata;
	for (last = &event->subscriptions; *last; last = &(*last)->next)
		;
	*last = subscription;
	err = fields_find(format, fields, subscription->fields, error);
	if (!err && filter)
		err = attribute_write(error, filter, INSTANCE "/events/%s/%s/filter", system, name);
	return err ?: attribute_write(error, "1", INSTANCE "/events/%s/%s/enable", system, name);
}

/* The list of words of __print_symbolic(REC->field, ...) anywhere in a print format. */
static const struct tep_print_flag_sym *symbols_find(const struct tep_print_arg *arg,
						     const char *field)
{
	const struct tep_print_flag_sym *found = NULL;

	for (; arg && !found; arg = arg->next) {
		const struct tep_print_arg *of;

		if (arg->type != TEP_PRINT_SYMBOL)
			continue;
		of = arg->symbol.field;
		if (of && of->type == TEP_PRINT_FIELD && !strcmp(of->field.name, field))
			found = arg->symbol.symbols;
	}
	return found;
}

const char *trace_symbol(struct trace *trace, const char *system, const char *name,
			 const char *field, uint64_t value)
{
	struct tep_event *format = tep_find_event_by_name(trace->tep, system, name);
	const struct tep_print_flag_sym *symbol;

	if (!format)
		return NULL;
	for (symbol = symbols_find(format->print_fmt.args, field); symbol; symbol = symbol->next) {
		if (strtoull(symbol->value, NULL, 0) == value)
			return symbol->str;
	}
	return NULL;
}

static void count_spec(char *text, size_t size, const char *spec, const char *filter)
{
	snprintf(text, size, "hist:%s%s%s", spec, filter ? " if " : "", filter ?: "");
}

int trace_count(struct trace *trace, const char *system, const char *name, const char *spec,
		const char *filter, struct error *error)
{
	char text[512];

	count_spec(text, sizeof(text), spec, filter);
	return attribute_append(error, text, INSTANCE "/events/%s/%s/trigger", system, name);
}

int trace_tallies(struct trace *trace, const char *system, const char *name, const char *spec,
		  const char *filter, struct tallies *ret, struct error *error)
{
	char *text;
	int err = attribute_read(error, &text, INSTANCE "/events/%s/%s/hist", system, name);

	if (err < 0)
		return error_errno(error, err, "cannot read the histogram of %s:%s", system, name);
	err = tallies_parse(text, spec, filter, ret, error);
	free(text);
	return err;
}

static int buffer_open(struct trace *trace, size_t cpu, struct error *error)
{
	struct buffer *buffer = &trace->buffers[cpu];
	char path[PATH_MAX];

	snprintf(path, sizeof(path), INSTANCE "/per_cpu/cpu%zu/trace_pipe_raw", cpu);
	buffer->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (buffer->fd < 0)
		return error_errno(error, -errno, "cannot open %s", path);
	buffer->page = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	buffer->bytes = malloc(trace->page_bytes);
	if (!buffer->page || !buffer->bytes)
		return error_errno(error, -ENOMEM, "cannot read the trace");
	return 0;
}

static int buffers_open(struct trace *trace, struct error *error)
{
	size_t cpus = sysconf(_SC_NPROCESSORS_CONF), i;
	int err = 0;

	trace->page_bytes = sysconf(_SC_PAGESIZE);
	trace->buffers = calloc(cpus, sizeof(*trace->buffers));
	if (!trace->buffers)
		return error_errno(error, -ENOMEM, "cannot read the trace");
	for (i = 0; i < cpus; i++)
		trace->buffers[i].fd = -1;
	trace->n_buffers = cpus;
	for (i = 0; i < cpus && !err; i++)
		err = buffer_open(trace, i, error);
	return err;
}

int trace_new(struct trace **ret, struct error *error)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	char *text;
	int err;

	if (!trace)
		return error_errno(error, -ENOMEM, "cannot trace");
	trace->tep = tep_alloc();
	if (!trace->tep) {
		err = error_errno(error, -ENOMEM, "cannot trace");
		goto fail;
	}
	tep_set_file_bigendian(trace->tep, TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(trace->tep, TEP_LITTLE_ENDIAN);
	tep_set_long_size(trace->tep, sizeof(long));
	if (mkdir(INSTANCE, 0755) < 0) {
		err = error_errno(error, -errno, "cannot make the trace instance " INSTANCE);
		goto fail;
	}
	err = attribute_write(error, "0", INSTANCE "/tracing_on");
	err = err ?: attribute_write(error, "mono", INSTANCE "/trace_clock");
	err = err ?: attribute_write_u64(error, BUFFER_KB, INSTANCE "/buffer_size_kb");
	/* What is lost shall be the newest, so that what was read before stays consistent. */
	err = err ?: attribute_write(error, "0", INSTANCE "/options/overwrite");
	err = err ?: attribute_read(error, &text, INSTANCE "/events/header_page");
	if (err < 0)
		goto fail;
	tep_parse_header_page(trace->tep, text, strlen(text), sizeof(long));
	free(text);
	err = buffers_open(trace, error);
	if (err < 0)
		goto fail;
	*ret = trace;
	return 0;
fail:
	trace_free(trace);
	return err;
}

struct trace *trace_free(struct trace *trace)
{
	size_t i;

	if (!trace)
		return NULL;
	for (i = 0; i < trace->n_events; i++) {
		while (trace->events[i].subscriptions) {
			struct subscription *next = trace->events[i].subscriptions->next;

			free(trace->events[i].subscriptions);
			trace->events[i].subscriptions = next;
		}
	}
	for (i = 0; i < trace->n_buffers; i++) {
		if (trace->buffers[i].fd >= 0)
			close(trace->buffers[i].fd);
		if (trace->buffers[i].page)
			kbuffer_free(trace->buffers[i].page);
		free(trace->buffers[i].bytes);
	}
	free(trace->buffers);
	free(trace->events);
	tep_free(trace->tep);
	rmdir(INSTANCE);
	free(trace);
	return NULL;
}

static void record_deliver(struct trace *trace, const void *data, uint64_t ns)
{
	struct trace_record record = { .ns = ns, .data = data };
	struct subscription *subscription;
	uint16_t id;
	int32_t pid;

	/* The two common fields are where they are in every event of every kernel: type, flags, pid. */
	memcpy(&id, data, sizeof(id));
	memcpy(&pid, (const char *)data + 4, sizeof(pid));
	if (id >= trace->n_events)
		return;
	trace->read++;
	record.pid = pid;
	for (subscription = trace->events[id].subscriptions; subscription;
	     subscription = subscription->next) {
		record.fields = subscription->fields;
		subscription->fn(subscription->userdata, &record);
	}
}

/* 1: the buffer has an event to look at; 0: it is empty. */
static int buffer_fill(struct trace *trace, struct buffer *buffer, struct error *error)
{
	unsigned long long ns;
	ssize_t n;

	for (;;) {
		if (buffer->has_page && kbuffer_read_event(buffer->page, &ns))
			return 1;
		buffer->has_page = false;
		n = read(buffer->fd, buffer->bytes, trace->page_bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return error_errno(error, -errno, "cannot read the trace");
		if (n <= 0)
			return 0;
		if (kbuffer_load_subbuffer(buffer->page, buffer->bytes) < 0)
			return error_set(error, -EINVAL, "cannot understand a page of the trace");
		if (kbuffer_missed_events(buffer->page) > 0)
			trace->missed += kbuffer_missed_events(buffer->page);
		else if (kbuffer_missed_events(buffer->page))
			trace->missed++; /* how many is not known */
		buffer->has_page = true;
	}
}

/*
 * Events of several CPUs in the order of their time. What happened after the drain began is left for
 * the next one: another CPU, read already, might have something that was before it.
 */
static int drain_until(struct trace *trace, uint64_t until_ns, struct error *error)
{
	for (;;) {
		struct buffer *earliest = NULL;
		unsigned long long ns, earliest_ns = 0;
		const void *data = NULL;
		size_t i;

		for (i = 0; i < trace->n_buffers; i++) {
			struct buffer *buffer = &trace->buffers[i];
			int r = buffer_fill(trace, buffer, error);

			if (r < 0)
				return r;
			if (!r)
				continue;
			kbuffer_read_event(buffer->page, &ns);
			if (!earliest || ns < earliest_ns) {
				earliest = buffer;
				earliest_ns = ns;
			}
		}
		if (!earliest || earliest_ns > until_ns)
			return 0;
		data = kbuffer_read_event(earliest->page, &ns);
		record_deliver(trace, data, ns);
		if (!kbuffer_next_event(earliest->page, &ns))
			earliest->has_page = false;
	}
}

int trace_start(struct trace *trace, struct error *error)
{
	return attribute_write(error, "1", INSTANCE "/tracing_on");
}

int trace_drain(struct trace *trace, struct error *error)
{
	return drain_until(trace, trace->n_buffers > 1 ? clock_now_ns() : UINT64_MAX, error);
}

/* "overrun" and "dropped events": the kernel's count of what found no room. */
static int losses_read(struct trace *trace, struct error *error)
{
	static const char *const names[] = { "overrun: ", "commit overrun: ", "dropped events: " };
	size_t cpu, i;

	for (cpu = 0; cpu < trace->n_buffers; cpu++) {
		char *text, *line, *rest;
		int err = attribute_read(error, &text, INSTANCE "/per_cpu/cpu%zu/stats", cpu);

		if (err < 0)
			return error_errno(error, err, "cannot read the trace's statistics");
		for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
			for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
				if (!strncmp(line, names[i], strlen(names[i])))
					trace->missed +=
						strtoull(line + strlen(names[i]), NULL, 10);
			}
		}
		free(text);
	}
	return 0;
}

int trace_stop(struct trace *trace, struct error *error)
{
	return attribute_write(error, "0", INSTANCE "/tracing_on");
}

int trace_finish(struct trace *trace, struct error *error)
{
	int err = drain_until(trace, UINT64_MAX, error);

	return err ?: losses_read(trace, error);
}

uint64_t trace_lost(const struct trace *trace)
{
	return trace->missed;
}

uint64_t trace_events(const struct trace *trace)
{
	return trace->read;
}
