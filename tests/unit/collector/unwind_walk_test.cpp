// The unwinder against libgcc's: the same frames wherever both are asked.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "collector/preload/unwind/rule_cache.h"
#include "tests/unit/collector/unwind_fixture.h"
#include "tests/unit/collector/unwind_shapes.h"

namespace lastref::unwind::test {
namespace {

using Unwind = Unwinding;

class Shapes : public Unwind, public testing::WithParamInterface<shapes::variant> {};

// Twice: with rules read from the tables, and with those that are kept.
TEST_P(Shapes, AreWalkedAsByLibgcc) {
    rule_cache::clear();
    for (auto const* shape = GetParam().begin; shape != GetParam().end; ++shape) {
        for (int round = 0; round < 2; ++round) {
            SCOPED_TRACE(shape->name);
            forget();
            shape->run();
            expect_same_and_whole(static_cast<std::uint64_t>(shape->calls));
        }
    }
}

TEST_P(Shapes, AreWalkedInAThread) {
    std::thread([] {
        for (auto const* shape = GetParam().begin; shape != GetParam().end; ++shape) {
            SCOPED_TRACE(shape->name);
            forget();
            shape->run();
            expect_same_and_whole(static_cast<std::uint64_t>(shape->calls));
        }
    }).join();
}

INSTANTIATE_TEST_SUITE_P(Variants, Shapes,
                         testing::Values(shapes::unoptimized(), shapes::unoptimized_without_frame_pointer(),
                                         shapes::optimized(), shapes::optimized_with_frame_pointer(), shapes::small()),
                         [](auto const& variant) { return std::string(variant.param.name); });

// --- the ends of stacks

TEST_F(Unwind, EndsWithTheThreadsStart) {
    pthread_t thread;
    auto const run = [](void*) -> void* {
        unwind_check();
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, nullptr, run, nullptr), 0);
    pthread_join(thread, nullptr);
    expect_same_and_whole(1);
    // The function, start_thread, clone; a sanitizer puts a function of its own between.
    EXPECT_GE(so_far().latest.own.count, 3);
    EXPECT_LE(so_far().latest.own.count, 4);
}

void check_at_end(void*) {
    unwind_check();
}

TEST_F(Unwind, WorksInDestructorsOfAThread) {
    struct checks {
        ~checks() { unwind_check(); }
    };
    pthread_key_t key;
    ASSERT_EQ(pthread_key_create(&key, check_at_end), 0);
    std::thread([key] {
        pthread_setspecific(key, &so_far());
        thread_local checks at_end;
        asm volatile("" : : "r"(&at_end) : "memory");
    }).join();
    pthread_key_delete(key);
    expect_same_and_whole(2);
}

TEST_F(Unwind, WorksOnAStackOfTheProgramsOwn) {
    static char memory[2 << 20];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory, sizeof memory);
    pthread_t thread;
    auto const run = [](void*) -> void* {
        unwind_check();
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, run, nullptr), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    expect_same_and_whole(1);
}

TEST_F(Unwind, WorksInConstructorsOfAnObject) {
    void* const object = dlopen(UNWIND_MODULE_A, RTLD_NOW);
    ASSERT_NE(object, nullptr) << dlerror();
    dlclose(object);
    expect_same_and_whole(2);  // its constructor and its destructor
}

// --- signals

void handle(int) {
    unwind_check();
}

TEST_F(Unwind, WorksInASignalHandler) {
    struct sigaction action {};
    struct sigaction former {};
    action.sa_handler = handle;
    sigaction(SIGUSR1, &action, &former);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &former, nullptr);
    expect_same_and_whole(1);
}

TEST_F(Unwind, LeavesAnAlternateSignalStackToLibgcc) {
    static char memory[64 << 10];
    stack_t stack{.ss_sp = memory, .ss_flags = 0, .ss_size = sizeof memory};
    stack_t former_stack{};
    sigaltstack(&stack, &former_stack);
    struct sigaction action {};
    struct sigaction former {};
    action.sa_handler = handle;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, &former);
    raise(SIGUSR1);
    sigaction(SIGUSR1, &former, nullptr);
    sigaltstack(&former_stack, nullptr);
    EXPECT_EQ(so_far().refused, 1);
    EXPECT_EQ(so_far().compared, 0);
}

// --- other stacks

ucontext_t outside, inside;
void coroutine() {
    for (;;) {
        unwind_check();
        swapcontext(&inside, &outside);
    }
}

