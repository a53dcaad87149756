/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lab's sub-commands, a file each. */
#ifndef LAB_H
#define LAB_H

int lab_main(int argc, char **argv);
int lab_list_main(int argc, char **argv);
int lab_show_main(int argc, char **argv);
int lab_run_main(int argc, char **argv);
int lab_kernels_main(int argc, char **argv);

#endif
