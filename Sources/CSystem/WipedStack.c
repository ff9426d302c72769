// Runs code on a thread whose stack is locked in memory and wiped afterwards. In C, because pthread_create(3) must get
// the stack before any Swift code runs on it.
#define _GNU_SOURCE
#include "CSystem.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { stack_size = 256 * 1024 };

struct job {
  void (*body)(void *);
  void *context;
};

// Wipes the used part of the stack: everything from the lowest page that is in memory.
static void wipe(char *stack) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char in_memory[stack_size / 4096];
  size_t unused = 0;
  if (page >= 4096 && mincore(stack, stack_size, in_memory) == 0)
    while (unused < stack_size / page && !(in_memory[unused] & 1)) unused++;
  explicit_bzero(stack + unused * page, stack_size - unused * page);
}

static void *run(void *argument) {
  struct job *job = argument;
  job->body(job->context);
  return NULL;
}

void keytree_on_wiped_stack(void (*body)(void *), void *context) {
  struct job job = {body, context};
  pthread_attr_t attributes;
  pthread_t thread;
  int started = 0, is_locked = 0;
  size_t guard = (size_t)sysconf(_SC_PAGESIZE);
  char *memory = mmap(NULL, stack_size + guard, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory != MAP_FAILED) {
    char *stack = memory + guard;
    // The page below the stack turns an overflow into a crash instead of damage.
    mprotect(memory, guard, PROT_NONE);
    // A locked page stays in memory, so that `wipe` finds it. Only the pages in use are locked: locking all of them
    // would allocate them, and every fork would copy their page tables.
    is_locked = mlock2(stack, stack_size, MLOCK_ONFAULT) == 0;
    if (!is_locked) mlock(stack, stack_size);
    madvise(stack, stack_size, MADV_DONTDUMP);
    if (pthread_attr_init(&attributes) == 0) {
      if (pthread_attr_setstack(&attributes, stack, stack_size) == 0)
        started = pthread_create(&thread, &attributes, run, &job) == 0;
      pthread_attr_destroy(&attributes);
    }
  }
  if (started) {
    pthread_join(thread, NULL);
    if (is_locked)
      wipe(memory + guard);
    else
      // A page that is not locked may have been swapped out, and `wipe` would not find it.
      explicit_bzero(memory + guard, stack_size);
  } else {
    // If no thread can be created, the work is still done, but its data stays on the current stack.
    body(context);
  }
  if (memory != MAP_FAILED) munmap(memory, stack_size + guard);
}


int keytree_in_background(void *(*body)(void *), void *context) {
  pthread_attr_t attributes;
  pthread_t thread;
  int problem = pthread_attr_init(&attributes);
  if (problem) return problem;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  problem = pthread_create(&thread, &attributes, body, context);
  pthread_attr_destroy(&attributes);
  return problem;
}
