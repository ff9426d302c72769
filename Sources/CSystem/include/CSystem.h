// Glibc functions that are GNU extensions, macros or variadic, and a few helpers, in a form that Swift can call.
#pragma once
#include <spawn.h>
#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// Finds the first occurrence of a byte string in another, like memmem(3), but with vector instructions. `first` and
// `second` are the offsets, less than `needle_size`, of the two bytes of the needle that are tested first; the rarer they
// are, the faster the search is. If `ignores_case` is not 0, ASCII letters match in either case, and the needle must have
// no upper-case ones. Returns NULL if there is none, or the needle is empty.
const void *keytree_search(const void *haystack, size_t haystack_size, const void *needle, size_t needle_size,
                           size_t first, size_t second, int ignores_case);

// The same for any processor.
const void *keytree_search_portable(const void *haystack, size_t haystack_size, const void *needle, size_t needle_size,
                                    size_t first, size_t second, int ignores_case);

// memrchr(3): finds the last occurrence of a byte.
const void *keytree_memrchr(const void *bytes, unsigned char byte, size_t size);

// prctl(2) PR_SET_DUMPABLE 0: prevents core dumps, and ptrace by other processes of the user.
int keytree_set_undumpable(void);

// openat(2) with its optional mode argument.
int keytree_openat(int directory, const char *path, int flags, mode_t mode);

// openat2(2): opens an existing path of several components below a folder. Fails if any component is a link, or if the
// path leaves the folder. Returns -1 with errno on failure, ENOSYS before Linux 5.6 and EPERM in some sandboxes.
int keytree_open_below(int directory, const char *path, int flags);

// open(2) with O_TMPFILE: creates an unnamed file in a folder and opens it for writing. Returns -1 with errno on
// failure.
int keytree_open_nameless(const char *folder, mode_t mode);

// renameat2(2) with RENAME_NOREPLACE: renames a file. Fails with EEXIST if the new name exists. Returns -1 with errno
// on failure.
int keytree_rename_to_nothing(const char *from, const char *to);

// explicit_bzero(3): wipes memory. The compiler does not remove the call.
void keytree_wipe(void *bytes, size_t count);

// Wipes and frees a whole heap block. Used for the memory of libraries that handle secrets. Accepts `NULL`.
void keytree_release(void *block);

// Like realloc(3), but always moves the block, and wipes and frees the old one.
void *keytree_resize(void *block, size_t size);

// Returns 1 if two blocks of the same size are equal. The time taken does not depend on their content.
int keytree_equal(const void *left, const void *right, size_t count);

// Disables the echo of a terminal, and restores its settings when a signal ends or stops the program. A process can do
// this for only one terminal at a time. Returns -1 with errno on failure, EBUSY if echo is already disabled on a
// terminal.
int keytree_terminal_hide(int descriptor);

// Restores the settings that keytree_terminal_hide changed.
void keytree_terminal_show(void);

// Returns 1 if the program was stopped and continued since the last call.
int keytree_terminal_was_suspended(void);

// Runs body(context) to completion on a new thread whose stack is locked in memory and wiped afterwards. Runs it on the
// current stack if no thread can be created.
void keytree_on_wiped_stack(void (*body)(void *), void *context);

// Starts body(context) on a detached thread. Returns an error number on failure.
int keytree_in_background(void *(*body)(void *), void *context);

// Connects to a local socket. Returns the descriptor, or -1 with errno.
int keytree_connect_local(const char *path);

// environ(7): the environment variables of this process, terminated by NULL.
char *const *keytree_environment(void);

// fstatfs(2): returns 1 if an open file or folder is on tmpfs or ramfs, 0 if not, -1 with errno on failure.
int keytree_is_in_memory(int descriptor);

// syncfs(2): flushes the whole file system of an open folder to disk. Returns -1 with errno on failure.
int keytree_synchronize_all(int descriptor);

// Replaces the actions of SIGINT, SIGQUIT, SIGTERM, SIGHUP and SIGCHLD: each signal writes its number, one byte, to a
// nonblocking descriptor. Returns -1 with errno EBUSY if a watch is already active.
int keytree_signals_watch(int descriptor);

