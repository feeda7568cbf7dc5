// unusual COMMAND: programs that end, multiply or lock themselves up in ways that an injected library must survive.
// Each makes driver calls and prints how many, so that a test can compare that with the trace. Meant for the null
// driver.
#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

void call(int times = 1) {
    for (int i = 0; i < times; ++i) cuStreamQuery(nullptr);
}

void begin() {
    if (cuInit(0) != CUDA_SUCCESS) std::exit(1);
}

void say_calls(int calls) {
    std::printf("calls %d\n", calls);
    std::fflush(stdout);
}

// --- ends ---------------------------------------------------------------------------------------------------------

int ends_by_abort() {
    begin();
    call(1500);
    say_calls(1500);
    std::abort();
}

void at_quick_exit_handler() {
    call(7);
}

int ends_by_quick_exit() {
    begin();
    std::at_quick_exit(at_quick_exit_handler);
    call(1500);
    say_calls(1507);
    std::quick_exit(3);
}

// Every level calls; the calls are counted where a handler finds them.
int depth_reached = 0;
[[gnu::noinline]] int descend(int level) {
    char volatile frame[4096];
    frame[0] = static_cast<char>(level);
    call();
    depth_reached = level;
    if (level < 0) return 0;  // never, which the compiler need not know
    return descend(level + 1) + frame[0];
}

int ends_by_stack_overflow() {
    begin();
    return descend(1);
}

void on_overflow(int) {
    call(3);
    say_calls(depth_reached + 3);
    _exit(5);
}

// A handler on a stack of its own calls, too.
int survives_stack_overflow() {
    begin();
    static std::array<char, 65536> other_stack;
    stack_t const alternative{other_stack.data(), 0, other_stack.size()};
    sigaltstack(&alternative, nullptr);
    struct sigaction action = {};
    action.sa_handler = on_overflow;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    return descend(1);
}

// In the midst of threads that call.
int ends_by_exit_of_a_thread() {
    begin();
    std::atomic<bool> end{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&end] {
            while (!end) call();
        });
    }
    call(1500);
    std::thread([] { _exit(4); }).join();
    return 1;
}

// --- processes ----------------------------------------------------------------------------------------------------

