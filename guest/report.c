// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/reboot.h>
#include <termios.h>
#include <unistd.h>

#include "clock.h"
#include "json.h"
#include "libcgwb/frame.h"

#define PORT "/dev/ttyS1"
#define EXIT_PORT 0xf4
#define REAL_DIGITS 15

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(const char *) phase_now = "boot";
static int port = -1;

void report_phase(const char *phase)
{
	phase_now = phase;
}

const char *report_phase_now(void)
{
	return phase_now;
}

int report_open(struct error *error)
{
	struct termios settings;
	int fd = open(PORT, O_WRONLY | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return error_errno(error, -errno, "cannot open " PORT);
	/* Raw: a terminal would turn newlines into two bytes. */
	if (tcgetattr(fd, &settings) < 0)
		return error_errno(error, -errno, "cannot set up " PORT);
	cfmakeraw(&settings);
	cfsetspeed(&settings, B115200);
	if (tcsetattr(fd, TCSANOW, &settings) < 0)
		return error_errno(error, -errno, "cannot set up " PORT);
	port = fd;
	return 0;
}

static void frame_send(const char *type, json_t *json)
{
	size_t n, done = 0;
	char *text, *frame;

	text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
	if (!text || port < 0 || cgwb_frame_encode(type, text, strlen(text), &frame, &n) < 0) {
		free(text);
		return;
	}
	while (done < n) {
		ssize_t sent = write(port, frame + done, n - done);

		if (sent < 0 && errno != EINTR)
			break;
		if (sent > 0)
			done += sent;
	}
	free(frame);
	free(text);
}

void report_progress(int jobs_left)
{
	json_t *json = json_object();

	json_object_set_new(json, "phase", json_string(report_phase_now()));
	json_object_set_new(json, "virtual_s", json_rounded(clock_now_ns() / 1e9, 1));
	if (jobs_left >= 0)
		json_object_set_new(json, "jobs_left", json_integer(jobs_left));
	pthread_mutex_lock(&lock);
	frame_send(CGWB_FRAME_PROGRESS, json);
	pthread_mutex_unlock(&lock);
	json_decref(json);
}

void report_result(json_t *result)
{
	/* Never unlocked: nothing can follow a result. */
	pthread_mutex_lock(&lock);
	frame_send(CGWB_FRAME_RESULT, result);
	if (port >= 0)
		tcdrain(port);
	if (ioperm(EXIT_PORT, 1, 1) == 0)
		outb(0, EXIT_PORT);
	/* No such device: then at least nobody waits for this machine. */
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}
