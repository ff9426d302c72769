#define _GNU_SOURCE
#include "CSystem.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void keytree_release(void *block) {
  if (block == NULL) return;
  explicit_bzero(block, malloc_usable_size(block));
  free(block);
}

void *keytree_resize(void *block, size_t size) {
  void *wider = malloc(size);
  if (block == NULL || wider == NULL) return wider;
  size_t old = malloc_usable_size(block);
  memcpy(wider, block, old < size ? old : size);
  keytree_release(block);
  return wider;
}
