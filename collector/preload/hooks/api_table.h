// The hooked entry points as data, made from driver_api.def. Needs no CUDA headers.
#pragma once

#include "schema/event_kind.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace lastref::hooks {

// One value an exported symbol; its number is what spool records carry.
enum class abi : std::uint16_t {
#define LASTREF_ABI(name, symbol, ...) symbol,
#include "expand.h"
    callback_user_object,  // no entry points but callbacks of the driver into the program
    callback_host_function,
    callback_stream,
    // What a call made besides its own object; follows that call's record. Not calls themselves.
    graph_body,               // a conditional node's body graph
    graph_node_child,         // cuGraphAddNode of a child graph
    graph_node_memory_alloc,  // cuGraphAddNode of a memory allocation
    graph_node_memory_free,   // cuGraphAddNode of a memory free
    batch_copy,               // one copy of a batch
    batch_prefetch,           // one range of a batch of prefetches or discards
    // Annotations of the program, in the order of their kinds in docs/annotations.md.
    annotation_recipe,
    annotation_enqueue,
    annotation_schedule,
    annotation_schedule_result,
    annotation_drain_begin,
    annotation_clean,
    annotation_drain_end,
    annotation_decline,
    annotation_stop,
    annotation_intended_leak,
    annotation_adopt,
    annotation_owner_begin,
    annotation_owner_end,
    // CPython's pending calls.
    pending_call_attempt,
    pending_call_run,
    count
};

enum class default_stream : std::uint8_t { none, legacy, per_thread };

struct abi_info {
    std::string_view symbol;
    std::string_view name;
    default_stream streams;
    event_kind kind;
    // What the record's fields hold, as written in the table; empty where unused.
    std::string_view stream = {}, object = {}, other = {}, size = {}, extra = {};
};