TEST_F(Unwind, LeavesACoroutineToLibgcc) {
    static char memory[256 << 10];
    getcontext(&inside);
    inside.uc_stack.ss_sp = memory;
    inside.uc_stack.ss_size = sizeof memory;
    makecontext(&inside, coroutine, 0);
    for (int i = 0; i < 1000; ++i) {
        swapcontext(&outside, &inside);
        unwind_check();
    }
    EXPECT_LT(so_far().refused, 1100);  // the thread's own stack is found soon
    EXPECT_GE(so_far().refused, 1000);  // and the coroutine's is never taken for it
    expect_same_and_whole(2000 - so_far().refused);
}

// --- objects that come and go

using call_back_function = void (*)(void (*)());

// The two objects differ in nothing but the size of a frame: the same code addresses need other rules.
TEST_F(Unwind, ForgetsTheRulesOfAClosedObject) {
    void* former = nullptr;
    int at_the_same_address = 0;
    for (int round = 0; round < 40; ++round) {
        void* const object = dlopen(round % 2 == 0 ? UNWIND_MODULE_A : UNWIND_MODULE_B, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(object, nullptr) << dlerror();
        auto const call_back = reinterpret_cast<call_back_function>(dlsym(object, "unwind_module_call"));
        ASSERT_NE(call_back, nullptr);
        at_the_same_address += reinterpret_cast<void*>(call_back) == former;
        former = reinterpret_cast<void*>(call_back);
        call_back(unwind_check);
        dlclose(object);
    }
    EXPECT_GT(at_the_same_address, 10);
    expect_same_and_whole(120);
}

TEST_F(Unwind, EndsWhereAnObjectHasNoTables) {
    void* const object = dlopen(UNWIND_MODULE_BARE, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(object, nullptr) << dlerror();
    auto const call_back = reinterpret_cast<call_back_function>(dlsym(object, "unwind_module_call"));
    ASSERT_NE(call_back, nullptr);
    call_back(unwind_check);
    dlclose(object);
    expect_same(1);
    EXPECT_LE(so_far().latest.own.count, 2);
}

// --- code that is in no object

#if defined(__x86_64__)
extern "C" {
void __register_frame(void*);
void __deregister_frame(void*);
}

// Code made at run time: push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret. Its tables, for whoever registers them,
// follow.
class made_code {
  public:
    made_code() {
        memory_ = static_cast<std::uint8_t*>(
            mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        std::uint8_t const code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
        std::uint8_t const tables[] = {20, 0,    0,           0, 0,    0,    0, 0, 1, 0, 1,    0x78, 16, 0x0c,
                                       7,  8,    0x90,        1, 0,    0,    0, 0, 0, 0,  // CIE
                                       36, 0,    0,           0, 0x1c, 0,    0, 0, 0, 0, 0,    0,    0,  0,
                                       0,  0,    sizeof code, 0, 0,    0,    0, 0, 0, 0, 0x41, 0x0e, 16, 0x86,
                                       2,  0x43, 0x0d,        6, 0x43, 0x0c, 7, 8, 0, 0, 0,    0,  // FDE
                                       0,  0,    0,           0};
        std::memcpy(memory_, code, sizeof code);
        std::memcpy(memory_ + 64, tables, sizeof tables);
        std::memcpy(memory_ + 64 + 24 + 8, &memory_, sizeof memory_);
    }
    ~made_code() { munmap(memory_, 4096); }
    void* tables() const { return memory_ + 64; }
    void call(void (*function)()) const { reinterpret_cast<call_back_function>(memory_)(function); }

  private:
    std::uint8_t* memory_;
};

TEST_F(Unwind, EndsAtMadeCodeAsLibgccDoes) {
    made_code const code;
    code.call(unwind_check);
    expect_same(1);
    EXPECT_EQ(so_far().latest.result, outcome::not_simple);
    EXPECT_EQ(so_far().latest.own.count, 1);
    EXPECT_EQ(so_far().latest.libgcc.count, 1);
}

TEST_F(Unwind, LeavesRegisteredCodeToLibgcc) {
    made_code const code;
    __register_frame(code.tables());
    code.call(unwind_check);
    __deregister_frame(code.tables());
    expect_same(1);
    EXPECT_EQ(so_far().latest.result, outcome::not_simple);
    EXPECT_GT(so_far().latest.libgcc.count, 5);
}
#endif

}  // namespace
}  // namespace lastref::unwind::test
