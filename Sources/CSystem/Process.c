#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

char *const *keytree_environment(void) { return environ; }

int keytree_is_in_memory(int descriptor) {
  struct statfs facts;
  if (fstatfs(descriptor, &facts) != 0) return -1;
  return facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC;
}

int keytree_limit_memory(pid_t process, size_t size) {
  struct rlimit limit = {(rlim_t)size, (rlim_t)size};
  return prlimit(process, RLIMIT_DATA, &limit, NULL);
}

int keytree_synchronize_all(int descriptor) { return syncfs(descriptor); }

// A signal handler gets only the signal number, so the descriptor has to be global.
static volatile sig_atomic_t watcher = -1;
static const int watched[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};
enum { watched_count = sizeof watched / sizeof watched[0] };
static struct sigaction before[watched_count];

static void report(int number) {
  int saved = errno;
  unsigned char byte = (unsigned char)number;
  // The pipe is nonblocking. If it is full, the reader will wake up anyway.
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
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  pid_t copy = fork();
  if (copy != 0) {
    // The process that waits for this one may close the terminal as soon as it exits, so wait until the copy has left
    // the session.
    close(ends[1]);
    unsigned char nothing;
    while (copy > 0 && read(ends[0], &nothing, 1) < 0 && errno == EINTR) {}
    if (copy > 0) _exit(0);
    close(ends[0]);
    return -1;
  }
  // Neither call can fail: a new child does not lead a process group, and `/` always exists.
  (void)setsid();
  int result = chdir("/");
  close(ends[0]);
  close(ends[1]);
  return result;
}

void keytree_sleep(long seconds) {
  struct timespec end;
  clock_gettime(CLOCK_BOOTTIME, &end);
  end.tv_sec += seconds;
  while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &end, NULL) == EINTR) {}
}
