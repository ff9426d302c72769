#pragma once
#include <gcrypt.h>

// Suppresses the warning on standard error when memory cannot be locked. Swift cannot call gcry_control(3), which is
// variadic.
static inline void keytree_gcrypt_quiet(void) { gcry_control(GCRYCTL_SUSPEND_SECMEM_WARN); }
