#include "collector/preload/unwind/rule_cache.h"

#include <atomic>

namespace lastref::unwind::rule_cache {
namespace {

// Readers read the version before and after: it is odd while the entry is written, and larger afterwards. Acquire loads
// and release stores of the fields keep them between; on x86-64 they are plain moves. A forked child may find an entry
// odd for ever, since its writer exists in the parent only: then that entry is lost to it, no more.
struct entry {
    std::atomic<std::uint64_t> version;
    std::atomic<std::uint64_t> pc;
    std::atomic<std::uint64_t> rule_word;
    std::atomic<std::uint64_t> proof_word;
};

// Two places for each program counter, in one cache line.
struct alignas(64) line {
    entry entries[2];
};

// Stacks of calls into the driver have some thousand return addresses in large programs. Pages that are not used cost
// nothing.
constexpr std::uint32_t line_bits = 13;
line lines[1u << line_bits];

std::uint64_t hashed(std::uintptr_t pc) {
    return pc * 0x9e3779b97f4a7c15u;
}
line& line_of(std::uintptr_t pc) {
    return lines[hashed(pc) >> (64 - line_bits)];
}

bool read(entry const& from, std::uintptr_t pc, proved_rule& found) {
    std::uint64_t const version = from.version.load(std::memory_order_acquire);
    if (from.pc.load(std::memory_order_acquire) != pc || (version & 1) != 0) return false;
    std::uint64_t const rule_word = from.rule_word.load(std::memory_order_acquire);
    std::uint64_t const proof_word = from.proof_word.load(std::memory_order_acquire);
    if (from.version.load(std::memory_order_relaxed) != version) return false;
    found = {rule::from_word(rule_word), std::bit_cast<proof>(proof_word)};
    return true;
}

void write(entry& to, std::uintptr_t pc, proved_rule const& made) {
    std::uint64_t version = to.version.load(std::memory_order_relaxed);
    if ((version & 1) != 0 || !to.version.compare_exchange_strong(version, version + 1, std::memory_order_acq_rel))
        return;
    to.pc.store(pc, std::memory_order_release);
    to.rule_word.store(made.what.word(), std::memory_order_release);
    to.proof_word.store(made.why.word(), std::memory_order_release);
    to.version.store(version + 2, std::memory_order_release);
}

// The place that `pc` has already, or a free one, or the one that was written less often.
entry& place_for(line& where, std::uintptr_t pc) {
    for (entry& one : where.entries) {
        std::uint64_t const held = one.pc.load(std::memory_order_relaxed);
        if (held == pc || held == 0) return one;
    }
    return where.entries[where.entries[1].version.load(std::memory_order_relaxed) <
                         where.entries[0].version.load(std::memory_order_relaxed)];
}

}  // namespace

bool find(std::uintptr_t pc, proved_rule& found) {
    line const& where = line_of(pc);
    return read(where.entries[0], pc, found) || read(where.entries[1], pc, found);
}

void keep(std::uintptr_t pc, proved_rule const& made) {
    if (made.why.length != 0) write(place_for(line_of(pc), pc), pc, made);
}

void clear() {
    for (line& each : lines) {
        for (entry& one : each.entries) write(one, 0, {rule::of(rule_kind::not_simple), {0, 0, 0}});
    }
}

}  // namespace lastref::unwind::rule_cache
