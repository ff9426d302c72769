// System calls for running another program that are not in posix_spawn(3).
#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int keytree_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int keytree_spawn_chdir(posix_spawn_file_actions_t *actions, const char *path) {
  return posix_spawn_file_actions_addchdir_np(actions, path);
}

int keytree_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int keytree_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

ssize_t keytree_write_quietly(int descriptor, const void *bytes, size_t count) {
  sigset_t broken_pipe, before, pending;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  sigpending(&pending);
  ssize_t written = write(descriptor, bytes, count);
  int problem = errno;
  // The kernel sends the signal to the writing thread, so it is consumed here. A signal that was pending before is
  // kept.
  if (written < 0 && problem == EPIPE && !sigismember(&pending, SIGPIPE)) {
    struct timespec at_once = {0};
    while (sigtimedwait(&broken_pipe, NULL, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = problem;
  return written;
}
