// Handles as the driver gives them out: opaque values that are given out again as soon as the object is gone, last
// freed first. A stale handle is found out unless its value has been recycled, and never points into live memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace lastref::simdriver {

// All kinds of handles together use addresses that no mapping of a process has.
inline std::uintptr_t next_handle_range() {
    static std::uintptr_t next = 0x0c0000000000;
    return next += 0x000100000000;
}

template <class Handle, class Object>
class handle_table {
  public:
    using pointer = std::shared_ptr<Object>;

    // Stores the object and writes its handle into `handle` of the object.
    Handle add(pointer object) {
        std::size_t index = slots_.size();
        if (free_.empty()) {
            slots_.emplace_back();
        } else {
            index = free_.back();
            free_.pop_back();
        }
        object->handle = to_handle(index);
        slots_[index] = std::move(object);
        return to_handle(index);
    }

    // Null for a handle that names nothing.
    pointer find(Handle handle) const {
        std::size_t const index = to_index(handle);
        return index < slots_.size() ? slots_[index] : nullptr;
    }

    // Takes the object out; its handle value is the next to be given out.
    pointer remove(Handle handle) {
        std::size_t const index = to_index(handle);
        if (index >= slots_.size() || !slots_[index]) return nullptr;
        free_.push_back(index);
        return std::exchange(slots_[index], nullptr);
    }

    std::size_t size() const { return slots_.size() - free_.size(); }

    template <class Visit>
    void for_each(Visit visit) const {
        for (auto const& object : slots_)
            if (object) visit(object);
    }

  private:
    static constexpr std::uintptr_t step = 0x40;

    Handle to_handle(std::size_t index) const { return (Handle)(base_ + index * step); }
    std::size_t to_index(Handle handle) const {
        auto const value = (std::uintptr_t)handle;
        return value < base_ || (value - base_) % step ? SIZE_MAX : (value - base_) / step;
    }

    std::uintptr_t base_ = next_handle_range();
    std::vector<pointer> slots_;
    std::vector<std::size_t> free_;
};

}  // namespace lastref::simdriver
