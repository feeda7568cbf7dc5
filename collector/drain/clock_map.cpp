#include "collector/drain/clock_map.h"

#include <algorithm>
#include <ctime>
#include <thread>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace lastref::drain {
namespace {

constexpr std::size_t most_nodes = 8192;

std::uint64_t monotonic_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t cpu_ticks() {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return monotonic_ns();
#endif
}

// Measured once, for spools that hold no second pair to tell by.
double local_ns_per_tick() {
    static double const measured = [] {
        clock_reading const begin = read_clocks(spool::clock_kind::tsc);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        clock_reading const end = read_clocks(spool::clock_kind::tsc);
        return static_cast<double>(end.ns - begin.ns) /
               static_cast<double>(std::max<std::uint64_t>(end.ticks - begin.ticks, 1));
    }();
    return measured;
}

}  // namespace

clock_reading read_clocks(spool::clock_kind kind) {
    if (kind == spool::clock_kind::monotonic_ns) {
        std::uint64_t const now = monotonic_ns();
        return {now, now};
    }
    // An interrupt between the two readings would put them apart: the tightest of a few tries is taken.
    clock_reading best{};
    std::uint64_t tightest = ~std::uint64_t{0};
    for (int i = 0; i < 4; ++i) {
        std::uint64_t const before = cpu_ticks();
        std::uint64_t const ns = monotonic_ns();
        std::uint64_t const after = cpu_ticks();
        if (after - before < tightest) {
            tightest = after - before;
            best = {before + tightest / 2, ns};
        }
    }
    return best;
}

clock_map::clock_map(spool::clock_kind kind, clock_reading first) : kind_(kind) {
    double const rate = kind == spool::clock_kind::monotonic_ns ? 1.0 : local_ns_per_tick();
    nodes_.push_back({first.ticks, first.ns, rate});
}

// Counters run at 10 MHz (some ARM) to 10 GHz; CLOCK_MONOTONIC is its own tick, but for the rounding of a short
// interval.
bool clock_map::plausible(double rate) const {
    return kind_ == spool::clock_kind::monotonic_ns ? rate > 0.99 && rate < 1.01 : rate > 0.1 && rate < 100;
}

bool clock_map::add(clock_reading pair) {
    node& last = nodes_.back();
    if (pair.ticks <= last.ticks || pair.ns <= last.ns) return false;
    double const rate = static_cast<double>(pair.ns - last.ns) / static_cast<double>(pair.ticks - last.ticks);
    if (!plausible(rate)) return false;
    last.ns_per_tick = rate;
    nodes_.push_back({pair.ticks, pair.ns, rate});
    if (nodes_.size() > most_nodes) thin_out();
    return true;
}

bool clock_map::continues(clock_reading now) const {
    node const& first = nodes_.front();
    if (now.ticks <= first.ticks || now.ns <= first.ns) return false;
    if (kind_ == spool::clock_kind::monotonic_ns) return true;
    double const rate = static_cast<double>(now.ns - first.ns) / static_cast<double>(now.ticks - first.ticks);
    // Both clocks were read within microseconds; over at least 10 ms that is far below a part in a thousand.
    double const short_run = now.ns - first.ns < 10'000'000 ? 0.05 : 0.001;
    return std::abs(rate / local_ns_per_tick() - 1) < short_run;
}

// Only the older half is asked for rarely (begins of calls that last long), and there an interval twice as long does.
void clock_map::thin_out() {
    std::vector<node> kept;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (i % 2 == 0 || i >= nodes_.size() / 2) kept.push_back(nodes_[i]);
    }
    for (std::size_t i = 0; i + 1 < kept.size(); ++i)
        kept[i].ns_per_tick =
            static_cast<double>(kept[i + 1].ns - kept[i].ns) / static_cast<double>(kept[i + 1].ticks - kept[i].ticks);
    nodes_ = std::move(kept);
    recent_ = 0;
}

// The node whose interval holds `ticks`. Questions come nearly in order, so the last answer is tried first.
std::size_t clock_map::find(std::uint64_t ticks) const {
    auto const holds = [&](std::size_t i) {
        return nodes_[i].ticks <= ticks && (i + 1 == nodes_.size() || ticks < nodes_[i + 1].ticks);
    };
    if (recent_ < nodes_.size() && holds(recent_)) return recent_;
    auto const after = std::upper_bound(nodes_.begin(), nodes_.end(), ticks,
                                        [](std::uint64_t value, node const& one) { return value < one.ticks; });
    recent_ = after == nodes_.begin() ? 0 : static_cast<std::size_t>(after - nodes_.begin()) - 1;
    return recent_;
}

std::uint64_t clock_map::ns(std::uint64_t ticks) const {
    node const& from = nodes_[find(ticks)];
    if (ticks >= from.ticks)
        return from.ns + static_cast<std::uint64_t>(static_cast<double>(ticks - from.ticks) * from.ns_per_tick);
    return from.ns - static_cast<std::uint64_t>(static_cast<double>(from.ticks - ticks) * from.ns_per_tick);
}

std::uint64_t clock_map::ticks(std::uint64_t ns) const {
    auto const after = std::upper_bound(nodes_.begin(), nodes_.end(), ns,
                                        [](std::uint64_t value, node const& one) { return value < one.ns; });
    node const& from = after == nodes_.begin() ? nodes_.front() : *(after - 1);
    if (ns >= from.ns)
        return from.ticks + static_cast<std::uint64_t>(static_cast<double>(ns - from.ns) / from.ns_per_tick);
    auto const back = static_cast<std::uint64_t>(static_cast<double>(from.ns - ns) / from.ns_per_tick);
    return back < from.ticks ? from.ticks - back : 0;
}

}  // namespace lastref::drain
