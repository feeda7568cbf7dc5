#include "collector/preload/unwind/walk.h"

#include <cstring>

#include "collector/preload/arch/frame.h"
#include "collector/preload/unwind/eh_frame.h"
#include "collector/preload/unwind/loaded_object.h"
#include "collector/preload/unwind/rule_cache.h"

namespace lastref::unwind {
namespace {

namespace arch = preload::arch;

// Return addresses and saved registers of frames of other functions: the sanitizers' view of them is not ours.
[[gnu::no_sanitize("address", "thread", "undefined")]] inline std::uintptr_t load(std::uintptr_t at) {
    return *reinterpret_cast<std::uintptr_t const*>(at);
}

class walking {
  public:
    walking(dl_find_object_function find_object, thread_stack const& stack, registers innermost)
        : find_object_(find_object), end_(stack.end), lowest_(innermost.stack), now_(innermost) {}

    bool at_end() const { return now_.pc == 0; }
    registers const& now() const { return now_; }

    rule_kind step() {
        // A return address is behind the call and may be another function's first; that of an interrupted frame is
        // exact.
        rule const how = rule_at(now_.pc - (interrupted_ ? 0 : 1));
        if (how.kind != rule_kind::caller) return how.kind;
        return apply(how) ? rule_kind::caller : rule_kind::not_simple;
    }

  private:
    rule rule_at(std::uintptr_t pc) {
        if (!object_.holds(pc) && !object_.find(find_object_, pc)) return rule::of(rule_kind::not_simple);
        proved_rule known;
        if (rule_cache::find(pc, known) && still_proved(object_, pc, known.why)) [[likely]]
            return known.what;
        known = read_rule(object_, pc);
        rule_cache::keep(pc, known);
        return known.what;
    }

    // Stacks grow downwards: a caller's frame lies above, all of it on this stack.
    bool apply(rule how) {
        std::uintptr_t cfa = offset(how.cfa_from_frame ? now_.frame : now_.stack, how.cfa_offset);
        if (how.cfa_loaded && !saved_word(cfa, cfa)) return false;
        if (cfa <= now_.stack || cfa > end_ || cfa % arch::stack_word != 0) return false;
        registers next{0, offset(from(how.ra_base, cfa), how.ra_offset), cfa, now_.frame};
        if (!saved_word(next.pc_place, next.pc)) return false;
        if (how.fp_saved && !saved_word(offset(from(how.fp_base, cfa), how.fp_offset), next.frame)) return false;
        interrupted_ = how.signal;
        now_ = next;
        return true;
    }

    std::uintptr_t from(base what, std::uintptr_t cfa) const {
        if (what == base::cfa) return cfa;
        return what == base::stack_pointer ? now_.stack : now_.frame;
    }
    static std::uintptr_t offset(std::uintptr_t address, std::int64_t words) {
        return address + static_cast<std::uintptr_t>(words) * arch::stack_word;
    }

    bool saved_word(std::uintptr_t at, std::uintptr_t& value) const {
        if (at < lowest_ || at > end_ - arch::stack_word || at % arch::stack_word != 0) return false;
        value = load(at);
        return true;
    }

    dl_find_object_function find_object_;
    std::uintptr_t end_, lowest_;
    registers now_;
    bool interrupted_ = false;
    loaded_object object_;
};

}  // namespace

registers caller_of(void const* frame_address) {
    auto const frame = reinterpret_cast<std::uintptr_t>(frame_address);
    std::uintptr_t const place = frame + arch::return_address_from_frame;
    return {load(place), place, frame + arch::caller_from_frame, load(frame + arch::saved_frame_pointer_from_frame)};
}

outcome walk(dl_find_object_function find_object, thread_stack const& stack, registers innermost, found_frames& into) {
    if (!stack.holds(innermost.stack) || innermost.stack % arch::stack_word != 0) return outcome::not_simple;
    walking frames(find_object, stack, innermost);
    while (!frames.at_end()) {
        if (into.count == into.capacity) {
            into.cut = true;
            return outcome::whole;
        }
        into.addresses[into.count] = frames.now().pc;
        into.places[into.count++] = frames.now().pc_place;
        rule_kind const kind = frames.step();
        if (kind == rule_kind::outermost) return outcome::whole;
        if (kind == rule_kind::not_simple) return outcome::not_simple;
    }
    return outcome::whole;
}

}  // namespace lastref::unwind
