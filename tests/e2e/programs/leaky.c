/* A program to be built in two versions: with VERSION 2, lines have moved, a function was added, and there is one more
   leak. It declares what it calls, so that it needs no CUDA headers. */
#include <stdio.h>

typedef unsigned long long pointer;
extern int cuInit(unsigned flags);
extern int cuDevicePrimaryCtxRetain(void** context, int device);
extern int cuCtxSetCurrent(void* context);
extern int cuMemAlloc_v2(pointer* made, unsigned long bytes);
extern int cuMemFree_v2(pointer freed);

#if VERSION == 2
/* Moves what follows. */
__attribute__((noinline)) static void new_leak(void) {
    pointer lost = 0;
    cuMemAlloc_v2(&lost, 2048);
    printf("%llx\n", lost);
}
#endif

__attribute__((noinline)) static void old_leak(int times) {
    for (int i = 0; i < times; ++i) {
        pointer lost = 0;
        cuMemAlloc_v2(&lost, 4096);
        printf("%llx\n", lost);
    }
}

__attribute__((noinline)) static void no_leak(void) {
    pointer kept = 0;
    cuMemAlloc_v2(&kept, 4096);
    cuMemFree_v2(kept);
}

int main(void) {
    void* context = 0;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    no_leak();
#if VERSION == 2
    new_leak();
    old_leak(5);
#else
    old_leak(2);
#endif
    return 0;
}
