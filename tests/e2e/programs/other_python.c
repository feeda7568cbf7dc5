/* What a stack meets when an interpreter is not as its version should be: a library with the names of one.
 *
 *   cc -shared -fPIC -DVERSION=0x030f00f0 -o libother.so other_python.c            the interpreter
 *   cc -DPROGRAM -o program other_python.c -L. -lother -Wl,-rpath,. -ldl           the program: allocates through it
 */
#include <dlfcn.h>
#include <stddef.h>

#ifdef PROGRAM
int call_through_interpreter(int (*work)(void));

static int work(void) {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
    int (*retain)(void**, int) = (int (*)(void**, int))dlsym(driver, "cuDevicePrimaryCtxRetain");
    int (*set)(void*) = (int (*)(void*))dlsym(driver, "cuCtxSetCurrent");
    int (*allocate)(unsigned long long*, size_t) = (int (*)(unsigned long long*, size_t))dlsym(driver, "cuMemAlloc_v2");
    void* context = NULL;
    unsigned long long pointer = 0;
    if (init(0) != 0 || retain(&context, 0) != 0 || set(context) != 0) return 1;
    for (int i = 0; i < 10; ++i)
        if (allocate(&pointer, 256) != 0) return 2;
    return 0;
}

int main(void) {
    return call_through_interpreter(work);
}
#else
unsigned long const Py_Version = VERSION;
/* A thread's state that leads nowhere, at any offset. */
static void* state[512];
long PyCode_Type[64], PyUnicode_Type[64], PyBytes_Type[64], _PyRuntime[256];

void* PyGILState_GetThisThreadState(void) {
    for (size_t i = 0; i < sizeof state / sizeof *state; ++i) state[i] = (void*)(0x1000 + 8 * i);
    return state;
}
void* PyThreadState_GetUnchecked(void) {
    return state;
}
int Py_IsInitialized(void) {
    return 1;
}
void _PyEval_EvalFrameDefault(void) {}

int call_through_interpreter(int (*work)(void)) {
    int status = work();
    return status;
}
#endif
