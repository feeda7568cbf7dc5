// A program as the recorder sees it: spools into $LASTREF_SPOOL_DIR as if the collector were in it, and ends in some
// way.
//
//     spooling_program CALLS WAY
//
// Ways: clean, status (exits with 7), killed, outlive (a forked child spools and runs on for a second), exec (another
// image of it spools the same number again), slow (waits between calls), signal (waits for SIGUSR1, then exits with 9).
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "collector/drain/clock_map.h"
#include "spool_writer.h"

namespace {

using namespace lastref;

std::uint64_t now() {
    return drain::read_clocks(spool::clock_kind::monotonic_ns).ticks;
}

// As the collector names them: the images of a process that calls exec differ in the last number.
std::filesystem::path spool_path(test::spool_options const& options) {
    std::filesystem::path const folder = std::getenv("LASTREF_SPOOL_DIR");
    return folder / (std::to_string(options.pid) + "-" + std::to_string(options.process_start) + "-" +
                     std::to_string(options.first_ns) + ".spool");
}

void write_spool(unsigned calls, std::string const& way) {
    test::spool_options options = test::options_of_this_process();
    options.parent_pid = static_cast<std::uint32_t>(getppid());
    static auto* const writer = new test::spool_writer(spool_path(options), options);  // mapped to the very end
    auto const me = writer->thread(options.pid);
    for (unsigned i = 0; i < calls; ++i) {
        me->call(test::make_call({.api = hooks::abi::cuMemAlloc_v2, .begin = now(), .duration = 1, .object = i + 1}));
        if (way == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (way == "exec") me->phase(spool::phase::exec, now());
    if (way == "clean") writer->end_clean();
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) return 2;
    auto const calls = static_cast<unsigned>(std::stoul(arguments[1]));
    std::string const way = arguments[2];
    if (way == "signal") {
        static volatile sig_atomic_t got = 0;
        signal(SIGUSR1, [](int) { got = got + 1; });
        write_spool(calls, way);
        while (!got) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return got == 1 ? 9 : 10;
    }
    if (way == "outlive" && fork() == 0) {
        write_spool(calls, way);
        std::this_thread::sleep_for(std::chrono::seconds(1));
        return 0;
    }
    write_spool(calls, way);
    if (way == "killed") raise(SIGKILL);
    if (way == "exec") execl("/proc/self/exe", "again", arguments[1], "clean", nullptr);
    return way == "status" ? 7 : 0;
}
