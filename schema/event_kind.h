// The kinds of event as types: see event_kind.def.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lastref {

enum class event_kind : std::uint16_t {
#define LASTREF_EVENT_KIND(name, object, verb, order, stacks, stamps) name,
#include "event_kind.def"
#undef LASTREF_EVENT_KIND
    count
};

enum class event_order : std::uint8_t { end, begin, begin_mark };
enum class stamp_count : std::uint8_t { one, two };
enum class stack_setting : std::uint8_t { off, create, all };

struct event_kind_info {
    std::string_view name;
    std::string_view object;
    std::string_view verb;
    event_order order;
    stack_setting stacks;
    stamp_count stamps;
};

inline constexpr std::array event_kinds{
#define LASTREF_EVENT_KIND(name, object, verb, order, stacks, stamps) \
    event_kind_info{#name, #object, #verb, event_order::order, stack_setting::stacks, stamp_count::stamps},
#include "event_kind.def"
#undef LASTREF_EVENT_KIND
};

constexpr event_kind_info const& info(event_kind kind) {
    return event_kinds[static_cast<std::size_t>(kind)];
}

// What the program said of itself: no call of the driver.
constexpr bool is_annotation(event_kind kind) {
    return kind >= event_kind::annotation_recipe && kind <= event_kind::annotation_stop;
}

// The program's dealings with its interpreter.
constexpr bool is_pending_call(event_kind kind) {
    return kind == event_kind::pending_call_attempt || kind == event_kind::pending_call_run;
}

// Neither a call of the driver's nor one that the driver made.
constexpr bool is_beside_driver(event_kind kind) {
    return is_annotation(kind) || is_pending_call(kind);
}

}  // namespace lastref
