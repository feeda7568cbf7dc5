// Device memory that carries its own deallocation recipe.
//
// Rule        deallocation_recipe.h: the recipe is captured when the buffer is made, by whichever way it is made.
// Without it  The destructor chooses a stream. lastref: incomplete-recipe, failed-free, unordered-free.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "lastref/reference/deallocation_recipe.h"
#include "lastref/reference/driver.h"
#include "lastref/reference/workspace_fence.h"

namespace lastref::reference {

// Ownership   Owns the memory; moved, not copied.
// Threads     One at a time; may be destroyed on any thread outside CUDA's callbacks (let a deferred_cleanup_queue
// carry it out of one). Errors      Making one throws driver_error, and an adopted pointer stays the caller's then.
// free() returns the status and keeps
//             the memory if it failed, so that it can be tried again; the destructor reports a failure.
class stream_ordered_buffer {
  public:
    static stream_ordered_buffer allocate(driver& calls, std::size_t bytes, stream_handle stream) {
        auto const recipe = capture_recipe(calls, stream);
        device_pointer pointer = 0;
        throw_unless_success(calls, calls.allocate_async(pointer, bytes, stream_of(recipe)), "allocating a buffer");
        return {calls, pointer, bytes, recipe};
    }

    static stream_ordered_buffer allocate(driver& calls, std::size_t bytes, pool_handle pool, stream_handle stream) {
        auto const recipe = capture_recipe(calls, stream);
        device_pointer pointer = 0;
        throw_unless_success(calls, calls.allocate_async(pointer, bytes, pool, stream_of(recipe)),
                             "allocating a buffer");
        return {calls, pointer, bytes, recipe};
    }

    // Memory from elsewhere (another library, an import). There is no default for the stream on purpose: only the
    // caller knows what the free must come after.
    static stream_ordered_buffer adopt(driver& calls, device_pointer pointer, std::size_t bytes, stream_handle stream) {
        return {calls, pointer, bytes, capture_recipe(calls, stream)};
    }

    stream_ordered_buffer(stream_ordered_buffer&& other) noexcept
        : driver_(other.driver_),
          pointer_(std::exchange(other.pointer_, 0)),
          bytes_(std::exchange(other.bytes_, 0)),
          recipe_(other.recipe_) {}
    stream_ordered_buffer& operator=(stream_ordered_buffer&& other) noexcept {
        if (this == &other) return *this;
        free();
        driver_ = other.driver_;
        pointer_ = std::exchange(other.pointer_, 0);
        bytes_ = std::exchange(other.bytes_, 0);
        recipe_ = other.recipe_;
        return *this;
    }
    ~stream_ordered_buffer() { free(); }

    device_pointer pointer() const noexcept { return pointer_; }
    std::size_t bytes() const noexcept { return bytes_; }
    any_recipe const& recipe() const noexcept { return recipe_; }

    status free() noexcept {
        if (!pointer_) return status::success;
        auto const result = replay(recipe_, *driver_, "free_async", pointer_,
                                   [this](stream_handle stream) { return driver_->free_async(pointer_, stream); });
        if (result == status::success) pointer_ = 0;
        return result;
    }

    // Moves the buffer to `stream`: what is given to it from now on runs after what the former stream had, and the
    // memory is freed there. Each stream is used in its own context.
    void move_to(stream_handle stream) {
        auto const recipe = capture_recipe(*driver_, stream);
        workspace_fence fence(*driver_);
        {
            context_scope const former(*driver_, context_of(recipe_));
            fence.end_use(stream_of(recipe_));
        }
        context_scope const next(*driver_, context_of(recipe));
        fence.begin_use(stream_of(recipe));
        recipe_ = recipe;
        announce(pointer_, recipe_);
    }

    // Gives the memory up without freeing it.
    device_pointer release() noexcept { return std::exchange(pointer_, 0); }

  private:
    stream_ordered_buffer(driver& calls, device_pointer pointer, std::size_t bytes, any_recipe recipe) noexcept
        : driver_(&calls), pointer_(pointer), bytes_(bytes), recipe_(recipe) {
        announce(pointer, recipe);
    }

    driver* driver_;
    device_pointer pointer_;
    std::size_t bytes_;
    any_recipe recipe_;
};

}  // namespace lastref::reference
