// The functions of expat that imports use. The library is loaded when it is needed, because every linked library
// slows down all commands.
#pragma once
#include <dlfcn.h>
#include <stddef.h>
#include <expat.h>

#define KEYTREE_EXPAT(X)                                                                                               \
  X(XML_GetCurrentLineNumber)                                                                                          \
  X(XML_GetErrorCode)                                                                                                  \
  X(XML_Parse)                                                                                                         \
  X(XML_ParserCreate_MM)                                                                                               \
  X(XML_ParserFree)                                                                                                    \
  X(XML_SetCharacterDataHandler)                                                                                       \
  X(XML_SetElementHandler)                                                                                             \
  X(XML_SetStartDoctypeDeclHandler)                                                                                    \
  X(XML_SetUserData)                                                                                                   \
  X(XML_StopParser)

#define KEYTREE_POINTER(name) __typeof__(name) *name;
struct keytree_expat {
  KEYTREE_EXPAT(KEYTREE_POINTER)
};
#undef KEYTREE_POINTER

// Loads the library. `name` is its name for dlopen(3). It stays loaded until the process ends. Returns 0 if it is not
// installed, or lacks a function.
static inline int keytree_expat_load(const char *name, struct keytree_expat *functions) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 0;
#define KEYTREE_RESOLVE(name)                                                                                          \
  if ((functions->name = (__typeof__(name) *)dlsym(library, #name)) == NULL) return 0;
  KEYTREE_EXPAT(KEYTREE_RESOLVE)
#undef KEYTREE_RESOLVE
  return 1;
}