// Children of a program whose other threads are recording; some call, some do not, all leave through exit handlers or
// past them.
int forks_among_threads() {
    begin();
    std::atomic<bool> end{false};
    std::array<std::atomic<int>, 4> calls{};
    std::vector<std::thread> threads;
    for (auto& mine : calls) {
        threads.emplace_back([&end, &mine] {
            while (!end) {
                call();
                ++mine;
                if (mine % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
    }
    int failed = 0;
    for (int i = 0; i < 20; ++i) {
        pid_t const child = fork();
        if (child == 0) {
            call(i % 2 == 0 ? 50 : 0);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        failed += status != 0;
        call(10);
    }
    end = true;
    for (auto& one : threads) one.join();
    int total = 200;
    for (auto const& one : calls) total += one;
    say_calls(total);
    return failed;
}

// The child has nothing more to do with the driver, and outlives its parent.
int child_goes_on() {
    begin();
    call(100);
    if (fork() == 0) {
        close(0), close(1), close(2);
        std::this_thread::sleep_for(std::chrono::milliseconds(700));
        _exit(0);
    }
    call(100);
    say_calls(200);
    return 0;
}

// As daemons do: two forks, a session of its own, another folder, no descriptor left. It works after its parents are
// gone, and says so in a file, since it has no output any more.
int daemon_works(char const* said) {
    begin();
    call(10);
    if (fork() != 0) return say_calls(10), 0;
    setsid();
    if (fork() != 0) _exit(0);
    int const folder = open(".", O_PATH | O_DIRECTORY);
    if (chdir("/") != 0) _exit(1);
    syscall(SYS_close_range, 0u, static_cast<unsigned>(folder) - 1, 0u);
    syscall(SYS_close_range, static_cast<unsigned>(folder) + 1, ~0u, 0u);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    begin();
    call(5000);
    int const file = openat(folder, said, O_WRONLY | O_CREAT, 0600);
    bool const written = file >= 0 && write(file, "done\n", 5) == 5;
    _exit(written ? 0 : 1);
}

// --- threads ------------------------------------------------------------------------------------------------------

int ten_thousand_threads() {
    begin();
    for (int i = 0; i < 1250; ++i) {
        std::array<std::thread, 8> some;
        for (auto& one : some) one = std::thread([] { call(3); });
        for (auto& one : some) one.join();
    }
    say_calls(30000);
    return 0;
}

int a_thousand_at_once() {
    begin();
    pthread_barrier_t all;
    pthread_barrier_init(&all, nullptr, 1000);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    std::vector<pthread_t> threads(1000);
    for (auto& one : threads) {
        auto const run = [](void* barrier) -> void* {
            call(10);
            pthread_barrier_wait(static_cast<pthread_barrier_t*>(barrier));
            call(10);
            return nullptr;
        };
        if (pthread_create(&one, &small, run, &all) != 0) return std::puts("no thread"), 1;
    }
    for (pthread_t const one : threads) pthread_join(one, nullptr);
    say_calls(20000);
    return 0;
}

// --- what is taken away from it -----------------------------------------------------------------------------------

void call_on_threads(int threads, int times) {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back([times] { call(times); });
    for (auto& one : all) one.join();
}

int changes_root(char const* root, bool before_first_call) {
    if (!before_first_call) begin(), call(10);
    if (chroot(root) != 0 || chdir("/") != 0) return std::puts("may not change root"), 77;
    if (before_first_call) begin(), call(10);
    call_on_threads(4, 20000);
    say_calls(80010);
    return 0;
}

int many_calls() {
    begin();
    call_on_threads(4, 50000);
    say_calls(200000);
    return 0;
}

// A filter that kills on everything that opens or maps a file. mmap of plain memory, which malloc and threads need, has
// descriptor -1.
bool confine(bool by_prctl, bool no_mapping_at_all) {
    auto const load = [](std::size_t offset) {
        return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
    };
    auto const kill_if = [](unsigned value) {
        return std::array<sock_filter, 2>{sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
                                          sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    };
    std::vector<sock_filter> filter{load(offsetof(seccomp_data, nr))};
    for (unsigned const number :
         {SYS_open, SYS_openat, SYS_creat, SYS_openat2, SYS_readlink, SYS_fallocate, SYS_ftruncate}) {
        auto const pair = kill_if(number);
        filter.insert(filter.end(), pair.begin(), pair.end());
    }
    if (no_mapping_at_all) {
        auto const pair = kill_if(SYS_mmap);
        filter.insert(filter.end(), pair.begin(), pair.end());
    } else {
        filter.push_back(sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3));
        filter.push_back(load(offsetof(seccomp_data, args) + 4 * sizeof(std::uint64_t)));
        filter.push_back(sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xffffffff, 1, 0));
        filter.push_back(sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    }
    filter.push_back(sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    sock_fprog const program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    return by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0
                    : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

int is_confined(std::string_view how) {
    bool const from_the_start = how == "first";
    bool const no_mapping = how == "no_mapping";
    if (!from_the_start) begin(), call(10);
    if (!confine(how != "syscall", no_mapping)) return std::puts("may not be confined"), 77;
    if (from_the_start) begin(), call(10);
    if (no_mapping)
        call(80000);
    else
        call_on_threads(4, 20000);
    say_calls(80010);
    return 0;
}

// A child of a confined program could open no spool of its own.
int forks_confined() {
    begin();
    call(10);
    if (!confine(true, false)) return std::puts("may not be confined"), 77;
    pid_t const child = fork();
    call(child == 0 ? 500 : 1000);
    if (child == 0) _exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    say_calls(1010);
    return status;
}

// --- ways of loading ----------------------------------------------------------------------------------------------

using entry = CUresult (*)(CUstream);
using init_entry = CUresult (*)(unsigned);

// A second driver in a namespace of its own, found by its handle.
int loads_into_a_namespace() {
    void* const driver = dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) return std::puts(dlerror()), 77;
    auto const init = reinterpret_cast<init_entry>(dlsym(driver, "cuInit"));
    auto const query = reinterpret_cast<entry>(dlsym(driver, "cuStreamQuery"));
    if (init == nullptr || query == nullptr || init(0) != CUDA_SUCCESS) return 1;
    for (int i = 0; i < 1000; ++i) query(nullptr);
    begin();
    call(500);  // through the program's own driver
    say_calls(1500);
    return 0;
}

// A plugin that looks for symbols in itself and its own libraries first, so that it reaches the driver past any
// preload.
int binds_deeply(char const* plugin) {
    begin();
    call(500);
    void* const loaded = dlopen(plugin, RTLD_NOW | RTLD_DEEPBIND);
    if (loaded == nullptr) return std::puts(dlerror()), 1;
    auto const work = reinterpret_cast<int (*)(int)>(dlsym(loaded, "plugin_calls"));
    if (work == nullptr) return 1;
    std::printf("plugin made %d\n", work(300));
    say_calls(500);
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    std::string_view const wanted = count > 1 ? arguments[1] : "";
    std::string_view const more = count > 2 ? arguments[2] : "";
    if (wanted == "abort") return ends_by_abort();
    if (wanted == "quick_exit") return ends_by_quick_exit();
    if (wanted == "stack_overflow") return ends_by_stack_overflow();
    if (wanted == "handled_stack_overflow") return survives_stack_overflow();
    if (wanted == "exit_of_a_thread") return ends_by_exit_of_a_thread();
    if (wanted == "forks_among_threads") return forks_among_threads();
    if (wanted == "child_goes_on") return child_goes_on();
    if (wanted == "daemon" && count == 3) return daemon_works(arguments[2]);
    if (wanted == "ten_thousand_threads") return ten_thousand_threads();
    if (wanted == "a_thousand_at_once") return a_thousand_at_once();
    if (wanted == "many_calls") return many_calls();
    if (wanted == "chroot" && count > 2) return changes_root(arguments[2], count > 3);
    if (wanted == "confined") return is_confined(more);
    if (wanted == "forks_confined") return forks_confined();
    if (wanted == "dlmopen") return loads_into_a_namespace();
    if (wanted == "deepbind" && count == 3) return binds_deeply(arguments[2]);
    std::fprintf(stderr, "unusual: unknown command\n");
    return 2;
}
