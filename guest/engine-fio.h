/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What fio reports, as the guest reads it. */
#ifndef GUEST_ENGINE_FIO_H
#define GUEST_ENGINE_FIO_H

#include "engine.h"

/*
 * Reads the text of --output-format=json. Adds "read", "write", "trim" to @details for the directions
 * that moved anything, and sets @figures by the one that moved most. @name is the job's, for errors:
 * -EBADMSG for what is no report, -EIO for one that reports an error.
 */
int fio_report_parse(const char *text, const char *name, struct job_figures *figures,
		     json_t *details, struct error *error);

#endif
