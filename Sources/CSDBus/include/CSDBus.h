// The functions of sd-bus (systemd, elogind or basu) that the command uses, in a form that Swift can call. The library is
// loaded when it is needed, because one command alone uses it and every linked library slows down all commands.
//
// A connection and its messages must be used on one thread. Functions that return `int` return a negative error number
// on failure, as sd-bus does. A signal does not interrupt a function that waits, unless it asks the process to end.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A connection to a bus.
struct keytree_bus;

// sd_bus_message: a message, counted by references.
struct sd_bus_message;

// Handles a message. `context` is the one given to keytree_bus_open. The message belongs to the caller.
typedef void (*keytree_bus_handler)(struct sd_bus_message *message, void *context);

// Loads the first library of a list that is installed and has all functions; `libraries` ends with NULL. Returns 0, or
// -ENOENT if there is none. The functions of the first loaded library are used until the process ends.
int keytree_bus_load(const char *const *libraries);

// Connects to the bus at an address (D-Bus specification, "Server Addresses") without waiting for its reply. File
// descriptors in messages are refused.
int keytree_bus_open(const char *address, void *context, struct keytree_bus **bus);

// Sends queued messages, closes the connection, and frees the memory. Accepts NULL.
void keytree_bus_close(struct keytree_bus *bus);

// sd_bus_get_unique_name(3). The name is valid until the connection is closed. Waits for the bus's first reply.
int keytree_bus_unique_name(struct keytree_bus *bus, const char **name);

// sd_bus_add_fallback(3): passes all calls of a path and the paths below it to a handler.
int keytree_bus_handle_calls(struct keytree_bus *bus, const char *path, keytree_bus_handler handler);

// sd_bus_add_match(3): passes all signals that a rule matches to a handler.
int keytree_bus_handle_signals(struct keytree_bus *bus, const char *rule, keytree_bus_handler handler);

// sd_bus_get_fd(3), sd_bus_get_events(3) and sd_bus_get_timeout(3), for poll(2).
int keytree_bus_descriptor(struct keytree_bus *bus);
int keytree_bus_events(struct keytree_bus *bus);
int keytree_bus_timeout(struct keytree_bus *bus, uint64_t *microseconds);

// sd_bus_process(3): handles at most one message. Returns a positive number if there may be more to do.
int keytree_bus_process(struct keytree_bus *bus);

// sd_bus_flush(3): waits until all queued messages were written.
int keytree_bus_flush(struct keytree_bus *bus);

// Creates a method call, a signal, the reply to a call, or an error reply to a call.
int keytree_bus_new_call(struct keytree_bus *bus, const char *destination, const char *path, const char *interface,
                         const char *member, struct sd_bus_message **message);
int keytree_bus_new_signal(struct keytree_bus *bus, const char *path, const char *interface, const char *member,
                           struct sd_bus_message **message);
int keytree_bus_new_reply(struct sd_bus_message *call, struct sd_bus_message **message);
int keytree_bus_new_error(struct sd_bus_message *call, const char *name, const char *text,
                          struct sd_bus_message **message);

// sd_bus_message_set_destination(3): sends a signal to one receiver only.
int keytree_bus_set_destination(struct sd_bus_message *message, const char *destination);

// sd_bus_message_sensitive(3): the message, and the reply that is created from it, are wiped when they are freed.
int keytree_bus_set_sensitive(struct sd_bus_message *message);

// sd_bus_send(3): queues a message.
int keytree_bus_send(struct keytree_bus *bus, struct sd_bus_message *message);

// sd_bus_call(3): sends a call and waits for the reply. If the reply is an error, returns a negative number, and the
// error's name and text, which the caller frees.
int keytree_bus_call(struct keytree_bus *bus, struct sd_bus_message *message, uint64_t microseconds,
                     struct sd_bus_message **reply, char **error_name, char **error_text);

// sd_bus_message_ref(3) and sd_bus_message_unref(3).
void keytree_bus_retain(struct sd_bus_message *message);
void keytree_bus_release(struct sd_bus_message *message);

// The fields of a message's header; NULL if the message has none. They are valid as long as the message.
const char *keytree_bus_path(struct sd_bus_message *message);
const char *keytree_bus_interface(struct sd_bus_message *message);
const char *keytree_bus_member(struct sd_bus_message *message);
const char *keytree_bus_sender(struct sd_bus_message *message);
const char *keytree_bus_signature(struct sd_bus_message *message);

// Returns 1 if the sender of a call waits for a reply.
int keytree_bus_expects_reply(struct sd_bus_message *message);

// Reads the body of a message (sd_bus_message_read_basic(3), sd_bus_message_peek_type(3),
// sd_bus_message_enter_container(3), sd_bus_message_read_array(3), sd_bus_message_rewind(3)).
int keytree_bus_peek(struct sd_bus_message *message, char *type, const char **contents);
int keytree_bus_read(struct sd_bus_message *message, char type, void *value);
int keytree_bus_read_bytes(struct sd_bus_message *message, const void **bytes, size_t *count);
int keytree_bus_enter(struct sd_bus_message *message, char type, const char *contents);
int keytree_bus_exit(struct sd_bus_message *message);
int keytree_bus_rewind(struct sd_bus_message *message);

// Writes the body of a message (sd_bus_message_append_basic(3), sd_bus_message_append_array(3),
// sd_bus_message_open_container(3)).
int keytree_bus_append(struct sd_bus_message *message, char type, const void *value);
int keytree_bus_append_bytes(struct sd_bus_message *message, const void *bytes, size_t count);
int keytree_bus_open_container(struct sd_bus_message *message, char type, const char *contents);
int keytree_bus_close_container(struct sd_bus_message *message);

#ifdef __cplusplus
}
#endif
