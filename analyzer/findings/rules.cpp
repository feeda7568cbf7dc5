#include "analyzer/findings/rules.h"

namespace lastref::findings {
namespace {

constexpr std::array<rule_info, static_cast<std::size_t>(rule::count)> rules{{
    {"user-object-leak", "References of a user object are left at the end, so that its destructor never runs."},
    {"user-object-over-release",
     "More references of a user object were released than were held; the driver reports success."},
    {"failed-free", "A free, destroy or unregister was refused and never made good."},
    {"double-free", "Something was freed twice, or was never made."},
    {"ptds-cross-thread-free",
     "Memory of one thread's default stream was freed on another thread's, with no order between them."},
    {"unordered-free", "Memory was freed with no order after its allocation or its last visible use."},
    {"pinned-free-in-flight", "Pinned or registered host memory was freed while copies on it may still run."},
    {"cuda-call-in-callback", "The driver was called inside a destructor, host function or stream callback."},
    {"capture-interference", "A stream capture was broken by a call of its own thread or of another."},
    {"shutdown-release", "Something was released after main returned or after the driver had shut down."},
    {"allocation-leak", "Memory was still allocated when the process ended."},
    {"handle-leak", "A graph, stream, event, context, module, library or pool was never destroyed."},
    {"graph-exec-growth", "Executable graphs of one place only grow in number."},
    {"incomplete-recipe", "A free depended on the context that happened to be current."},
    {"ptds-graph-attach",
     "Memory of a per-thread default stream was given to a graph, whose release cannot keep that stream's order."},
    {"stale-graph-reference", "A graph was launched that names memory or a payload that was gone."},
    {"graph-allocation-leak", "Memory of a graph's allocation node was never freed."},
    {"pool-retention",
     "Memory is held by pools without use: destroyed in use, trimmed too early, reserved far above used."},
    {"slow-callback", "A callback held up the thread that the driver runs all callbacks on."},
    {"deferred-backlog", "Payloads waited long for the clean-up that their destructors had handed on."},
    {"ipc-order", "Memory of another process was closed or freed in a wrong order, or imported twice."},
    {"first-error", "The first call that returned an error after which a context is lost."},
    {"steady-state-allocation", "Memory was allocated from the driver after warm-up."},
    {"late-module-load", "Code was loaded after warm-up."},
    {"queue-contract", "A deferred clean-up queue lost, repeated or mistimed what it was given."},
    {"context-not-restored", "A marked range left another current context than it found."},
}};

}  // namespace

rule_info const& info(rule r) {
    return rules[static_cast<std::size_t>(r)];
}

std::optional<rule> rule_named(std::string_view name) {
    for (std::size_t i = 0; i < rules.size(); ++i)
        if (rules[i].name == name) return static_cast<rule>(i);
    return std::nullopt;
}

std::string rule_names() {
    std::string out;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (i > 0) out += i + 1 == rules.size() ? " and " : ", ";
        out += rules[i].name;
    }
    return out;
}

std::string_view name_of(severity s) {
    constexpr std::array<std::string_view, 3> names{"note", "warning", "error"};
    return names[static_cast<std::size_t>(s)];
}

std::string_view name_of(confidence c) {
    constexpr std::array<std::string_view, 3> names{"possible", "likely", "proven"};
    return names[static_cast<std::size_t>(c)];
}

}  // namespace lastref::findings
