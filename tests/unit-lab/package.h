/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debian packages for tests. */
#ifndef PACKAGE_H
#define PACKAGE_H

struct package_file {
	const char *path; /* "./boot/x" */
	const char *text;
};

/* Writes a package with these files; the list ends with a NULL path. */
void package_write(const char *deb, const struct package_file *files);

#endif
