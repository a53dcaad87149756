/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files and folders as the lab's caches and runs need them: whole or not at all.
 *
 * What appears under its final name is complete: it is written under another name beside it, and
 * renamed. What was left by a program that was killed on the way has a name with `.tmp.` in it,
 * which nobody reads.
 *
 * Functions return 0 or a negative errno.
 */
#ifndef CGWB_FILES_H
#define CGWB_FILES_H

#include <stddef.h>

/* Makes a folder and those above it; one that exists is fine. */
int cgwb_mkdir_p(const char *path);

/* Makes a new folder PATH.tmp.XXXXXX; its name is the caller's to free. */
int cgwb_mkdir_temporary(const char *path, char **ret_path);

/*
 * Removes a file, or a folder with all that is in it. -ENOENT if it is not there. NULL: nothing to
 * do.
 */
int cgwb_remove(const char *path);

/*
 * Removes whatever PATH.tmp.* a killed program left behind. The caller holds the lock that guards
 * PATH.
 */
void cgwb_remove_stale(const char *path);

/*
 * A file's content, with a 0 byte after it that `ret_size` (may be NULL) does not count; the caller
 * frees it.
 */
int cgwb_read_file(const char *path, char **ret_text, size_t *ret_size);

/* Writes a file whole and renames it into place. */
int cgwb_write_file(const char *path, const void *data, size_t size);

/*
 * Takes the lock file PATH (made if need be) against other processes, and returns a descriptor:
 * closing it gives the lock back. The first waits for whoever has it, the second returns
 * -EWOULDBLOCK.
 */
int cgwb_lock_file(const char *path);
int cgwb_trylock_file(const char *path);

/*
 * The path of a program: as it stands if it has a slash, else from PATH, then the sbin folders. The
 * caller frees it.
 */
int cgwb_find_program(const char *name, char **ret_path);

#endif
