#include "gui/loader/object_lives.h"

#include "analyzer/model/process_state.h"

#include <algorithm>
#include <tuple>

namespace lastref::gui {
namespace {

auto key_of(object_life const& life) {
    return std::tuple(life.process, life.handle);
}

}  // namespace

std::vector<object_life> object_lives::of(store::process_id process, store::handle handle) const {
    auto const wanted = std::tuple(process, handle);
    auto const first = std::lower_bound(all_.begin(), all_.end(), wanted,
                                        [](auto const& life, auto const& key) { return key_of(life) < key; });
    auto last = first;
    while (last != all_.end() && key_of(*last) == wanted) ++last;
    return {first, last};
}

void object_lives_builder::add(model::object const& object, store::event_id gone, model::release_cause cause) {
    to_.all_.push_back({object.handle, object.created.event, gone, object.bytes, object.process, object.kind, cause});
}

void object_lives_builder::on_released(model::process_state const&, model::object const& gone, model::event const& e,
                                       model::release_cause cause) {
    add(gone, e.row.id, cause);
}

void object_lives_builder::on_process_end(model::process_state const& process) {
    auto const look = [this](model::object const& object) { add(object, {}, model::release_cause::call); };
    process.objects().for_each(look);
    for (auto const& object : process.displaced_user_objects()) look(object);
    process.graphs().for_each([&](model::graphs::part const& part) { look(part.self); });
}

// A payload whose handle was handed out again is told of twice: as displaced, and as one that nobody saw go.
void object_lives_builder::finish() {
    auto const order = [](object_life const& l) { return std::tuple(l.process, l.handle, l.created, l.kind, !l.gone); };
    auto& all = to_.all_;
    std::sort(all.begin(), all.end(), [&](auto const& a, auto const& b) { return order(a) < order(b); });
    auto const same = [](object_life const& a, object_life const& b) {
        return key_of(a) == key_of(b) && a.created == b.created && a.created && a.kind == b.kind;
    };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    all.shrink_to_fit();
}

}  // namespace lastref::gui
