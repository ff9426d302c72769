#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int keytree_connect_local(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return ENAMETOOLONG;
  strcpy(address.sun_path, path);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return errno;
  int problem = connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
  close(descriptor);
  return problem;
}