// clang-format off
inline constexpr std::array abi_table{
#define STREAM(e) .stream = #e,
#define OBJECT(e) .object = #e,
#define OTHER(e) .other = #e,
#define SIZE(e) .size = #e,
#define EXTRA(e) .extra = #e,
#define AFTER(e)
#define LASTREF_ABI(name_, symbol_, streams_, kind_, style, parameters, arguments, ...) \
    abi_info{.symbol = #symbol_, .name = #name_, .streams = default_stream::streams_, .kind = event_kind::kind_, __VA_ARGS__},
#include "expand.h"
#undef STREAM
#undef OBJECT
#undef OTHER
#undef SIZE
#undef EXTRA
#undef AFTER
    abi_info{.symbol = "callback:user_object", .name = "user object destructor", .streams = default_stream::none,
             .kind = event_kind::callback_user_object, .object = "user object", .other = "payload", .extra = "destructor"},
    abi_info{.symbol = "callback:host_function", .name = "host function", .streams = default_stream::none,
             .kind = event_kind::callback_host_function, .object = "user data", .extra = "function"},
    abi_info{.symbol = "callback:stream", .name = "stream callback", .streams = default_stream::none,
             .kind = event_kind::callback_stream, .stream = "stream", .object = "user data", .size = "status", .extra = "function"},
    abi_info{.symbol = "graph_body", .name = "conditional body graph", .streams = default_stream::none,
             .kind = event_kind::graph_body, .object = "body graph", .other = "graph", .extra = "node"},
    abi_info{.symbol = "graph_node_child", .name = "child graph node", .streams = default_stream::none,
             .kind = event_kind::graph_add_child, .object = "node", .other = "graph", .extra = "child graph"},
    abi_info{.symbol = "graph_node_memory_alloc", .name = "memory allocation node", .streams = default_stream::none,
             .kind = event_kind::graph_add_memory_alloc, .object = "node", .other = "graph", .size = "bytes", .extra = "pointer"},
    abi_info{.symbol = "graph_node_memory_free", .name = "memory free node", .streams = default_stream::none,
             .kind = event_kind::graph_add_memory_free, .object = "node", .other = "graph", .extra = "pointer"},
    abi_info{.symbol = "batch_copy", .name = "copy of a batch", .streams = default_stream::legacy,
             .kind = event_kind::copy, .stream = "stream", .object = "destination", .other = "source", .size = "bytes"},
    abi_info{.symbol = "batch_prefetch", .name = "prefetch of a batch", .streams = default_stream::legacy,
             .kind = event_kind::prefetch, .stream = "stream", .object = "pointer", .size = "bytes"},
    abi_info{.symbol = "annotation:recipe", .name = "recipe", .streams = default_stream::none,
             .kind = event_kind::annotation_recipe, .stream = "stream", .object = "pointer", .other = "context", .extra = "ordering"},
    abi_info{.symbol = "annotation:enqueue", .name = "enqueue", .streams = default_stream::none,
             .kind = event_kind::annotation_enqueue, .object = "queue", .other = "item"},
    abi_info{.symbol = "annotation:schedule", .name = "schedule", .streams = default_stream::none,
             .kind = event_kind::annotation_schedule, .object = "queue"},
    abi_info{.symbol = "annotation:schedule_result", .name = "schedule result", .streams = default_stream::none,
             .kind = event_kind::annotation_schedule_result, .object = "queue", .size = "accepted"},
    abi_info{.symbol = "annotation:drain_begin", .name = "drain begin", .streams = default_stream::none,
             .kind = event_kind::annotation_drain_begin, .object = "queue"},
    abi_info{.symbol = "annotation:clean", .name = "clean", .streams = default_stream::none,
             .kind = event_kind::annotation_clean, .object = "queue", .other = "item"},
    abi_info{.symbol = "annotation:drain_end", .name = "drain end", .streams = default_stream::none,
             .kind = event_kind::annotation_drain_end, .object = "queue", .size = "items"},
    abi_info{.symbol = "annotation:decline", .name = "decline", .streams = default_stream::none,
             .kind = event_kind::annotation_decline, .object = "queue"},
    abi_info{.symbol = "annotation:stop", .name = "stop", .streams = default_stream::none,
             .kind = event_kind::annotation_stop, .object = "queue"},
    abi_info{.symbol = "annotation:intended_leak", .name = "intended leak", .streams = default_stream::none,
             .kind = event_kind::annotation_intended_leak, .object = "resource"},
    abi_info{.symbol = "annotation:adopt", .name = "adopt", .streams = default_stream::none,
             .kind = event_kind::annotation_adopt, .stream = "stream", .object = "pointer", .other = "context"},
    abi_info{.symbol = "annotation:owner_begin", .name = "owner begin", .streams = default_stream::none,
             .kind = event_kind::annotation_owner_begin, .object = "owner"},
    abi_info{.symbol = "annotation:owner_end", .name = "owner end", .streams = default_stream::none,
             .kind = event_kind::annotation_owner_end, .object = "owner"},
    abi_info{.symbol = "python:add_pending_call", .name = "Py_AddPendingCall", .streams = default_stream::none,
             .kind = event_kind::pending_call_attempt, .object = "attempt", .other = "argument", .size = "accepted", .extra = "function"},
    abi_info{.symbol = "python:pending_call", .name = "pending call", .streams = default_stream::none,
             .kind = event_kind::pending_call_run, .object = "attempt", .other = "argument", .size = "result", .extra = "function"},
};
// clang-format on
static_assert(abi_table.size() == static_cast<std::size_t>(abi::count));

constexpr abi_info const& info(abi id) {
    return abi_table[static_cast<std::size_t>(id)];
}

// Changes whenever a symbol's number or meaning does: a spool names the table it was written with.
constexpr std::uint64_t table_hash() {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    auto const add = [&hash](std::string_view text) {
        for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        hash = (hash ^ 0xff) * 0x100000001b3;
    };
    for (auto const& entry : abi_table) {
        for (auto const text : {entry.symbol, lastref::info(entry.kind).name, entry.stream, entry.object, entry.other,
                                entry.size, entry.extra})
            add(text);
    }
    return hash;
}

}  // namespace lastref::hooks
