#include "CSDBus.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

// The three libraries have the same functions and types.
#if __has_include(<systemd/sd-bus.h>)
#include <systemd/sd-bus.h>
#elif __has_include(<elogind/systemd/sd-bus.h>)
#include <elogind/systemd/sd-bus.h>
#else
#include <basu/sd-bus.h>
#endif

#define FUNCTIONS(X)                                                                                                   \
  X(sd_bus_add_fallback)                                                                                               \
  X(sd_bus_add_match)                                                                                                  \
  X(sd_bus_call)                                                                                                       \
  X(sd_bus_error_free)                                                                                                 \
  X(sd_bus_flush)                                                                                                      \
  X(sd_bus_flush_close_unref)                                                                                          \
  X(sd_bus_get_events)                                                                                                 \
  X(sd_bus_get_fd)                                                                                                     \
  X(sd_bus_get_timeout)                                                                                                \
  X(sd_bus_get_unique_name)                                                                                            \
  X(sd_bus_message_append_array)                                                                                       \
  X(sd_bus_message_append_basic)                                                                                       \
  X(sd_bus_message_close_container)                                                                                    \
  X(sd_bus_message_enter_container)                                                                                    \
  X(sd_bus_message_exit_container)                                                                                     \
  X(sd_bus_message_get_expect_reply)                                                                                   \
  X(sd_bus_message_get_interface)                                                                                      \
  X(sd_bus_message_get_member)                                                                                         \
  X(sd_bus_message_get_path)                                                                                           \
  X(sd_bus_message_get_sender)                                                                                         \
  X(sd_bus_message_get_signature)                                                                                      \
  X(sd_bus_message_new_method_call)                                                                                    \
  X(sd_bus_message_new_method_error)                                                                                   \
  X(sd_bus_message_new_method_return)                                                                                  \
  X(sd_bus_message_new_signal)                                                                                         \
  X(sd_bus_message_open_container)                                                                                     \
  X(sd_bus_message_peek_type)                                                                                          \
  X(sd_bus_message_read_array)                                                                                         \
  X(sd_bus_message_read_basic)                                                                                         \
  X(sd_bus_message_ref)                                                                                                \
  X(sd_bus_message_rewind)                                                                                             \
  X(sd_bus_message_sensitive)                                                                                          \
  X(sd_bus_message_set_destination)                                                                                    \
  X(sd_bus_message_unref)                                                                                              \
  X(sd_bus_negotiate_fds)                                                                                              \
  X(sd_bus_new)                                                                                                        \
  X(sd_bus_process)                                                                                                    \
  X(sd_bus_send)                                                                                                       \
  X(sd_bus_set_address)                                                                                                \
  X(sd_bus_set_bus_client)                                                                                             \
  X(sd_bus_start)                                                                                                      \
  X(sd_bus_unref)

#define POINTER(name) __typeof__(name) *name;
struct functions {
  FUNCTIONS(POINTER)
};

// Set by the first library that was loaded, and not changed afterwards.
static struct functions api;
static int is_loaded = 0;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static int load(const char *library, struct functions *found) {
  // The library stays loaded until the process ends.
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return -ENOENT;
#define RESOLVE(name)                                                                                                  \
  found->name = (__typeof__(name) *)dlsym(handle, #name);                                                              \
  if (found->name == NULL) return -ENOENT;
  FUNCTIONS(RESOLVE)
  return 0;
}

int keytree_bus_load(const char *const *libraries) {
  int result = -ENOENT;
  struct functions found;
  while (result != 0 && *libraries != NULL) result = load(*libraries++, &found);
  pthread_mutex_lock(&loading);
  if (result == 0 && !is_loaded) {
    api = found;
    is_loaded = 1;
  }
  pthread_mutex_unlock(&loading);
  return result;
}

// Blocks the signals of this thread that do not ask the process to end, and stores the old mask. A function of sd-bus
// that waits would otherwise fail with EINTR after any signal, for example SIGCHLD, and the reply would be lost.
static void hold_signals(sigset_t *old) {
  static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP, SIGABRT};
  sigset_t held;
  sigfillset(&held);
  for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) sigdelset(&held, ending[i]);
  pthread_sigmask(SIG_BLOCK, &held, old);
}

