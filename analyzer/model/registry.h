// The live objects of one process by handle, graphs apart (graphs.h).
#pragma once

#include "analyzer/model/object.h"

#include <array>
#include <functional>
#include <map>
#include <unordered_map>

namespace lastref::model {

class registry {
  public:
    object* find(handle_space space, store::handle handle);
    object const* find(handle_space space, store::handle handle) const;

    // The device memory that `address` points into, or null.
    object const* containing(store::handle address) const { return containing_in(device_pointers_, address); }

    // The same for pinned and for registered host memory.
    object const* containing_on_host(store::handle address) const;

    // References stay valid until the object is erased. The handle must be free in its space.
    object& insert(object made);
    void erase(handle_space space, store::handle handle);

    void for_each(std::function<void(object const&)> const& visit) const;
    std::size_t size() const;

  private:
    static constexpr auto spaces = static_cast<std::size_t>(handle_space::none);
    using by_handle = std::unordered_map<store::handle, object>;
    by_handle& space(handle_space s) { return others_[static_cast<std::size_t>(s)]; }
    by_handle const& space(handle_space s) const { return others_[static_cast<std::size_t>(s)]; }

    using by_address = std::map<store::handle, object>;  // ordered: uses name addresses inside

    static object const* containing_in(by_address const& map, store::handle address);
    by_address* ordered(handle_space s);
    by_address const* ordered(handle_space s) const { return const_cast<registry*>(this)->ordered(s); }

    by_address device_pointers_;
    by_address pinned_;
    by_address registered_;
    std::array<by_handle, spaces> others_;
};

}  // namespace lastref::model
