// Swift's runtime finds the arguments of a statically linked program in `/proc/self/maps`, which it reads at every start
// before `main`. These functions replace that part of the runtime: the C library passes the arguments to each
// constructor.
//
// They have the names and types of swift/stdlib/public/stubs/CommandLine.cpp. If a later runtime needs more functions of
// that file, the linker reports these two as defined twice.
#include "CArguments.h"

static char **arguments;
static int count;

__attribute__((constructor)) static void keep(int argc, char **argv) {
  arguments = argv;
  count = argc;
}

char **_swift_stdlib_getUnsafeArgvArgc(int *number) {
  *number = count;
  return arguments;
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **argv, int argc) {
  arguments = argv;
  count = argc;
}
