// The rows of a trace as types: what schema/trace.sql says, without SQL. Times are nanoseconds since the trace began,
// handles are the driver's values. Nothing here owns anything but its strings.
#pragma once

#include "analyzer/store/strong_id.h"
#include "schema/event_kind.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lastref::store {

using process_id = strong_id<struct process_tag>;
using thread_id = strong_id<struct thread_tag>;
using context_id = strong_id<struct context_tag>;
using api_id = strong_id<struct api_tag>;
using module_id = strong_id<struct module_tag>;
using frame_id = strong_id<struct frame_tag>;
using stack_id = strong_id<struct stack_tag>;
using event_id = strong_id<struct event_tag, std::int64_t>;

using time_ns = std::int64_t;
using handle = std::uint64_t;

enum class process_end : std::uint8_t { running, clean, abrupt, exec };

struct process {
    process_id id;
    std::int64_t pid = 0;
    std::int64_t parent_pid = 0;
    std::string executable;
    std::string command_line;
    std::string stacks;  // 'off', 'create', 'all'
    std::optional<std::int64_t> driver_version;
    time_ns first_time = 0;
    std::optional<time_ns> last_time;
    process_end end = process_end::running;
    std::optional<std::int64_t> exit_status;
    std::optional<std::int64_t> exit_signal;
    bool spool_left = false;  // part of its spool is not yet in the trace
};

struct thread {
    thread_id id;
    process_id process;
    std::int64_t tid = 0;
    std::string name;
    bool main = false;
};

enum class context_kind : std::uint8_t { unknown, created, primary, green };

struct context {
    context_id id;
    process_id process;
    store::handle handle = 0;
    std::optional<std::int64_t> device;
    context_kind kind = context_kind::unknown;
};

enum class verb : std::uint8_t { other, create, destroy, retain, release, use, set, wait, query, begin, end, run };
enum class default_stream : std::uint8_t { none, legacy, per_thread };

struct api {
    api_id id;
    std::string symbol;  // cuMemFreeAsync_ptsz
    std::string name;    // cuMemFreeAsync
    store::default_stream default_stream = default_stream::none;
    // event_kind::count for a kind that this build does not know: newer collectors may add some.
    event_kind kind = event_kind::count;
    store::verb verb = verb::other;
};

struct module {
    module_id id;
    process_id process;
    std::string path;
    std::string build_id;  // hexadecimal, empty where there is none
    std::uint64_t load_bias = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

struct frame {
    frame_id id;
    std::uint64_t address = 0;  // return address: the call is the instruction before it
    module_id module;           // none where no loaded object covers it, and for Python
    // A frame of Python: `address` is a number, and it has no module.
    bool python = false;
    std::string function;  // empty where the trace does not have its name
    std::string file;
    int line = 0;  // 0 where unknown
};

struct stack {
    bool cut = false;
    std::vector<frame> frames;  // innermost first
};

enum class phase_step : std::uint8_t {
    other,
    driver_found,
    driver_initialized,
    exit_begin,
    driver_torn_down,
    end,
    exec,
    python_initialized,
    python_finalizing,
    python_finalized
};

struct phase {
    process_id process;
    time_ns at = 0;
    phase_step what = phase_step::other;
    event_id event;  // greatest event written before it
};

// A named part of a process's run, such as a test. The events that fall into it are those behind `before` up to `last`.
struct range {
    process_id process;
    std::string name;
    time_ns begin = 0;
    std::optional<time_ns> end;  // none: it had not ended when recording ended
    event_id before;
    event_id last;  // the greatest there can be where it had not ended

    bool contains(event_id event) const { return event > before && event <= last; }
};

// A range of the program's or of NVTX's that ended on the thread that began it, but with another context current.
struct context_change {
    process_id process;
    thread_id thread;
    std::string domain;  // empty: NVTX's default one, or none
    std::string name;
    time_ns begin = 0;
    time_ns end = 0;
    event_id before;   // the range's events are those behind this one …
    event_id last;     // … up to this one
    context_id found;  // none: there was no current context
    context_id left;
};

// A range of NVTX's. The events of its thread that fall into it are those behind `before` up to `last`.
struct nvtx_range {
    process_id process;
    thread_id thread;     // that began it
    bool pushed = false;  // those of a thread and domain nest; others may end on any thread
    std::string domain;   // empty: the default one
    std::string name;     // empty where it has none
    time_ns begin = 0;
    std::optional<time_ns> end;  // none: it had not ended when recording ended
    event_id before;
    event_id last;  // the greatest there can be where it had not ended
};

// What the program called something that a handle stood for. Handles are handed out again: it is meant for what the
// handle stood for behind `event`.
enum class named_resource : std::uint8_t { other, thread, context, stream, event };
struct given_name {
    process_id process;
    named_resource what = named_resource::other;
    store::handle handle = 0;  // of a thread its tid
    std::string name;
    event_id event;  // greatest event written before it
};

struct loss {
    process_id process;  // none: of the trace as a whole
    std::string name;
    std::string text;
    std::int64_t count = 0;
};

struct unhooked {
    process_id process;
    std::string name;
    std::int64_t obtained = 0;
};

// A driver call as the trace has it and as CUPTI counted it (`record --audit`); the verdicts stand beside view `audit`.
struct audited_call {
    process_id process;
    std::string symbol;
    std::int64_t recorded = 0;
    std::int64_t cupti = 0;
    enum class verdict { same, expected, missed, extra, outside } is = verdict::same;
    std::vector<std::string> callers = {};  // paths of modules that were seen calling it past the hooks
};

struct note {
    process_id process;
    std::string text;
};

// How the recording itself stands.
enum class trace_state : std::uint8_t { recording, complete, unfinished };

inline constexpr std::int64_t not_returned = -1;

namespace event_flag {
inline constexpr std::uint8_t in_callback = 1;
inline constexpr std::uint8_t nested = 2;
inline constexpr std::uint8_t after_exit = 8;
inline constexpr std::uint8_t after_teardown = 16;
inline constexpr std::uint8_t no_duration = 64;  // only the stamp that the event sorts by was taken
}  // namespace event_flag

struct event {
    event_id id;
    time_ns begin = 0;
    std::int64_t duration = not_returned;
    std::int64_t result = not_returned;  // CUresult
    store::handle stream = 0;            // token as given
    store::handle object = 0;
    store::handle other = 0;
    std::uint64_t size = 0;
    std::uint64_t extra = 0;
    thread_id thread;
    api_id api;
    context_id context;  // current on the thread, none where there was none
    stack_id stack;
    std::uint8_t flags = 0;

    bool returned() const { return result != not_returned; }
    bool succeeded() const { return result == 0; }
    // A damaged trace may hold any two numbers: their sum wraps.
    time_ns end() const {
        auto const length = duration == not_returned ? 0 : static_cast<std::uint64_t>(duration);
        return static_cast<time_ns>(static_cast<std::uint64_t>(begin) + length);
    }
};

}  // namespace lastref::store
