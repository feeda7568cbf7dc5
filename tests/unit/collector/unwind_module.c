// An object that is opened and closed: calls back from a frame of FRAME bytes, and in constructor and destructor.
#include <stdlib.h>

void unwind_check(void) __attribute__((weak));

#ifndef BARE
__attribute__((constructor)) static void begin(void) {
    unwind_check();
    __asm__ volatile("" ::: "memory");
}
__attribute__((destructor)) static void end(void) {
    unwind_check();
    __asm__ volatile("" ::: "memory");
}
#endif

void unwind_module_call(void (*call_back)(void)) {
#ifdef LAZY
    void* volatile memory = malloc(1);
    free(memory);
#endif
    char volatile buffer[FRAME];
    buffer[0] = 1;
    call_back();
    buffer[1] = 2;
}
