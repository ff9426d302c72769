#define _GNU_SOURCE
#include "CSystem.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

const void *keytree_memrchr(const void *bytes, unsigned char byte, size_t size) {
  return memrchr(bytes, byte, size);
}

int keytree_set_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int keytree_openat(int directory, const char *path, int flags, mode_t mode) {
  return openat(directory, path, flags, mode);
}

int keytree_open_below(int directory, const char *path, int flags) {
  struct open_how how = {0};
  how.flags = (unsigned long long)(unsigned int)flags;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH;
  return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int keytree_open_nameless(const char *folder, mode_t mode) {
  return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
}

int keytree_rename_to_nothing(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

void keytree_wipe(void *bytes, size_t count) { explicit_bzero(bytes, count); }

int keytree_equal(const void *left, const void *right, size_t count) {
  const volatile unsigned char *a = left, *b = right;
  unsigned char difference = 0;
  for (size_t i = 0; i < count; i++) difference |= (unsigned char)(a[i] ^ b[i]);
  return difference == 0;
}
