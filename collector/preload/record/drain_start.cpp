#include "collector/preload/record/drain_start.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "collector/preload/arch/clock.h"

extern "C" char** environ;

namespace lastref::preload {
namespace {

char const* program_name() {
    char const* const slash = strrchr(program_invocation_name, '/');
    return slash != nullptr ? slash + 1 : program_invocation_name;
}

// `lastref` lies in bin beside our lib folder, in the build and where it is installed.
bool find_lastref(line& path) {
    if (char const* const given = getenv("LASTREF_PROGRAM"); given != nullptr && *given != 0) {
        path << given;
        return access(given, X_OK) == 0;
    }
    Dl_info info;
    if (dladdr == nullptr || dladdr(reinterpret_cast<void*>(&find_lastref), &info) == 0 || info.dli_fname == nullptr)
        return false;
    char folder[4096] = {};
    if (realpath(info.dli_fname, folder) == nullptr) return false;
    if (char* const slash = strrchr(folder, '/')) *slash = 0;
    if (char* const slash = strrchr(folder, '/')) *slash = 0;
    path << folder << "/bin/lastref";
    return access(path.text(), X_OK) == 0;
}

bool roomy(char const* folder) {
    struct statvfs status;
    constexpr std::uint64_t enough = std::uint64_t{1} << 30;
    return statvfs(folder, &status) == 0 && std::uint64_t{status.f_bavail} * status.f_frsize >= enough;
}

// Memory first: a spool on a disk is written back again and again. Without a drain the spool stays, so it must lie
// where files stay.
bool make_folder(bool drained, line& folder) {
    char const* parents[4] = {};
    int count = 0;
    if (drained && roomy("/dev/shm")) parents[count++] = "/dev/shm";
    char const* const temporary = getenv("TMPDIR");
    if (drained) parents[count++] = temporary != nullptr && *temporary != 0 ? temporary : "/tmp";
    parents[count++] = ".";
    for (int i = 0; i < count; ++i) {
        line path;
        path << parents[i] << "/lastref-" << static_cast<std::uint64_t>(getpid()) << "-" << monotonic_ns();
        if (mkdir(path.text(), 0700) != 0) continue;
        char absolute[4096];
        folder << (realpath(path.text(), absolute) != nullptr ? absolute : path.text());
        return true;
    }
    return false;
}

void choose_trace(line& trace) {
    char const* const given = getenv("LASTREF_OUTPUT");
    if (given != nullptr && *given != 0) {
        trace << given;
        return;
    }
    char here[4096];
    trace << (getcwd(here, sizeof here) != nullptr ? here : ".") << "/" << program_name() << "-"
          << static_cast<std::uint64_t>(getpid()) << ".lastref";
}

// --- starting a process that the program never notices: no SIGCHLD, nothing for its wait() to find, nothing kept open
// -------

struct launch {
    char const* path;
    char* arguments[8];
    char** environment;
    std::byte* stack;  // of the second child
    std::size_t stack_size;
};

int exec_drain(void* argument) {
    auto const& what = *static_cast<launch*>(argument);
    setsid();
    int const null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3 && null >= 0; ++fd) dup2(null, fd);
    syscall(SYS_close_range, 3u, ~0u, 0u);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execve(what.path, what.arguments, what.environment);
    _exit(127);
}

// The drain's parent ends at once, so that init adopts the drain.
int start_and_end(void* argument) {
    auto const& what = *static_cast<launch*>(argument);
    int const pid = clone(exec_drain, what.stack + what.stack_size, CLONE_VM | CLONE_VFORK | SIGCHLD, argument);
    _exit(pid > 0 ? 0 : 1);
}

// Everything but LD_PRELOAD: the drain must not record itself.
char** environment_without_preload() {
    std::size_t count = 0;
    while (environ[count] != nullptr) ++count;
    std::size_t const size = (count + 1) * sizeof(char*);
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return environ;
    auto** const kept = static_cast<char**>(memory);
    std::size_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0) kept[next++] = environ[i];
    }
    return kept;
}

bool start_drain(char const* program, char const* folder, char const* trace) {
    constexpr std::size_t stack_size = std::size_t{64} << 10;
    void* const stacks = mmap(nullptr, 2 * stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stacks == MAP_FAILED) return false;
    line pid;
    pid << static_cast<std::uint64_t>(getpid());
    auto const text = [](char const* t) { return const_cast<char*>(t); };
    launch what{
        program,
        {text(program), text("drain"), text("--spool-dir"), text(folder), text("-o"), text(trace), nullptr, nullptr},
        environment_without_preload(),
        static_cast<std::byte*>(stacks),
        stack_size};
    // The children share our memory until exec: no handler of the program may run in them.
    sigset_t all, former;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &former);
    int const child =
        clone(start_and_end, static_cast<std::byte*>(stacks) + 2 * stack_size, CLONE_VM | CLONE_VFORK, &what);
    int status = 1;
    if (child > 0) {
        while (waitpid(child, &status, __WALL) < 0 && errno == EINTR) {
        }
    }
    sigprocmask(SIG_SETMASK, &former, nullptr);
    munmap(stacks, 2 * stack_size);
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool quiet() {
    char const* const value = getenv("LASTREF_QUIET");
    return value != nullptr && strcmp(value, "1") == 0;
}

}  // namespace

bool choose_spool_folder(line& folder) {
    if (char const* const given = getenv("LASTREF_SPOOL_DIR"); given != nullptr && *given != 0) {
        folder << given;
        return true;
    }
    line program, trace, message;
    bool const found = find_lastref(program);
    if (!make_folder(found, folder)) return false;
    choose_trace(trace);
    if (found && start_drain(program.text(), folder.text(), trace.text()))
        message << "recording to " << trace.text();
    else
        message << "no drain could be started; afterwards type: lastref import " << folder.text();
    if (!quiet()) say(message.text());
    return true;
}

}  // namespace lastref::preload
