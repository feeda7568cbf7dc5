// What a call stack costs: the collector's unwinder, libgcc's _Unwind_Backtrace as the collector would use it, and
// backtrace(), in turns, so that a machine that slows down slows all three.
//
//     unwind [--depths 5,20,60] [--rounds 600] [--iterations 16]
//
//     same       one call path, again and again
//     scattered  1024 call paths in turns; each return address was seen before
//     new        nothing was seen before: every rule is read from the tables (the collector's unwinder only)
//
// Prints JSON like the other benchmarks: nanoseconds a stack, medians over the rounds, and how many times the
// collector's the others take.
#include <dlfcn.h>
#include <execinfo.h>
#include <unwind.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "collector/preload/unwind/rule_cache.h"
#include "collector/preload/unwind/walk.h"

namespace lastref::bench {
namespace {

using clock = std::chrono::steady_clock;
using nanoseconds = std::chrono::duration<double, std::nano>;

constexpr std::uint32_t most_frames = 64;

struct frames_found {
    std::uintptr_t addresses[most_frames], places[most_frames];
    std::uint32_t count;
};
thread_local frames_found found;
thread_local unwind::thread_stack own_stack;
unwind::dl_find_object_function find_object;

using method = void (*)(void const* frame);

void nothing(void const*) {}

void own(void const* frame) {
    auto const innermost = unwind::caller_of(frame);
    if (!own_stack.holds(innermost.stack)) unwind::prove(own_stack, innermost.stack);
    unwind::found_frames into{found.addresses, found.places, most_frames};
    walk(find_object, own_stack, innermost, into);
    found.count = into.count;
}

_Unwind_Reason_Code visit(_Unwind_Context* context, void*) {
    if (found.count == most_frames) return _URC_END_OF_STACK;
    found.addresses[found.count] = _Unwind_GetIP(context);
    found.places[found.count++] = _Unwind_GetCFA(context);
    return _URC_NO_REASON;
}
void libgcc(void const*) {
    found.count = 0;
    _Unwind_Backtrace(visit, nullptr);
}
void glibc(void const*) {
    found.count = static_cast<std::uint32_t>(backtrace(reinterpret_cast<void**>(found.addresses), most_frames));
}

double new_rules_ns;
void own_anew(void const* frame) {
    unwind::rule_cache::clear();
    auto const begin = clock::now();
    own(frame);
    new_rules_ns = nanoseconds(clock::now() - begin).count();
}

[[gnu::noinline]] void leaf(method take) {
    take(__builtin_frame_address(0));
    asm volatile("" ::: "memory");
}

void descend(int levels, unsigned path, method take);

// Two functions that do the same: which of them a level goes through tells call paths apart.
[[gnu::noinline]] void by_the_left(int levels, unsigned path, method take) {
    descend(levels, path, take);
    asm volatile("nop" ::: "memory");
}
[[gnu::noinline]] void by_the_right(int levels, unsigned path, method take) {
    descend(levels, path, take);
    asm volatile("" ::: "memory");
}
void descend(int levels, unsigned path, method take) {
    if (levels <= 0) return leaf(take);
    return path & 1 ? by_the_left(levels - 1, path >> 1 | (path & 1) << 9, take)
                    : by_the_right(levels - 1, path >> 1, take);
}

double run(int levels, unsigned first_path, unsigned paths, method take, int iterations) {
    auto const begin = clock::now();
    for (int i = 0; i < iterations; ++i) descend(levels, (first_path + static_cast<unsigned>(i)) % paths, take);
    return nanoseconds(clock::now() - begin).count() / iterations;
}

double median(std::vector<double> values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

struct settings {
    std::string depths = "5,20,60";
    int rounds = 600;     // of short turns: a machine that throttles or preempts spoils few of them
    int iterations = 16;  // stacks a turn
};

// How many levels make a stack of `depth` frames here.
int levels_for(int depth) {
    descend(0, 0, own);
    return std::max(0, depth - static_cast<int>(found.count));
}

void measure(std::string_view name, int depth, unsigned paths, settings const& chosen, char const*& separator) {
    int const levels = levels_for(depth);
    method const methods[] = {nothing, own, libgcc, glibc};
    std::vector<double> times[4];
    for (int round = 0; round < chosen.rounds; ++round) {
        auto const first = static_cast<unsigned>(round * chosen.iterations);
        for (int i = 0; i < 4; ++i) times[i].push_back(run(levels, first, paths, methods[i], chosen.iterations));
    }
    double const empty = median(times[0]);
    double const ns[] = {median(times[1]) - empty, median(times[2]) - empty, median(times[3]) - empty};
    std::printf(
        "%s {\"paths\": \"%s\", \"depth\": %d, \"own_ns\": %.1f, \"libgcc_ns\": %.1f, \"backtrace_ns\": %.1f, "
        "\"libgcc_to_own\": %.2f, \"backtrace_to_own\": %.2f}",
        separator, name.data(), depth, ns[0], ns[1], ns[2], ns[1] / ns[0], ns[2] / ns[0]);
    separator = ",\n";
}

void measure_new(int depth, settings const& chosen, char const*& separator) {
    int const levels = levels_for(depth);
    std::vector<double> own_times, libgcc_times;
    for (int round = 0; round < chosen.rounds; ++round) {
        descend(levels, 0, own_anew);
        own_times.push_back(new_rules_ns);
        libgcc_times.push_back(run(levels, 0, 1, libgcc, chosen.iterations));
    }
    double const ns[] = {median(own_times), median(libgcc_times)};
    std::printf(
        "%s {\"paths\": \"new\", \"depth\": %d, \"own_ns\": %.1f, \"libgcc_ns\": %.1f, \"libgcc_to_own\": %.2f}",
        separator, depth, ns[0], ns[1], ns[1] / ns[0]);
}

settings parse(int count, char** arguments) {
    settings chosen;
    for (int i = 1; i + 1 < count; i += 2) {
        std::string_view const name = arguments[i];
        if (name == "--depths")
            chosen.depths = arguments[i + 1];
        else if (name == "--rounds")
            chosen.rounds = std::max(1, std::atoi(arguments[i + 1]));
        else if (name == "--iterations")
            chosen.iterations = std::max(1, std::atoi(arguments[i + 1]));
    }
    return chosen;
}

void measure_all(settings const& chosen) {
    char const* separator = "\n";
    std::istringstream depths(chosen.depths);
    for (std::string depth; std::getline(depths, depth, ',');) {
        measure("same", std::atoi(depth.c_str()), 1, chosen, separator);
        measure("scattered", std::atoi(depth.c_str()), 1024, chosen, separator);
        measure_new(std::atoi(depth.c_str()), chosen, separator);
    }
}

}  // namespace
}  // namespace lastref::bench

int main(int count, char** arguments) {
    using namespace lastref::bench;
    auto const chosen = parse(count, arguments);
    find_object = reinterpret_cast<lastref::unwind::dl_find_object_function>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
    if (find_object == nullptr) {
        std::fprintf(stderr, "unwind: this glibc has no _dl_find_object\n");
        return 1;
    }
    std::printf("{\"results\": [");
    std::thread(measure_all, chosen).join();
    std::printf("\n]}\n");
}
