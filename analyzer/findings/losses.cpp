#include "analyzer/findings/losses.h"

#include "analyzer/findings/audit.h"

#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace lastref::findings {
namespace {

struct known_loss {
    std::string_view name;
    std::string_view text;
};

constexpr std::array known_losses{
#define LASTREF_LOSS(name, text) known_loss{#name, text},
#include "schema/loss.def"
#undef LASTREF_LOSS
};

// These cut details short; every call and callback is still there.
constexpr std::array<std::string_view, 9> cosmetic{
    "stacks_cut",           "texts_cut",           "weak_references",         "missing_entry_points",
    "nvtx_unrecorded",      "annotations_unknown", "pending_calls_unwrapped", "pending_imports_unseen",
    "python_frames_unnamed"};

bool hides_calls(std::string_view name) {
    return std::find(cosmetic.begin(), cosmetic.end(), name) == cosmetic.end();
}

loss_counter& counter_named(std::vector<loss_counter>& counters, store::loss const& row) {
    auto const found =
        std::find_if(counters.begin(), counters.end(), [&row](auto const& c) { return c.name == row.name; });
    if (found != counters.end()) return *found;
    counters.push_back({row.name, row.text, 0, hides_calls(row.name)});
    return counters.back();
}

void add_end(std::vector<std::string>& reasons, store::process const& p) {
    if (p.end == store::process_end::running)
        reasons.push_back(fmt::format("{} was still running when recording ended.", process_name(p)));
    if (p.end == store::process_end::abrupt)
        reasons.push_back(
            fmt::format("{} ended without its exit handlers ({}): what it would have released is unknown.",
                        process_name(p), how_it_ended(p)));
    if (p.spool_left)
        reasons.push_back(fmt::format("Part of what {} recorded has not been read into the trace.", process_name(p)));
}

}  // namespace

std::vector<loss_counter> losses_of(store::trace const& trace) {
    std::vector<loss_counter> counters;
    for (auto const& known : known_losses)
        counters.push_back({std::string(known.name), std::string(known.text), 0, hides_calls(known.name)});
    for (auto const& row : trace.losses()) counter_named(counters, row).count += row.count;
    return counters;
}

std::vector<std::string> reasons_incomplete(store::trace const& trace, std::vector<loss_counter> const& losses,
                                            std::vector<store::process_id> const& used_driver) {
    std::vector<std::string> reasons;
    if (trace.state() == store::trace_state::recording) reasons.emplace_back("The trace is still being recorded.");
    if (trace.state() == store::trace_state::unfinished) reasons.emplace_back("Recording did not come to its end.");
    if (used_driver.empty()) reasons.emplace_back("No call of the CUDA driver was recorded.");
    for (auto const& loss : losses)
        if (loss.count != 0 && loss.hides) reasons.push_back(fmt::format("{}: {}.", counted(loss.count), loss.text));
    for (auto const id : used_driver) add_end(reasons, trace.at(id));
    if (auto const audited = sum_audit(trace); !audited.missed.empty()) reasons.push_back(audit_text(audited));
    return reasons;
}

}  // namespace lastref::findings
