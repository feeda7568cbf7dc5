// An object that is made once and never destroyed, so that a callback which comes late still finds it.
//
// A static object would be destroyed by an exit handler, a heap object would need someone who frees it; the driver's
// internal threads run through both.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <new>
#include <utility>

#include "lastref/reference/deferred_cleanup_queue.h"

namespace lastref::reference {

// Declare as `constinit` with static storage: usable before any constructor has run and after every destructor has.
// Ownership   Owns the object for ever.
// Threads     emplace: once, by one thread. get: any thread; null before the object is published.
template <typename Object>
class process_lifetime {
  public:
    constexpr process_lifetime() noexcept = default;
    process_lifetime(process_lifetime const&) = delete;
    process_lifetime& operator=(process_lifetime const&) = delete;

    template <typename... Arguments>
    Object& emplace(Arguments&&... arguments) {
        assert(!get() && "published once");
        auto* const object = ::new (static_cast<void*>(storage_)) Object(std::forward<Arguments>(arguments)...);
        published_.store(object, std::memory_order_release);  // pairs with get()
        return *object;
    }

    Object* get() const noexcept { return published_.load(std::memory_order_acquire); }  // pairs with emplace()

  private:
    alignas(Object) std::byte storage_[sizeof(Object)]{};
    std::atomic<Object*> published_{nullptr};
};

// The destructor to give to cuUserObjectCreate, with the item as its argument: a plain function, no state of its own.
//     constinit process_lifetime<deferred_cleanup_queue> cleanups;
//     cuUserObjectCreate(&object, item, &enqueue_cleanup<cleanups>, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
// The queue must have been published before.
template <process_lifetime<deferred_cleanup_queue>& Queue>
void enqueue_cleanup(void* item) noexcept {
    Queue.get()->enqueue(static_cast<cleanup_item*>(item));
}

}  // namespace lastref::reference
