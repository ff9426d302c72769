// Searches large byte strings. The compiler turns the inner loop into vector instructions.
#include "CSystem.h"

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#define HAS_AVX2 1
#endif

// The number of positions that are tested at once.
enum { block = 64 };

// Returns the bits that differ between a letter's two cases; 0 for another byte, or if case matters.
static uint8_t case_bits(uint8_t byte, int ignores_case) { return ignores_case && byte >= 'a' && byte <= 'z' ? 0x20 : 0; }

static int matches(const uint8_t *bytes, const uint8_t *text, size_t size, int ignores_case) {
  if (!ignores_case) return memcmp(bytes, text, size) == 0;
  for (size_t i = 0; i < size; i++) {
    if ((bytes[i] | case_bits(text[i], 1)) != text[i]) return 0;
  }
  return 1;
}

static inline __attribute__((always_inline)) const void *search(const uint8_t *bytes, size_t haystack_size,
                                                                const uint8_t *text, size_t needle_size,
                                                                size_t first, size_t second, int ignores_case) {
  const uint8_t byte1 = text[first], byte2 = text[second];
  const uint8_t case1 = case_bits(byte1, ignores_case), case2 = case_bits(byte2, ignores_case);
  // The number of positions at which the text can begin.
  const size_t positions = haystack_size - needle_size + 1;
  size_t position = 0;
  while (position < positions) {
    const uint8_t *p1 = bytes + position + first, *p2 = bytes + position + second;
    size_t end = position + block;
    if (end <= positions) {
      uint8_t found = 0;
      for (size_t i = 0; i < block; i++) found |= (uint8_t)(((p1[i] | case1) == byte1) & ((p2[i] | case2) == byte2));
      if (!found) {
        position = end;
        continue;
      }
    } else {
      end = positions;
    }
    for (; position < end; position++) {
      if ((bytes[position + first] | case1) != byte1) continue;
      if (matches(bytes + position, text, needle_size, ignores_case)) return bytes + position;
    }
  }
  return NULL;
}

#ifdef HAS_AVX2
__attribute__((target("avx2"))) static const void *search_avx2(const void *haystack, size_t haystack_size,
                                                               const void *needle, size_t needle_size, size_t first,
                                                               size_t second, int ignores_case) {
  return search(haystack, haystack_size, needle, needle_size, first, second, ignores_case);
}
#endif

const void *keytree_search_portable(const void *haystack, size_t haystack_size, const void *needle, size_t needle_size,
                                    size_t first, size_t second, int ignores_case) {
  if (needle_size == 0 || needle_size > haystack_size) return NULL;
  return search(haystack, haystack_size, needle, needle_size, first, second, ignores_case);
}

const void *keytree_search(const void *haystack, size_t haystack_size, const void *needle, size_t needle_size,
                           size_t first, size_t second, int ignores_case) {
#ifdef HAS_AVX2
  // Glibc has already read the features of the processor. Reading them again is slow in a virtual machine.
  if (needle_size > 0 && needle_size <= haystack_size && CPU_FEATURE_ACTIVE(AVX2)) {
    return search_avx2(haystack, haystack_size, needle, needle_size, first, second, ignores_case);
  }
#endif
  return keytree_search_portable(haystack, haystack_size, needle, needle_size, first, second, ignores_case);
}
