#include "analyzer/detectors/left_in_ranges.h"

namespace lastref::detectors {

void left_in_ranges::add(model::object const& o) {
    auto const range = ranges_.innermost(o.process, o.created.event);
    if (!range) return;
    auto& left = left_[{*range, o.created.stack, o.kind}];
    left.range = *range;
    left.stack = o.created.stack;
    left.kind = o.kind;
    ++left.count;
    left.bytes += o.bytes;
}

void left_in_ranges::on_process_end(model::process_state const& process) {
    if (!any_) return;
    process.objects().for_each([this](model::object const& o) { add(o); });
    for (auto const& o : process.displaced_user_objects()) add(o);
}

std::vector<findings::left_objects> left_in_ranges::take() const {
    std::vector<findings::left_objects> out;
    for (auto const& [key, left] : left_) out.push_back(left);
    return out;
}

}  // namespace lastref::detectors
