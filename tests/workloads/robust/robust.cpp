// What programs do that an injected library must survive. Each command makes driver calls and prints how many of which,
// so that a test can compare that with the trace. Meant for the null driver: every call succeeds at once.
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

namespace {

void call() {
    cuStreamQuery(nullptr);
}
void call(int times) {
    for (int i = 0; i < times; ++i) call();
}

void begin() {
    if (cuInit(0) != CUDA_SUCCESS) std::exit(1);
}

// A fork that runs no handlers: the child must not write into its parent's spool. The two call at the same time, so
// that a shared ring would show.
int raw_fork() {
    begin();
    call(3000);
    auto const child = static_cast<pid_t>(syscall(SYS_fork));
    call(child == 0 ? 2000 : 5000);
    if (child == 0) _exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("parent 8000\nchild 2000\n");
    return status;
}

// Handlers interrupt the recording of calls and make calls themselves.
std::atomic<int> in_handler{0};
void on_timer(int) {
    call();
    in_handler.fetch_add(1, std::memory_order_relaxed);
}

int signals() {
    begin();
    struct sigaction action = {};
    action.sa_handler = on_timer;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    itimerval const often{{0, 50}, {0, 50}};
    setitimer(ITIMER_REAL, &often, nullptr);
    int made = 0;
    while (in_handler.load(std::memory_order_relaxed) < 2000) {
        call(100);
        made += 100;
    }
    itimerval const never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    std::printf("calls %d\n", made + in_handler.load());
    return 0;
}

// Calls after a thread's own clean-up has begun: from thread_local destructors, and from the destructors of keys,
// several rounds long.
struct at_thread_end {
    ~at_thread_end() { call(); }
};
thread_local at_thread_end local;
pthread_key_t key;
std::atomic<int> from_key{0};

void on_key(void* rounds) {
    call();
    from_key.fetch_add(1);
    auto const left = reinterpret_cast<std::intptr_t>(rounds) - 1;
    if (left > 0) pthread_setspecific(key, reinterpret_cast<void*>(left));
}

int late() {
    begin();
    pthread_key_create(&key, on_key);
    constexpr int threads = 200;
    for (int i = 0; i < threads; ++i) {
        std::thread([] {
            static_cast<void>(&local);
            [[maybe_unused]] at_thread_end* const touch = &local;
            pthread_setspecific(key, reinterpret_cast<void*>(std::intptr_t{3}));
            call(2);
        }).join();
    }
    std::printf("calls %d\n", threads * 3 + from_key.load());
    return 0;
}

// A program that closes every descriptor that it does not know: the numbers then are other files.
int descriptors() {
    begin();
    call(10);
    syscall(SYS_close_range, 3u, ~0u, 0u);
    char name[] = "innocent-XXXXXX";
    int const innocent = mkstemp(name);
    std::array<int, 8> copies{};
    for (int& copy : copies) copy = dup(innocent);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([] { call(20000); });
    for (auto& one : threads) one.join();
    off_t const size = lseek(innocent, 0, SEEK_END);
    unlink(name);
    std::printf("calls %d\ninnocent file %ld bytes\n", 10 + 4 * 20000, static_cast<long>(size));
    return 0;
}

// errno is the program's.
int errors() {
    begin();
    for (int i = 0; i < 50000; ++i) {
        errno = 4711;
        call();
        if (errno != 4711) {
            std::printf("errno changed to %d by call %d\n", errno, i);
            return 1;
        }
    }
    std::thread([] {
        errno = 4711;
        call();
        if (errno != 4711) std::exit(1);
    }).join();
    std::printf("errno kept\n");
    return 0;
}

// dlerror is the program's too.
int lookups() {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) return 1;
    dlerror();
    bool const found = dlsym(driver, "cuMemAlloc_v2") != nullptr;
    std::printf("found %d, error after it %d\n", found, dlerror() != nullptr);
    bool const missing = dlsym(driver, "cuMemAlloc_v99") == nullptr;
    char const* const error = dlerror();
    std::printf("missing %d, error names it %d\n", missing,
                error != nullptr && std::strstr(error, "cuMemAlloc_v99") != nullptr);
    bool const again = dlsym(driver, "cuMemFree_v2") != nullptr;
    std::printf("found %d, error after it %d\n", again, dlerror() != nullptr);
    return 0;
}

// Many threads record at once, each more than a segment.
int crowd() {
    begin();
    std::vector<std::thread> threads;
    for (int i = 0; i < 300; ++i) threads.emplace_back([] { call(1500); });
    for (auto& one : threads) one.join();
    std::printf("calls %d\n", 300 * 1500);
    return 0;
}

struct command {
    std::string_view name;
    int (*run)();
};
constexpr std::array commands{command{"raw_fork", raw_fork}, command{"signals", signals},
                              command{"late", late},         command{"descriptors", descriptors},
                              command{"errors", errors},     command{"lookups", lookups},
                              command{"crowd", crowd}};

}  // namespace

int main(int count, char** arguments) {
    std::string_view const wanted = count == 2 ? arguments[1] : "";
    for (auto const& one : commands) {
        if (one.name == wanted) return one.run();
    }
    std::fprintf(stderr, "usage: robust raw_fork|signals|late|descriptors|errors|lookups|crowd\n");
    return 2;
}
