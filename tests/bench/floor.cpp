// What nothing that records can be faster than, on this machine: a 64-byte record stored into a shared mapping whose
// pages are warm, without and with time stamps. Printed beside the storm's figures, in the same JSON.
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace lastref::bench {
namespace {

constexpr std::size_t record_words = 8;
constexpr std::size_t records = 4096;  // 256 KiB: stays in the second-level cache, as recycled segments do
constexpr std::size_t bytes = records * record_words * sizeof(std::uint64_t);

std::uint64_t stamp() {
#if defined(__x86_64__)
    return __rdtsc();
#else
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
#endif
}

std::uint64_t monotonic() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t* map_shared() {
    int const file = memfd_create("floor", 0);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) std::exit(1);
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) std::exit(1);
    std::memset(mapped, 1, bytes);
    return static_cast<std::uint64_t*>(mapped);
}

// Stores a record and publishes it, as the collector's ring does.
void store(std::uint64_t* slot, std::uint64_t begin, std::uint64_t end) {
    for (std::size_t word = 0; word + 2 < record_words; ++word) slot[word] = word;
    slot[record_words - 2] = begin;
    __atomic_store_n(&slot[record_words - 1], end, __ATOMIC_RELEASE);
}

template <typename Body>
double median_ns(Body body) {
    std::vector<double> times;
    for (int repetition = 0; repetition < 15; ++repetition) {
        auto const begin = std::chrono::steady_clock::now();
        for (int round = 0; round < 16; ++round) {
            for (std::size_t i = 0; i < records; ++i) body(i);
        }
        std::chrono::duration<double, std::nano> const elapsed = std::chrono::steady_clock::now() - begin;
        times.push_back(elapsed.count() / (16.0 * records));
    }
    std::nth_element(times.begin(), times.begin() + 7, times.end());
    return times[7];
}

std::uint64_t volatile sink;

void print(char const* name, double ns, char const* separator) {
    std::printf(" {\"workload\": \"%s\", \"threads\": 1, \"median_ns\": %.2f}%s\n", name, ns, separator);
}

}  // namespace
}  // namespace lastref::bench

int main() {
    using namespace lastref::bench;
    auto* const slots = map_shared();
    auto const slot = [&](std::size_t i) { return slots + i * record_words; };
    std::printf("{\"results\": [\n");
    print("time stamp", median_ns([](std::size_t) { sink = stamp(); }), ",");
    print("clock_gettime", median_ns([](std::size_t) { sink = monotonic(); }), ",");
    print("record", median_ns([&](std::size_t i) { store(slot(i), i, i); }), ",");
    print("record, one stamp", median_ns([&](std::size_t i) { store(slot(i), stamp(), i); }), ",");
    print("record, two stamps", median_ns([&](std::size_t i) {
              auto const begin = stamp();
              store(slot(i), begin, stamp());
          }),
          "");
    std::printf("]}\n");
}
