// The password strength estimator of libzxcvbn. It is loaded when it is needed, because one command alone uses it, and
// because that command also works without it.
#include "CSystem.h"

#include <dlfcn.h>
#include <string.h>

// ZxcvbnMatch of zxcvbn.h. Without a third argument it allocates no result that the caller would have to free.
typedef double (*estimator)(const char *password, const char **words, void *parts);

void *keytree_zxcvbn_load(const char *library) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  // The library stays loaded until the process ends.
  return handle == NULL ? NULL : dlsym(handle, "ZxcvbnMatch");
}

double keytree_zxcvbn_bits(void *function, const char *password, const char *words, size_t count) {
  const char *list[KEYTREE_ZXCVBN_WORDS + 1];
  size_t number = 0;
  for (; number < count && number < KEYTREE_ZXCVBN_WORDS; number++) {
    list[number] = words;
    words += strlen(words) + 1;
  }
  list[number] = NULL;
  return ((estimator)function)(password, list, NULL);
}
