// Hides terminal input. In C, because signal handlers may use only async-signal-safe functions, which Swift code does
// not guarantee.
#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
enum { watched_count = sizeof watched / sizeof watched[0] };

static atomic_flag busy = ATOMIC_FLAG_INIT;
static int terminal = -1;
static struct termios shown, hidden;
static struct sigaction before[watched_count];
static volatile sig_atomic_t suspended;

static void handle(int signal_number) {
  int saved_errno = errno;
  struct sigaction ours;
  sigset_t only;
  int index = 0;
  while (index < watched_count && watched[index] != signal_number) index++;
  if (index == watched_count) return;

  tcsetattr(terminal, TCSANOW, &shown);
  sigemptyset(&only);
  sigaddset(&only, signal_number);
  sigaction(signal_number, &before[index], &ours);
  raise(signal_number);
  sigprocmask(SIG_UNBLOCK, &only, NULL);
  // The code below runs after the program was stopped and continued, or after its own handler has run.
  sigprocmask(SIG_BLOCK, &only, NULL);
  sigaction(signal_number, &ours, NULL);
  tcsetattr(terminal, TCSANOW, &hidden);
  if (signal_number == SIGTSTP) suspended = 1;
  errno = saved_errno;
}

int keytree_terminal_hide(int descriptor) {
  struct sigaction action;
  if (atomic_flag_test_and_set(&busy)) {
    errno = EBUSY;
    return -1;
  }
  if (tcgetattr(descriptor, &shown) != 0) goto failed;
  hidden = shown;
  hidden.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
  hidden.c_lflag |= ICANON | ISIG;
  hidden.c_iflag |= IUTF8 | ICRNL;
  terminal = descriptor;
  suspended = 0;

  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: a signal has to interrupt the reader.
  for (int i = 0; i < watched_count; i++) {
    sigaction(watched[i], NULL, &before[i]);
    // Ignored signals stay ignored, as under nohup(1).
    if (before[i].sa_handler != SIG_IGN) sigaction(watched[i], &action, NULL);
  }
  // Discard input that was typed before: it was not meant for this prompt, and it has been echoed.
  if (tcsetattr(descriptor, TCSAFLUSH, &hidden) == 0) return 0;
  keytree_terminal_show();
  return -1;
failed:
  atomic_flag_clear(&busy);
  return -1;
}

void keytree_terminal_show(void) {
  int saved_errno = errno;
  tcsetattr(terminal, TCSAFLUSH, &shown);
  for (int i = 0; i < watched_count; i++) sigaction(watched[i], &before[i], NULL);
  terminal = -1;
  atomic_flag_clear(&busy);
  errno = saved_errno;
}

int keytree_terminal_was_suspended(void) {
  int was = suspended;
  suspended = 0;
  return was;
}
