// The functions of libassuan that connections to gpg-agent use. They are taken from the copy of the library that
// libgpgme has loaded. Linking with it would tie the program to one version: Debian 12 and 13 have different ones.
#pragma once
#include <assuan.h>
#include <dlfcn.h>

#define KEYTREE_ASSUAN(X)                                                                                              \
  X(assuan_new)                                                                                                        \
  X(assuan_release)                                                                                                    \
  X(assuan_socket_connect_fd)                                                                                          \
  X(assuan_transact)

#define KEYTREE_POINTER(name) __typeof__(name) *name;
struct keytree_assuan {
  KEYTREE_ASSUAN(KEYTREE_POINTER)
};
#undef KEYTREE_POINTER

// Finds the functions. Returns 0 if libgpgme does not use this library, or the library lacks one of them.
static inline int keytree_assuan_find(struct keytree_assuan *functions) {
#define KEYTREE_RESOLVE(name)                                                                                          \
  if ((functions->name = (__typeof__(name) *)dlsym(RTLD_DEFAULT, #name)) == NULL) return 0;
  KEYTREE_ASSUAN(KEYTREE_RESOLVE)
#undef KEYTREE_RESOLVE
  return 1;
}