static void release_signals(const sigset_t *old) { pthread_sigmask(SIG_SETMASK, old, NULL); }

// One registered handler. sd-bus passes it to `dispatch`.
struct registration {
  keytree_bus_handler handler;
  void *context;
  struct registration *next;
};

struct keytree_bus {
  sd_bus *bus;
  void *context;
  struct registration *registrations;
};

int keytree_bus_open(const char *address, void *context, struct keytree_bus **result) {
  sd_bus *bus = NULL;
  int code = api.sd_bus_new(&bus);
  if (code < 0) return code;
  if ((code = api.sd_bus_set_address(bus, address)) < 0 || (code = api.sd_bus_set_bus_client(bus, 1)) < 0 ||
      (code = api.sd_bus_negotiate_fds(bus, 0)) < 0 || (code = api.sd_bus_start(bus)) < 0) {
    api.sd_bus_unref(bus);
    return code;
  }
  struct keytree_bus *made = calloc(1, sizeof *made);
  if (made == NULL) {
    api.sd_bus_unref(bus);
    return -ENOMEM;
  }
  made->bus = bus;
  made->context = context;
  *result = made;
  return 0;
}

void keytree_bus_close(struct keytree_bus *bus) {
  if (bus == NULL) return;
  sigset_t old;
  hold_signals(&old);
  // Frees the slots, too: they were created without an owner and live as long as the connection.
  api.sd_bus_flush_close_unref(bus->bus);
  release_signals(&old);
  while (bus->registrations != NULL) {
    struct registration *next = bus->registrations->next;
    free(bus->registrations);
    bus->registrations = next;
  }
  free(bus);
}

int keytree_bus_unique_name(struct keytree_bus *bus, const char **name) {
  sigset_t old;
  hold_signals(&old);
  int code;
  // Goes on where it was interrupted by a signal that asks the process to end, which may have a handler.
  do code = api.sd_bus_get_unique_name(bus->bus, name);
  while (code == -EINTR);
  release_signals(&old);
  return code;
}

static int dispatch(sd_bus_message *message, void *context, sd_bus_error *error) {
  (void)error;
  struct registration *registration = context;
  registration->handler(message, registration->context);
  // Handled: sd-bus sends no reply of its own. For a signal, the value has no meaning.
  return 1;
}

static int dispatch_signal(sd_bus_message *message, void *context, sd_bus_error *error) {
  dispatch(message, context, error);
  // Other rules may match the same signal.
  return 0;
}

static struct registration *reserve(struct keytree_bus *bus, keytree_bus_handler handler) {
  struct registration *made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  *made = (struct registration){handler, bus->context, bus->registrations};
  bus->registrations = made;
  return made;
}

int keytree_bus_handle_calls(struct keytree_bus *bus, const char *path, keytree_bus_handler handler) {
  struct registration *made = reserve(bus, handler);
  return made == NULL ? -ENOMEM : api.sd_bus_add_fallback(bus->bus, NULL, path, dispatch, made);
}

int keytree_bus_handle_signals(struct keytree_bus *bus, const char *rule, keytree_bus_handler handler) {
  struct registration *made = reserve(bus, handler);
  if (made == NULL) return -ENOMEM;
  sigset_t old;
  hold_signals(&old);
  int code = api.sd_bus_add_match(bus->bus, NULL, rule, dispatch_signal, made);
  release_signals(&old);
  return code;
}

int keytree_bus_descriptor(struct keytree_bus *bus) { return api.sd_bus_get_fd(bus->bus); }

int keytree_bus_events(struct keytree_bus *bus) { return api.sd_bus_get_events(bus->bus); }

int keytree_bus_timeout(struct keytree_bus *bus, uint64_t *microseconds) {
  return api.sd_bus_get_timeout(bus->bus, microseconds);
}

int keytree_bus_process(struct keytree_bus *bus) { return api.sd_bus_process(bus->bus, NULL); }

int keytree_bus_flush(struct keytree_bus *bus) {
  sigset_t old;
  hold_signals(&old);
  int code;
  do code = api.sd_bus_flush(bus->bus);
  while (code == -EINTR);
  release_signals(&old);
  return code;
}

