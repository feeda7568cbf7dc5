// A library without anything of CUDA's that takes all places of CPython's queue of pending calls. Its import is bound
// at once, into memory that is read-only after that.
extern "C" int Py_AddPendingCall(int (*function)(void*), void* argument);

namespace {

int ran = 0;
int count(void*) {
    return ++ran < 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int fill() {
    int taken = 0;
    while (Py_AddPendingCall(count, nullptr) == 0) ++taken;
    return taken;
}
// One more, of the caller's own.
int add(int (*function)(void*), void* argument) {
    return Py_AddPendingCall(function, argument);
}
int number_run() {
    return ran;
}
}
#pragma GCC visibility pop
