#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stddef.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

char *const *keytree_environment(void) { return environ; }

int keytree_is_in_memory(int descriptor) {
  struct statfs facts;
  if (fstatfs(descriptor, &facts) != 0) return -1;
  return facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC;
}

int keytree_synchronize_all(int descriptor) { return syncfs(descriptor); }

// A handler is handed nothing but the number, so where it reports to has to be global.
static volatile sig_atomic_t watcher = -1;
static const int watched[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};
enum { watched_count = sizeof watched / sizeof watched[0] };
static struct sigaction before[watched_count];

static void report(int number) {
  int saved = errno;
  unsigned char byte = (unsigned char)number;
  // The pipe does not block. When it is full, the reader is about to wake up anyway.
  ssize_t ignored = write(watcher, &byte, 1);
  (void)ignored;
  errno = saved;
}

int keytree_signals_watch(int descriptor) {
  if (watcher != -1) {
    errno = EBUSY;
    return -1;
  }
  watcher = descriptor;
  struct sigaction action = {.sa_handler = report, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < watched_count; i++) {
    sigaction(watched[i], &action, &before[i]);
  }
  return 0;
}

void keytree_signals_restore(void) {
  for (int i = 0; i < watched_count; i++) sigaction(watched[i], &before[i], NULL);
  watcher = -1;
}

int keytree_detach(void) {
  pid_t copy = fork();
  if (copy < 0) return -1;
  if (copy > 0) _exit(0);
  // Neither can fail: a copy leads no group, and there is always a root.
  (void)setsid();
  return chdir("/");
}

void keytree_sleep(long seconds) {
  struct timespec end;
  clock_gettime(CLOCK_BOOTTIME, &end);
  end.tv_sec += seconds;
  while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &end, NULL) == EINTR) {}
}