int keytree_bus_new_call(struct keytree_bus *bus, const char *destination, const char *path, const char *interface,
                         const char *member, sd_bus_message **message) {
  return api.sd_bus_message_new_method_call(bus->bus, message, destination, path, interface, member);
}

int keytree_bus_new_signal(struct keytree_bus *bus, const char *path, const char *interface, const char *member,
                           sd_bus_message **message) {
  return api.sd_bus_message_new_signal(bus->bus, message, path, interface, member);
}

int keytree_bus_new_reply(sd_bus_message *call, sd_bus_message **message) {
  return api.sd_bus_message_new_method_return(call, message);
}

int keytree_bus_new_error(sd_bus_message *call, const char *name, const char *text, sd_bus_message **message) {
  const sd_bus_error error = SD_BUS_ERROR_MAKE_CONST(name, text);
  return api.sd_bus_message_new_method_error(call, message, &error);
}

int keytree_bus_set_destination(sd_bus_message *message, const char *destination) {
  return api.sd_bus_message_set_destination(message, destination);
}

int keytree_bus_set_sensitive(sd_bus_message *message) { return api.sd_bus_message_sensitive(message); }

int keytree_bus_send(struct keytree_bus *bus, sd_bus_message *message) {
  return api.sd_bus_send(bus->bus, message, NULL);
}

int keytree_bus_call(struct keytree_bus *bus, sd_bus_message *message, uint64_t microseconds, sd_bus_message **reply,
                     char **error_name, char **error_text) {
  sd_bus_error error = SD_BUS_ERROR_NULL;
  sigset_t old;
  hold_signals(&old);
  int code = api.sd_bus_call(bus->bus, message, microseconds, &error, reply);
  release_signals(&old);
  if (code < 0) {
    *error_name = error.name == NULL ? NULL : strdup(error.name);
    *error_text = error.message == NULL ? NULL : strdup(error.message);
  }
  api.sd_bus_error_free(&error);
  return code;
}

void keytree_bus_retain(sd_bus_message *message) { api.sd_bus_message_ref(message); }

void keytree_bus_release(sd_bus_message *message) { api.sd_bus_message_unref(message); }

const char *keytree_bus_path(sd_bus_message *message) { return api.sd_bus_message_get_path(message); }

const char *keytree_bus_interface(sd_bus_message *message) { return api.sd_bus_message_get_interface(message); }

const char *keytree_bus_member(sd_bus_message *message) { return api.sd_bus_message_get_member(message); }

const char *keytree_bus_sender(sd_bus_message *message) { return api.sd_bus_message_get_sender(message); }

const char *keytree_bus_signature(sd_bus_message *message) { return api.sd_bus_message_get_signature(message, 1); }

int keytree_bus_expects_reply(sd_bus_message *message) { return api.sd_bus_message_get_expect_reply(message) > 0; }

int keytree_bus_peek(sd_bus_message *message, char *type, const char **contents) {
  return api.sd_bus_message_peek_type(message, type, contents);
}

int keytree_bus_read(sd_bus_message *message, char type, void *value) {
  return api.sd_bus_message_read_basic(message, type, value);
}

int keytree_bus_read_bytes(sd_bus_message *message, const void **bytes, size_t *count) {
  return api.sd_bus_message_read_array(message, SD_BUS_TYPE_BYTE, bytes, count);
}

int keytree_bus_enter(sd_bus_message *message, char type, const char *contents) {
  return api.sd_bus_message_enter_container(message, type, contents);
}

int keytree_bus_exit(sd_bus_message *message) { return api.sd_bus_message_exit_container(message); }

int keytree_bus_rewind(sd_bus_message *message) { return api.sd_bus_message_rewind(message, 1); }

int keytree_bus_append(sd_bus_message *message, char type, const void *value) {
  return api.sd_bus_message_append_basic(message, type, value);
}

int keytree_bus_append_bytes(sd_bus_message *message, const void *bytes, size_t count) {
  return api.sd_bus_message_append_array(message, SD_BUS_TYPE_BYTE, bytes, count);
}

int keytree_bus_open_container(sd_bus_message *message, char type, const char *contents) {
  return api.sd_bus_message_open_container(message, type, contents);
}

int keytree_bus_close_container(sd_bus_message *message) { return api.sd_bus_message_close_container(message); }
