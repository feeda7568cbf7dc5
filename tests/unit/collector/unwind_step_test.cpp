// At every instruction: prologues, epilogues, calls through the procedure linkage table and the loader's resolver.
#include <gtest/gtest.h>

#if defined(__x86_64__)

#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "tests/unit/collector/unwind_fixture.h"
#include "tests/unit/collector/unwind_shapes.h"

namespace lastref::unwind::test {
namespace {

constexpr long long trap_flag = 0x100;
bool volatile stop;
int volatile steps_left;

// Single steps until told to stop. The handler's own caller is the frame that the kernel made.
void on_step(int, siginfo_t*, void* context) {
    if (stop || steps_left == 0) {
        static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~trap_flag;
        return;
    }
    steps_left = steps_left - 1;
    unwind_check();
}

[[gnu::noinline]] void begin_steps() {
    asm volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

class Steps : public Unwinding {
  protected:
    void run(void (*function)(), int most) {
        struct sigaction action {};
        struct sigaction former {};
        action.sa_sigaction = on_step;
        action.sa_flags = SA_SIGINFO;
        sigaction(SIGTRAP, &action, &former);
        stop = false;
        steps_left = most;
        begin_steps();
        function();
        stop = true;
        asm volatile("nop");
        sigaction(SIGTRAP, &former, nullptr);
    }
};

void use_the_library() {
    char text[64];
    std::snprintf(text, sizeof text, "%d %s %.3f", 42, "text", 1.5);
    std::qsort(text, std::strlen(text), 1, [](void const* a, void const* b) { return std::memcmp(a, b, 1); });
    std::free(std::malloc(100));
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);  // in the kernel's own object
}

// Bound at its first call: the object is linked for that.
using call_back_function = void (*)(void (*)());
call_back_function lazy;
void nothing() {}
void call_lazily() {
    lazy(nothing);
}

TEST_F(Steps, ThroughTheLibrary) {
    use_the_library();  // bound before: what the resolver's frames are like is another test
    run(use_the_library, 20000);
    expect_same();
    EXPECT_GT(so_far().compared, 500);
    EXPECT_GT(so_far().whole, so_far().compared * 9 / 10);
    if (so_far().whole < so_far().compared) describe(so_far().first_not_whole);
}

TEST_F(Steps, ThroughLazyBinding) {
    void* const object = dlopen(UNWIND_MODULE_LAZY, RTLD_LAZY | RTLD_LOCAL);
    ASSERT_NE(object, nullptr) << dlerror();
    lazy = reinterpret_cast<call_back_function>(dlsym(object, "unwind_module_call"));
    ASSERT_NE(lazy, nullptr);
    forget();
    run(call_lazily, 50000);
    dlclose(object);
    expect_same();
    EXPECT_GT(so_far().compared, 300);  // the resolver alone takes that many
    // The resolver's assembler keeps its CFA in rbx, which a rule cannot say.
    EXPECT_GT(so_far().whole, 50);
}

TEST_F(Steps, ThroughShapes) {
    for (auto const& variant : {shapes::unoptimized(), shapes::unoptimized_without_frame_pointer(), shapes::optimized(),
                                shapes::optimized_with_frame_pointer(), shapes::small()}) {
        for (auto const* shape = variant.begin; shape != variant.end; ++shape) {
            SCOPED_TRACE(shape->name);
            forget();
            run(shape->run, 2000);
            expect_same();
            EXPECT_GT(so_far().compared, 10);
        }
    }
}

}  // namespace
}  // namespace lastref::unwind::test

#endif
