#include "analyzer/model/registry.h"

#include <utility>

namespace lastref::model {
namespace {

template <class Map>
auto* find_in(Map& map, store::handle handle) {
    auto const found = map.find(handle);
    return found == map.end() ? nullptr : &found->second;
}

}  // namespace

object* registry::find(handle_space s, store::handle handle) {
    return const_cast<object*>(std::as_const(*this).find(s, handle));
}

registry::by_address* registry::ordered(handle_space s) {
    switch (s) {
        case handle_space::device_pointer:
            return &device_pointers_;
        case handle_space::host_pointer:
            return &pinned_;
        case handle_space::registered:
            return &registered_;
        default:
            return nullptr;
    }
}

object const* registry::find(handle_space s, store::handle handle) const {
    if (s == handle_space::none) return nullptr;
    if (auto const* map = ordered(s)) return find_in(*map, handle);
    return find_in(space(s), handle);
}

object const* registry::containing_in(by_address const& map, store::handle address) {
    auto after = map.upper_bound(address);
    if (after == map.begin()) return nullptr;
    auto const& candidate = std::prev(after)->second;
    return address - candidate.handle < candidate.bytes ? &candidate : nullptr;
}

object const* registry::containing_on_host(store::handle address) const {
    auto const* pinned = containing_in(pinned_, address);
    return pinned != nullptr ? pinned : containing_in(registered_, address);
}

object& registry::insert(object made) {
    auto const s = space_of(made.kind);
    auto const handle = made.handle;
    if (auto* map = ordered(s)) return map->insert_or_assign(handle, std::move(made)).first->second;
    return space(s).insert_or_assign(handle, std::move(made)).first->second;
}

void registry::erase(handle_space s, store::handle handle) {
    if (auto* map = ordered(s))
        map->erase(handle);
    else if (s != handle_space::none)
        space(s).erase(handle);
}

void registry::for_each(std::function<void(object const&)> const& visit) const {
    for (auto const* map : {&device_pointers_, &pinned_, &registered_})
        for (auto const& [handle, made] : *map) visit(made);
    for (auto const& map : others_)
        for (auto const& [handle, made] : map) visit(made);
}

std::size_t registry::size() const {
    std::size_t all = device_pointers_.size() + pinned_.size() + registered_.size();
    for (auto const& map : others_) all += map.size();
    return all;
}

}  // namespace lastref::model
