// What Glibc offers only as a GNU extension, a macro or a variadic function, in a form Swift can call.
#pragma once
#include <spawn.h>
#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// memmem(3): the first occurrence of a byte string in another.
const void *keytree_memmem(const void *haystack, size_t haystack_size, const void *needle,
                           size_t needle_size);

// memrchr(3): the last occurrence of a byte.
const void *keytree_memrchr(const void *bytes, unsigned char byte, size_t size);

// prctl(2) PR_SET_DUMPABLE 0: no core dump, no ptrace by other processes of the user.
int keytree_set_undumpable(void);

// openat(2) with its optional mode argument.
int keytree_openat(int directory, const char *path, int flags, mode_t mode);

// open(2) with O_TMPFILE: a new file without a name in a folder, for writing; -1 with errno on failure.
int keytree_open_nameless(const char *folder, mode_t mode);

// renameat2(2) with RENAME_NOREPLACE: fails with EEXIST if something has the new name; -1 with errno.
int keytree_rename_to_nothing(const char *from, const char *to);

// explicit_bzero(3): a wipe that the compiler may not remove.
void keytree_wipe(void *bytes, size_t count);

// Wipes a block of the heap, all that was allocated of it, and gives it back: for the memory of other libraries that
// secrets pass through. `NULL` is nothing.
void keytree_release(void *block);

// As realloc(3), but moves always, and wipes the block it leaves.
void *keytree_resize(void *block, size_t size);

// Whether two blocks of one size are equal, in a time that does not depend on their content.
int keytree_equal(const void *left, const void *right, size_t count);

// Switches the echo of a terminal off, and puts its settings back when a signal ends or stops the program.
// One terminal at a time in a process; -1 with errno EBUSY otherwise.
int keytree_terminal_hide(int descriptor);

// Puts back what keytree_terminal_hide changed.
void keytree_terminal_show(void);

// Whether the program was stopped and continued since the last call.
int keytree_terminal_was_suspended(void);

// Runs body(context) to its end on a thread of its own, whose stack is locked in memory and wiped afterwards.
void keytree_on_wiped_stack(void (*body)(void *), void *context);

// Starts body(context) on a detached thread; an error number when that is not possible.
int keytree_in_background(void *(*body)(void *), void *context);

// Whether something accepts connections on a local socket: 0, or the error number of connect(2).
int keytree_connect_local(const char *path);
// environ(7): the variables of this process, ended by NULL.
char *const *keytree_environment(void);

// fstatfs(2): 1 when an open file or folder lives on tmpfs or ramfs, 0 when not, -1 with errno on failure.
int keytree_is_in_memory(int descriptor);

// syncfs(2): everything of the file system that an open folder is on is brought to disk; -1 with errno.
int keytree_synchronize_all(int descriptor);

// Reports SIGINT, SIGQUIT, SIGTERM, SIGHUP and SIGCHLD by writing their number, one byte, to a descriptor
// that does not block, instead of what they did before. One watch at a time; -1 with errno EBUSY otherwise.
int keytree_signals_watch(int descriptor);

// Puts back what the signals did before keytree_signals_watch.
void keytree_signals_restore(void);

// pipe2(2): a pipe whose ends are not inherited; -1 with errno on failure.
int keytree_pipe(int ends[2]);

// posix_spawn_file_actions_addchdir_np(3): the folder in which the program starts; an error number on failure.
int keytree_spawn_chdir(posix_spawn_file_actions_t *actions, const char *path);

// prlimit(2): the most bytes of memory that a process, and each that it starts from now on, may ask for; -1 on failure.
int keytree_limit_memory(pid_t process, size_t size);

// posix_spawn_file_actions_addclosefrom_np(3): the program gets no descriptor from this one on.
int keytree_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

// pidfd_open(2): a descriptor that becomes readable when a process has ended; -1 with errno on failure.
int keytree_process_descriptor(pid_t process);

// write(2) that reports a broken pipe by EPIPE alone, whatever this process does about SIGPIPE.
ssize_t keytree_write_quietly(int descriptor, const void *bytes, size_t count);

// Goes on as a process of its own: the one that was started ends with status 0, and its copy, in a new session and
// with the root as its folder, returns. To be called by a process with one thread. -1 with errno on failure.
int keytree_detach(void);

// Sleeps for some seconds; what the machine sleeps counts (CLOCK_BOOTTIME).
void keytree_sleep(long seconds);

#ifdef __cplusplus
}
#endif
