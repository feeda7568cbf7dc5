#include "collector/nvtx/record.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "collector/preload/arch/clock.h"
#include "collector/preload/record/process.h"

namespace lastref::nvtx {
namespace {

using preload::thread_ring;
namespace process = preload::process;
namespace rings = preload::rings;
using spool::nvtx_action;
using spool::nvtx_record;

thread_local constinit std::uint16_t levels[names::max_domains] __attribute__((tls_model("initial-exec"))) = {};

constexpr std::uint64_t own_numbers = std::uint64_t{0x4c524546} << 32;  // "LREF"
std::atomic<std::uint64_t> last_number{own_numbers};

// --- one record
// ----------------------------------------------------------------------------------------------------------

// While it lives, a signal handler that interrupts this thread writes no record, and the drain writes nothing later
// than what this thread is about to publish: see record/call.h.
class writing {
  public:
    explicit writing(thread_ring& r) : r_(r), before_(r.writing) {
        r_.writing = 1;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        auto& hold = r_.slot->order_hold;
        holds_ = hold.load(std::memory_order_relaxed) == 0;
        if (holds_) hold.store(r_.last_stamp | 1, std::memory_order_release);
    }
    ~writing() {
        if (holds_) r_.slot->order_hold.store(0, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        r_.writing = before_;
    }
    writing(writing const&) = delete;
    writing& operator=(writing const&) = delete;

  private:
    thread_ring& r_;
    std::uint8_t before_;
    bool holds_;
};

char* append(char* to, text const& what) {
    if (what.length != 0) memcpy(to, what.bytes, what.length);
    return to + what.length;
}

text cut(text const& what, std::size_t room) {
    if (what.length <= room) return what;
    process::count(spool::loss::texts_cut);
    return {what.bytes, room};
}

// What a program says of a range or an instant may be anything, such as what a user typed: a value like any argument.
// Names of things stay.
text without_values(nvtx_record& head, text const& message) {
    if (process::the.options.arguments || head.action == nvtx_action::name) return message;
    head.payload_kind = spool::nvtx_payload::none;
    head.payload = 0;
    return {};
}

// `at` is 0 for now.
bool write(thread_ring& r, nvtx_record head, std::uint32_t domain, text const& given, std::uint64_t at = 0) {
    text const message = without_values(head, given);
    text const domain_name = names::domain_name(domain);
    text const category = names::category_name(domain, head.category);
    text const said = cut(message, spool::nvtx_text_capacity - domain_name.length - category.length);
    std::size_t const length = domain_name.length + category.length + said.length;
    std::size_t const first = sizeof(nvtx_record::text);
    std::uint32_t const slots = 1 + static_cast<std::uint32_t>(length > first ? (length - first + 63) / 64 : 0);
    writing const now(r);
    std::byte* const place = rings::room(r, slots);
    if (place == nullptr) return false;
    head.length = static_cast<std::uint16_t>(length);
    head.type = spool::record_type::nvtx;
    head.slots = static_cast<std::uint8_t>(slots);
    head.domain_length = static_cast<std::uint8_t>(domain_name.length);
    head.category_length = static_cast<std::uint8_t>(category.length);
    head.context = r.context;
    head.has_message = message.bytes != nullptr;
    head.at = at != 0 ? at : preload::now_ticks();
    memcpy(place, &head, offsetof(nvtx_record, text));
    char* const texts = reinterpret_cast<char*>(place) + offsetof(nvtx_record, text);
    append(append(append(texts, domain_name), category), said);
    rings::publish(r, slots);
    if (at == 0) r.last_stamp = head.at;
    return true;
}

nvtx_record head_of(nvtx_action action, saying const& what, std::uint64_t number = 0) {
    nvtx_record head{};
    head.action = action;
    head.payload_kind = what.payload_kind;
    head.number = number;
    head.payload = what.payload;
    head.category = what.category;
    return head;
}

// --- before the process records
// ----------------------------------------------------------------------------------------

struct early {
    nvtx_action action;  // push, start or name; anything else: free
    std::uint32_t tid;
    std::uint32_t domain;
    nvtx_record head;
    std::size_t length;
    bool has_message;
    char message[200];
};
constexpr std::size_t most_early = 64;
constinit early kept[most_early] = {};
std::uint32_t kept_number = 0;  // entries ever in use
std::atomic<bool> busy{false};

class guard {
  public:
    guard() {
        while (busy.exchange(true, std::memory_order_acquire)) sched_yield();
    }
    ~guard() { busy.store(false, std::memory_order_release); }
    guard(guard const&) = delete;
    guard& operator=(guard const&) = delete;
};

constexpr nvtx_action nothing{};

std::uint32_t own_tid() {
    return static_cast<std::uint32_t>(syscall(SYS_gettid));
}

// Entries are used in the order of the ranges, so that the latest is the innermost.
void keep(nvtx_record const& head, std::uint32_t domain, text const& message) {
    guard const alone;
    while (kept_number > 0 && kept[kept_number - 1].action == nothing) --kept_number;
    if (kept_number == most_early) return;
    early& one = kept[kept_number++];
    one.action = head.action;
    one.tid = own_tid();
    one.domain = domain;
    one.head = head;
    one.has_message = message.bytes != nullptr;
    one.length = message.length < sizeof one.message ? message.length : sizeof one.message;
    if (one.length != 0) memcpy(one.message, message.bytes, one.length);
}

template <class Fits>
void forget_latest(Fits&& fits) {
    guard const alone;
    for (std::uint32_t i = kept_number; i-- > 0;) {
        if (kept[i].action == nothing || !fits(kept[i])) continue;
        kept[i].action = nothing;
        return;
    }
}

// This thread's ring if the process records already.
thread_ring* ring_of_this_thread() {
    if (process::in_forked_child() || process::the.current.load(std::memory_order_acquire) != process::state::recording)
        return nullptr;
    return rings::acquire();
}

void say(nvtx_record const& head, std::uint32_t domain, text const& message) {
    if (thread_ring* const r = ring_of_this_thread(); r != nullptr) {
        if (r->writing == 0) write(*r, head, domain, message);
        return;
    }
    switch (head.action) {
        case nvtx_action::push:
        case nvtx_action::start:
        case nvtx_action::name:
            return keep(head, domain, message);
        case nvtx_action::pop:
            return forget_latest([tid = own_tid(), domain](early const& each) {
                return each.action == nvtx_action::push && each.tid == tid && each.domain == domain;
            });
        case nvtx_action::end:
            return forget_latest([number = head.number](early const& each) {
                return each.action == nvtx_action::start && each.head.number == number;
            });
        case nvtx_action::mark:
            break;
    }
}

}  // namespace

void mark(saying const& what) {
    say(head_of(nvtx_action::mark, what), what.domain, what.message);
}

int push(saying const& what) {
    say(head_of(nvtx_action::push, what), what.domain, what.message);
    if (what.domain >= names::max_domains) return -1;
    return levels[what.domain]++;
}

int pop(std::uint32_t domain) {
    if (domain >= names::max_domains || levels[domain] == 0) return -1;
    nvtx_record head{};
    head.action = nvtx_action::pop;
    say(head, domain, {});
    return --levels[domain];
}

void start(saying const& what, std::uint64_t number) {
    say(head_of(nvtx_action::start, what, number), what.domain, what.message);
}

void end(std::uint64_t number) {
    nvtx_record head{};
    head.action = nvtx_action::end;
    head.number = number;
    say(head, names::default_domain, {});
}

std::uint64_t new_number() {
    return last_number.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool is_own_number(std::uint64_t number) {
    return number >> 32 == own_numbers >> 32;
}

void name(spool::nvtx_resource resource, std::uint64_t number, text const& called) {
    if (called.bytes == nullptr) return;
    nvtx_record head{};
    head.action = nvtx_action::name;
    head.resource = resource;
    head.number = number;
    say(head, names::default_domain, called);
}

void introduce(thread_ring& r) {
    guard const alone;
    // They were said before the first call: the spool's first stamp is before that, too.
    std::uint64_t const at = process::the.header->first_clock.ticks.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < kept_number; ++i) {
        early& one = kept[i];
        if (one.action == nothing || (one.action == nvtx_action::push && one.tid != r.slot->tid)) continue;
        text const message = one.has_message ? text{one.message, one.length} : text{};
        if (write(r, one.head, one.domain, message, at)) one.action = nothing;
    }
}

void forget_parent() {
    busy.store(false, std::memory_order_relaxed);
    names::forget_parent();
}

}  // namespace lastref::nvtx