// Restores the signal actions that keytree_signals_watch replaced. Afterwards no handler uses the descriptor.
void keytree_signals_restore(void);

// Returns the number of signals that watches have reported in this process: SIGTERM and SIGHUP, and those of the
// keyboard if wanted.
unsigned keytree_signals_count(int from_keyboard);

// Makes SIGINT, SIGQUIT, SIGTERM and SIGHUP end the registered children before they end this process: by SIGTERM, and half
// a second later by SIGKILL. A signal that is ignored stays ignored. Unblocks the signals, because some programs start
// their children with blocked signals by mistake. To be called once, before other threads exist.
void keytree_end_with_children(void);

// Restores the blocked signals that keytree_end_with_children has found, for a program that replaces this one.
void keytree_restore_launch_mask(void);

// Registers a child for keytree_end_with_children; a negative number is its process group. The 65th is not registered.
void keytree_child_add(pid_t child);

// Removes a registered child. To be called before its status is taken.
void keytree_child_remove(pid_t child);

// Remembers the settings of a terminal, which the end of a dialog restores. Does nothing if the path is not that of a
// terminal. To be called once, before other threads exist.
void keytree_dialog_terminal(const char *path);

// Registers a passphrase dialog, the descriptor of a process that is not a child, so that keytree_end_with_children ends
// it, too. The ninth is not registered.
void keytree_dialog_add(int process);

// Removes a registered dialog. To be called before the descriptor is closed.
void keytree_dialog_remove(int process);

// Ends a dialog if it is still shown: by SIGINT, and half a second later by SIGTERM. Waits for its end for at most one
// second, and restores the terminal.
void keytree_dialog_end(int process);

// Ends all registered dialogs in this way. Calls async-signal-safe functions only.
void keytree_dialogs_end(void);

// pidfd_send_signal(2): sends a signal to the process of a descriptor. Returns -1 with errno on failure.
int keytree_process_signal(int process, int number);

// pipe2(2): creates a pipe whose ends are not inherited. Returns -1 with errno on failure.
int keytree_pipe(int ends[2]);

// posix_spawn_file_actions_addchdir_np(3): sets the folder in which the program starts. Returns an error number on
// failure.
int keytree_spawn_chdir(posix_spawn_file_actions_t *actions, const char *path);

// prlimit(2): limits the data memory of a process and its future children, in bytes. Returns -1 with errno on failure.
int keytree_limit_memory(pid_t process, size_t size);

// posix_spawn_file_actions_addclosefrom_np(3): closes all descriptors from this number on. Returns an error number on
// failure.
int keytree_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

// pidfd_open(2): returns a descriptor that becomes readable when a process has ended; -1 with errno on failure.
int keytree_process_descriptor(pid_t process);

// write(2) that reports a broken pipe only as EPIPE, whatever the action for SIGPIPE is.
ssize_t keytree_write_quietly(int descriptor, const void *bytes, size_t count);

// Continues in a background process: the calling process exits with status 0, and its copy returns, in a new session
// and with `/` as its current folder. The caller must have only one thread. Returns -1 with errno on failure.
int keytree_detach(void);

// Sleeps for this number of seconds, including any time for which the machine is suspended (CLOCK_BOOTTIME).
void keytree_sleep(long seconds);

// The maximum number of words for keytree_zxcvbn_bits; further words are ignored.
#define KEYTREE_ZXCVBN_WORDS 64

// Loads libzxcvbn, and returns its estimator; NULL if the library is not installed or has no estimator. `library` is the
// name of the library for dlopen(3).
void *keytree_zxcvbn_load(const char *library);

// Returns the bits of entropy of a password, as estimated by the function that keytree_zxcvbn_load returned. `words` are
// `count` strings one after the other, each ended by NUL, that are as easy to guess as the most common passwords. Any
// thread may call it.
double keytree_zxcvbn_bits(void *function, const char *password, const char *words, size_t count);

#ifdef __cplusplus
}
#endif
