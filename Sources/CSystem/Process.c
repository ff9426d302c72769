#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <termios.h>
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
static atomic_int watcher = -1;
// The number of handlers that run now, on any thread.
static atomic_int reports;
static const int watched[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};
enum { watched_count = sizeof watched / sizeof watched[0] };
static struct sigaction before[watched_count];

static atomic_uint end_requests;
static atomic_uint all_requests;

static void report(int number) {
  int saved = errno;
  if (number != SIGCHLD) atomic_fetch_add(&all_requests, 1);
  if (number == SIGTERM || number == SIGHUP) atomic_fetch_add(&end_requests, 1);
  unsigned char byte = (unsigned char)number;
  atomic_fetch_add(&reports, 1);
  int descriptor = atomic_load(&watcher);
  if (descriptor != -1) {
    // The pipe is nonblocking. If it is full, the reader will wake up anyway.
    ssize_t ignored = write(descriptor, &byte, 1);
    (void)ignored;
  }
  atomic_fetch_sub(&reports, 1);
  errno = saved;
}

int keytree_signals_watch(int descriptor) {
  int none = -1;
  if (!atomic_compare_exchange_strong(&watcher, &none, descriptor)) {
    errno = EBUSY;
    return -1;
  }
  struct sigaction action = {.sa_handler = report, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < watched_count; i++) {
    sigaction(watched[i], &action, &before[i]);
  }
  return 0;
}

void keytree_signals_restore(void) {
  for (int i = 0; i < watched_count; i++) sigaction(watched[i], &before[i], NULL);
  atomic_store(&watcher, -1);
  // The caller closes the descriptor. A handler that has just read it must not write to the file that gets its number.
  // A handler that starts later writes nothing, or to the pipe of the next watch, which takes it for a signal of its own.
  while (atomic_load(&reports) > 0) sched_yield();
}

unsigned keytree_signals_count(int from_keyboard) {
  return atomic_load(from_keyboard ? &all_requests : &end_requests);
}

// Negative numbers are process groups, 0 is a free place. A number is removed before the status of the process is
// taken. Only a signal handler that has just read the number on another thread can still send it a signal; the system
// does not use the number again so soon.
enum { child_limit = 64 };
static _Atomic pid_t children[child_limit];

void keytree_child_add(pid_t child) {
  for (int i = 0; i < child_limit; i++) {
    pid_t none = 0;
    if (atomic_compare_exchange_strong(&children[i], &none, child)) return;
  }
}

void keytree_child_remove(pid_t child) {
  for (int i = 0; i < child_limit; i++) {
    pid_t expected = child;
    if (atomic_compare_exchange_strong(&children[i], &expected, 0)) return;
  }
}

static void signal_children(int number) {
  for (int i = 0; i < child_limit; i++) {
    pid_t child = atomic_load(&children[i]);
    if (child != 0) kill(child, number);
  }
}

// Returns true if a child has not ended. Its status is not taken.
static int has_running_child(void) {
  for (int i = 0; i < child_limit; i++) {
    pid_t child = atomic_load(&children[i]);
    siginfo_t facts = {0};
    if (child == 0) continue;
    if (waitid(P_PID, (id_t)(child < 0 ? -child : child), &facts, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        facts.si_pid == 0)
      return 1;
  }
  return 0;
}

// The dialogs that gpg-agent shows for this process, each the descriptor of a process plus one; 0 is a free place. A
// descriptor cannot refer to a process that gets the same number later.
enum { dialog_limit = 8 };
static atomic_int dialogs[dialog_limit];
static char *dialog_terminal;
static struct termios dialog_settings;

static int open_terminal(const char *path) { return open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC); }

void keytree_dialog_terminal(const char *path) {
  int terminal = open_terminal(path);
  if (terminal < 0) return;
  if (tcgetattr(terminal, &dialog_settings) == 0) dialog_terminal = strdup(path);
  close(terminal);
}

void keytree_dialog_add(int process) {
  for (int i = 0; i < dialog_limit; i++) {
    int none = 0;
    if (atomic_compare_exchange_strong(&dialogs[i], &none, process + 1)) return;
  }
}

void keytree_dialog_remove(int process) {
  for (int i = 0; i < dialog_limit; i++) {
    int expected = process + 1;
    if (atomic_compare_exchange_strong(&dialogs[i], &expected, 0)) return;
  }
}

int keytree_process_signal(int process, int number) {
  return (int)syscall(SYS_pidfd_send_signal, process, number, NULL, 0);
}

static void restore_terminal(void) {
  int terminal = dialog_terminal == NULL ? -1 : open_terminal(dialog_terminal);
  if (terminal < 0) return;
  // In the background, the settings belong to the program in the foreground. Input that was typed for the dialog is
  // discarded, because a shell would run it.
  if (tcgetpgrp(terminal) == getpgrp()) tcsetattr(terminal, TCSAFLUSH, &dialog_settings);
  close(terminal);
}

static int has_ended(int process, int milliseconds) {
  struct pollfd request = {process, POLLIN, 0};
  return poll(&request, 1, milliseconds) > 0;
}

// Calls async-signal-safe functions only.
void keytree_dialog_end(int process) {
  int saved = errno;
  static const int signals[] = {SIGINT, SIGTERM};
  int was_shown = !has_ended(process, 0);
  for (int i = 0; was_shown && i < 2; i++) {
    if (keytree_process_signal(process, signals[i]) != 0 || has_ended(process, 500)) break;
  }
  if (was_shown) restore_terminal();
  errno = saved;
}

void keytree_dialogs_end(void) {
  for (int i = 0; i < dialog_limit; i++) {
    int dialog = atomic_load(&dialogs[i]);
    if (dialog != 0) keytree_dialog_end(dialog - 1);
  }
}

// Calls async-signal-safe functions only.
static void end_with_children(int number) {
  struct timespec pause = {0, 10 * 1000 * 1000};
  signal_children(SIGTERM);
  signal_children(SIGCONT);
  keytree_dialogs_end();
  for (int i = 0; i < 50 && has_running_child(); i++) nanosleep(&pause, NULL);
  signal_children(SIGKILL);
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  sigaction(number, &action, NULL);
  sigprocmask(SIG_UNBLOCK, &only, NULL);
  raise(number);
  // The first process of a container does not end by a signal.
  _exit(128 + number);
}

static sigset_t launch_mask;

void keytree_end_with_children(void) {
  struct sigaction action = {.sa_handler = end_with_children, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < watched_count; i++) {
    if (watched[i] != SIGCHLD) sigaddset(&action.sa_mask, watched[i]);
  }
  for (int i = 0; i < watched_count; i++) {
    struct sigaction old;
    if (watched[i] == SIGCHLD) continue;
    // Ignored signals stay ignored, as under nohup(1).
    if (sigaction(watched[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) sigaction(watched[i], &action, NULL);
  }
  pthread_sigmask(SIG_UNBLOCK, &action.sa_mask, &launch_mask);
}

void keytree_restore_launch_mask(void) { pthread_sigmask(SIG_SETMASK, &launch_mask, NULL); }

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
