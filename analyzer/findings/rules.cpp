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
