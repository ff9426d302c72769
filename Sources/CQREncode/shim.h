// The functions of libqrencode that the option `--qr` uses. The library is loaded when it is needed, because every linked
// library slows down all commands.
#pragma once
#include <dlfcn.h>
#include <stddef.h>
#include <qrencode.h>

#define KEYTREE_QRENCODE(X)                                                                                            \
  X(QRcode_encodeData)                                                                                                 \
  X(QRcode_free)

#define KEYTREE_POINTER(name) __typeof__(name) *name;
struct keytree_qrencode {
  KEYTREE_QRENCODE(KEYTREE_POINTER)
};
#undef KEYTREE_POINTER

// Loads the library. `name` is its name for dlopen(3). It stays loaded until the process ends. Returns 0 if it is not
// installed, or lacks a function.
static inline int keytree_qrencode_load(const char *name, struct keytree_qrencode *functions) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 0;
#define KEYTREE_RESOLVE(name)                                                                                          \
  if ((functions->name = (__typeof__(name) *)dlsym(library, #name)) == NULL) return 0;
  KEYTREE_QRENCODE(KEYTREE_RESOLVE)
#undef KEYTREE_RESOLVE
  return 1;
}
