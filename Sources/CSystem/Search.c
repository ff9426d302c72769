// Searching for several byte strings at once, many bytes at a time. memmem(3) looks for one, and needs four times
// as long: it does not know which bytes are seldom in a text.
#include "CSystem.h"

#include <stdint.h>
#include <string.h>

enum { lanes = 16, window = 4096 };
typedef unsigned char vector __attribute__((vector_size(lanes)));
typedef uint64_t words __attribute__((vector_size(lanes)));

static vector load(const unsigned char *bytes) {
  vector result;
  memcpy(&result, bytes, lanes);
  return result;
}

static int is_at(const unsigned char *place, const unsigned char *bytes, const struct keytree_needle *needle) {
  return place[needle->first] == bytes[needle->first] && place[needle->second] == bytes[needle->second] &&
         memcmp(place, bytes, needle->count) == 0;
}

// The first place in [start, end) where the needle begins, or end. It fits at every one of these places.
static size_t first_place(const unsigned char *text, size_t start, size_t end, const unsigned char *bytes,
                          const struct keytree_needle *needle) {
  const vector first = (vector){0} + bytes[needle->first], second = (vector){0} + bytes[needle->second];
  size_t place = start;
  for (; end - place >= lanes; place += lanes) {
    words hits = (words)((load(text + place + needle->first) == first) &
                         (load(text + place + needle->second) == second));
    if ((hits[0] | hits[1]) == 0) continue;
    for (size_t lane = 0; lane < lanes; lane++)
      if (is_at(text + place + lane, bytes, needle)) return place + lane;
  }
  for (; place < end; place++)
    if (is_at(text + place, bytes, needle)) return place;
  return end;
}

size_t keytree_search(const unsigned char *text, size_t size, size_t start, const unsigned char *bytes,
                      const struct keytree_needle *needles, size_t count) {
  // In windows, so that every needle finds the text in the first-level cache.
  while (start < size) {
    size_t end = size - start < window ? size : start + window, found = end;
    for (size_t i = 0; i < count; i++) {
      const struct keytree_needle *needle = &needles[i];
      size_t last = size < needle->count ? 0 : size - needle->count + 1;
      size_t limit = found < last ? found : last;
      if (limit <= start) continue;
      size_t place = first_place(text, start, limit, bytes + needle->start, needle);
      if (place < limit) found = place;
    }
    if (found < end) return found;
    start = end;
  }
  return size;
}
