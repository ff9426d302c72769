#pragma once
#include <gcrypt.h>

// Memory that cannot be locked is used without a word on standard error; gcry_control(3) is variadic.
static inline void keytree_gcrypt_quiet(void) { gcry_control(GCRYCTL_SUSPEND_SECMEM_WARN); }
