// The part of the calling thread's own stack that is known to be mapped: what a walk may read.
//
// A walk reads only what lies between the frame it begins with and the end of this thread's stack. Where that is, no
// portable call tells without the heap or a file. But two addresses are known that lie behind everything on a stack:
// the thread's control block, which glibc puts at the top of the memory of a thread's stack (its own or the program's),
// and the program's name, which the kernel puts at the top of the first thread's. That everything from a frame up to
// there is mapped and readable, hence one stack, is asked of the kernel once for each page, and then remembered.
//
// Other stacks (a coroutine's, a signal handler's) may be unmapped while their memory's address lives on; nothing is
// remembered of them, and no walk begins on one.
#pragma once

#include <cstdint>

namespace lastref::unwind {

struct thread_stack {
    std::uintptr_t begin = 0;  // readable from here
    std::uintptr_t end = 0;    // up to here
    std::uint32_t pause = 0;   // how often prove() will not even try, after it failed

    bool holds(std::uintptr_t address) const { return address - begin < end - begin; }
};

// Makes `stack` hold `frame`, which lies on the stack that runs now; false if it is another than the thread's own.
// Makes a system call for each page that was not known before.
bool prove(thread_stack& stack, std::uintptr_t frame);

// Whether a page can be read, by the kernel's word.
bool page_is_readable(std::uintptr_t address);

}  // namespace lastref::unwind
