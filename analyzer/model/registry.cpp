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

object const* registry::find(handle_space s, store::handle handle) const {
    if (s == handle_space::none) return nullptr;
    if (s == handle_space::device_pointer) return find_in(device_pointers_, handle);
    return find_in(space(s), handle);
}

object const* registry::containing(store::handle address) const {
    auto after = device_pointers_.upper_bound(address);
    if (after == device_pointers_.begin()) return nullptr;
    auto const& candidate = std::prev(after)->second;
    return address - candidate.handle < candidate.bytes ? &candidate : nullptr;
}

object& registry::insert(object made) {
    auto const s = space_of(made.kind);
    auto const handle = made.handle;
    if (s == handle_space::device_pointer)
        return device_pointers_.insert_or_assign(handle, std::move(made)).first->second;
    return space(s).insert_or_assign(handle, std::move(made)).first->second;
}

void registry::erase(handle_space s, store::handle handle) {
    if (s == handle_space::device_pointer)
        device_pointers_.erase(handle);
    else if (s != handle_space::none)
        space(s).erase(handle);
}

void registry::for_each(std::function<void(object const&)> const& visit) const {
    for (auto const& [handle, made] : device_pointers_) visit(made);
    for (auto const& map : others_)
        for (auto const& [handle, made] : map) visit(made);
}

std::size_t registry::size() const {
    std::size_t all = device_pointers_.size();
    for (auto const& map : others_) all += map.size();
    return all;
}

}  // namespace lastref::model
