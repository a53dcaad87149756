// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab.h"

#include "tool.h"

static const struct tool_command commands[] = {
	{ "list", lab_list_main, "the scenarios" },
	{ "show", lab_show_main, "a scenario, or one variant of it, resolved" },
	{ "run", lab_run_main, "run a scenario's cells, print its tables" },
	{ "kernels", lab_kernels_main, "the kernels that guests boot: list, fetch, prune" },
	{ NULL },
};

int lab_main(int argc, char **argv)
{
	return tool_dispatch(commands, "cgwb lab COMMAND ...", argc, argv);
}
