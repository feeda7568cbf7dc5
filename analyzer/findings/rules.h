// The rules by name: the same name in code, report, docs page, fixture and golden.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lastref::findings {

enum class rule : std::uint8_t {
    user_object_leak,
    user_object_over_release,
    failed_free,
    double_free,
    ptds_cross_thread_free,
    unordered_free,
    pinned_free_in_flight,
    cuda_call_in_callback,
    capture_interference,
    shutdown_release,
    allocation_leak,
    handle_leak,
    graph_exec_growth,
    incomplete_recipe,
    ptds_graph_attach,
    stale_graph_reference,
    graph_allocation_leak,
    pool_retention,
    slow_callback,
    deferred_backlog,
    ipc_order,
    first_error,
    steady_state_allocation,
    late_module_load,
    queue_contract,
    context_not_restored,
    count
};

struct rule_info {
    std::string_view name;
    std::string_view summary;  // one sentence
};

rule_info const& info(rule r);
std::optional<rule> rule_named(std::string_view name);
std::string rule_names();  // "a, b and c", for messages

enum class severity : std::uint8_t { note, warning, error };
enum class confidence : std::uint8_t { possible, likely, proven };

std::string_view name_of(severity s);
std::string_view name_of(confidence c);

}  // namespace lastref::findings
