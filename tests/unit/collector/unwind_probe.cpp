// Preloaded into real programs: interrupts them some thousand times a second, wherever they are, and compares the
// unwinder with libgcc's there. Writes what came of it beside $UNWIND_PROBE_REPORT when the program ends.
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "tests/unit/collector/unwind_compare.h"

namespace lastref::unwind::test {
namespace {

constexpr suseconds_t interval = 300;

std::atomic_flag comparing;

void interrupt(int) {
    int const saved = errno;
    if (!comparing.test_and_set()) {
        unwind_check();
        comparing.clear();
    }
    errno = saved;
}

void set_timer(suseconds_t microseconds) {
    itimerval const each{{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &each, nullptr);
}

[[gnu::constructor]] void begin() {
    if (std::getenv("UNWIND_PROBE_REPORT") == nullptr || find_object() == nullptr) return;
    struct sigaction action {};
    action.sa_handler = interrupt;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    set_timer(interval);
}

[[gnu::destructor]] void end() {
    char const* const name = std::getenv("UNWIND_PROBE_REPORT");
    if (name == nullptr) return;
    set_timer(0);
    char path[4096];
    std::snprintf(path, sizeof path, "%s.%d", name, static_cast<int>(getpid()));
    std::FILE* const file = std::fopen(path, "w");
    if (file == nullptr) return;
    auto const& all = so_far();
    std::fprintf(file, "%lu %lu %lu %lu\n", all.compared, all.whole, all.different, all.refused);
    std::fclose(file);
    if (all.different != 0) describe(all.first_difference);
    if (std::getenv("UNWIND_PROBE_SHOW") != nullptr && all.whole < all.compared) describe(all.first_not_whole);
}

}  // namespace
}  // namespace lastref::unwind::test
