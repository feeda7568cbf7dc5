#include "analyzer/detectors/captured_frees.h"

#include <iterator>
#include <optional>
#include <utility>

namespace lastref::detectors {

using k = event_kind;

void captured_frees::allocated(model::event const& e) {
    memory made;
    made.what.kind = model::object_kind::stream_ordered;
    made.what.process = e.process;
    made.what.handle = e.row.object;
    made.what.bytes = e.row.size;
    made.what.created = e.where();
    made.capture = order_.capture_of(e.stream);
    made.uses.push_back({order_.work(e), e.where(), true});
    memories_[{e.process, e.row.object}] = std::move(made);
}

captured_frees::memory* captured_frees::containing(model::event const& e, store::handle address) {
    auto const after = memories_.upper_bound({e.process, address});
    if (after == memories_.begin()) return nullptr;
    auto& [where, candidate] = *std::prev(after);
    bool const inside = where.first == e.process && address - where.second < candidate.what.bytes;
    return inside && candidate.capture == order_.capture_of(e.stream) ? &candidate : nullptr;
}

void captured_frees::used(model::event const& e, store::handle address) {
    auto* const of = containing(e, address);
    if (of == nullptr) return;
    auto const work = order_.work(e);
    std::erase_if(of->uses, [&](auto const& u) { return !u.allocation && u.work.stream == work.stream; });
    of->uses.push_back({work, e.where(), false});
}

void captured_frees::freed(model::event const& e) {
    auto const of = memories_.find({e.process, e.row.object});
    if (of == memories_.end() || of->second.capture != order_.capture_of(e.stream)) return;
    std::optional<unordered_pair> last;
    for (auto const& use : of->second.uses)
        if (!order_.before(use.work, e.stream)) {
            last = unordered_pair{of->second.what, use, e.where()};
            last->captured = true;
        }
    if (last) found_[of->second.capture].push_back(std::move(*last));
    memories_.erase(of);
}

void captured_frees::ended(model::event const& e) {
    auto const capture = order_.ended();
    std::erase_if(memories_, [capture](auto const& m) { return m.second.capture == capture; });
    auto found = found_.extract(capture);
    if (e.row.succeeded() && e.row.object != 0) waiting_.erase({e.process, e.row.object});
    if (found && e.row.succeeded()) waiting_[{e.process, e.row.object}] = std::move(found.mapped());
}

std::vector<unordered_pair> captured_frees::take(model::event const& e) {
    if (order_.ended() != 0) ended(e);
    if (!e.row.succeeded()) return {};
    if (order_.capture_of(e.stream) != 0) {
        if (e.kind() == k::memory_alloc_async) allocated(e);
        if (e.kind() == k::copy || e.kind() == k::memory_set) used(e, e.row.object);
        if (e.kind() == k::copy) used(e, e.row.other);
        if (e.kind() == k::memory_free_async) freed(e);
        return {};
    }
    if (waiting_.empty()) return {};
    // Who edits a graph may have added the edge; which graph a node is of is not known.
    if (e.kind() == k::graph_edit || e.kind() == k::graph_destroy) waiting_.erase({e.process, e.row.object});
    if (e.kind() == k::graph_node_set || e.kind() == k::graph_destroy_node)
        std::erase_if(waiting_, [&e](auto const& w) { return w.first.first == e.process; });
    if (e.kind() != k::graph_instantiate) return {};
    auto const graph = waiting_.extract({e.process, e.row.other});
    return graph ? std::move(graph.mapped()) : std::vector<unordered_pair>{};
}

}  // namespace lastref::detectors
