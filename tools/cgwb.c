// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "lab.h"
#include "tool.h"

static const struct tool_command commands[] = {
	{ "lab", lab_main, "run scenarios on real kernels in virtual time" },
	{ NULL },
};

int main(int argc, char **argv)
{
	if (argc > 1 && (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version"))) {
		printf("cgwb %s\n", CGWB_VERSION);
		return tool_flush();
	}
	return tool_dispatch(commands, "cgwb [-h | -V] COMMAND ...", argc, argv);
}
