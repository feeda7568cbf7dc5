// Included before everything else in the libraries that are loaded into programs (compiler option -include).
//
// glibc 2.34 took the functions of libdl and libpthread into libc and gave them that version. Under their first version
// they are found in any glibc, in libc as in the libraries that they come from, so that a library built here can be
// preloaded into programs of an older one.
//
// They are weak: before 2.34, a program without libdl has them not, and libdl must not be brought into it. Such a
// program cannot have the driver either, so whoever runs without it asks first: `if (dlopen == nullptr)`.
#pragma once

#include <features.h>

// From 2.38 on, strtoull and its like are other functions under _GNU_SOURCE, which read binary numbers too.
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0

#define LASTREF_FIRST_VERSION(function, version) __asm__(".symver " #function ", " #function "@GLIBC_" version)

LASTREF_FIRST_VERSION(dladdr, "2.2.5");
LASTREF_FIRST_VERSION(dladdr1, "2.3.3");
LASTREF_FIRST_VERSION(dlclose, "2.2.5");
LASTREF_FIRST_VERSION(dlerror, "2.2.5");
LASTREF_FIRST_VERSION(dlinfo, "2.3.3");
LASTREF_FIRST_VERSION(dlopen, "2.2.5");
LASTREF_FIRST_VERSION(dlvsym, "2.2.5");
LASTREF_FIRST_VERSION(pthread_key_create, "2.2.5");
LASTREF_FIRST_VERSION(pthread_setspecific, "2.2.5");
#ifdef LASTREF_CUPTI_MAJOR  // liblastref.so has a dlsym of its own
LASTREF_FIRST_VERSION(dlsym, "2.2.5");
#pragma weak dlsym
#endif

#pragma weak dladdr
#pragma weak dladdr1
#pragma weak dlclose
#pragma weak dlerror
#pragma weak dlinfo
#pragma weak dlopen
#pragma weak dlvsym
#pragma weak pthread_key_create
#pragma weak pthread_setspecific
