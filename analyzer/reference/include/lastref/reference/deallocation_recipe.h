// What a free needs, captured while it is known: stream and context.
//
// Rule        Whatever owns stream-ordered memory captures its recipe when the memory is allocated or adopted, never
// when it is
//             freed: the thread that drops the last reference may have no current context, another one, or other
//             default streams.
// Without it  cuMemFreeAsync on a default-stream token without a current context returns CUDA_ERROR_INVALID_CONTEXT,
// and the memory
//             stays allocated. lastref: incomplete-recipe, failed-free, ptds-cross-thread-free.
//
// A null stream is resolved at capture to the token that it means in the capturing code, so that the freeing code may
// be compiled the other way.
#pragma once

#include <atomic>
#include <variant>

#include "lastref/reference/cleanup_failure.h"
#include "lastref/reference/context_scope.h"
#include "lastref/reference/driver.h"

namespace lastref::reference {

// What order a replayed free keeps.
enum class ordering {
    exact,            // that of the stream captured, whichever thread replays
    replaying_thread  // that of the per-thread default stream of the thread that replays: there is no handle for
                      // another thread's. Exact only on the capturing thread; elsewhere the program must order the free
                      // itself
};

// Ownership   A value; it does not own the stream. A created stream must outlive what is to be freed on it.
// Threads     Immutable. replay: any thread outside CUDA's callbacks.
// Errors      replay reports every result but success by report_cleanup_failure, and returns it.
template <ordering Order>
class deallocation_recipe {
  public:
    static constexpr ordering order = Order;

    deallocation_recipe(stream_handle stream, context_handle context) noexcept : stream_(stream), context_(context) {}

    stream_handle stream() const noexcept { return stream_; }
    context_handle context() const noexcept { return context_; }

    // Makes the context current if it is not, calls `free(stream)`, restores the former binding. `what` and `object`
    // are for the report of a failure.
    template <typename Free>
    status replay(driver& calls, char const* what, unsigned long long object, Free&& free) const noexcept {
        status result;
        {
            context_scope const bound(calls, context_);
            result = bound.result() == status::success ? free(stream_) : bound.result();
        }
        if (result != status::success)
            report_cleanup_failure({result, calls.name_of(result), what, object, stream_, context_});
        return result;
    }

  private:
    stream_handle stream_;
    context_handle context_;
};

using exact_recipe = deallocation_recipe<ordering::exact>;
using replaying_thread_recipe = deallocation_recipe<ordering::replaying_thread>;
// For owners that accept both; what needs order on every thread asks for an exact_recipe in its signature.
using any_recipe = std::variant<exact_recipe, replaying_thread_recipe>;

inline stream_handle resolve_null_stream(driver const& calls, stream_handle stream) noexcept {
    if (stream) return stream;
    return calls.null_stream_means() == null_stream::legacy ? legacy_stream() : per_thread_stream();
}

// Captures what a free on `stream` will need. A created stream carries its context; a token gets the calling thread's
// current one. Throws driver_error where there is none: then the memory cannot have been allocated on that token
// either.
inline any_recipe capture_recipe(driver& calls, stream_handle stream) {
    auto const resolved = resolve_null_stream(calls, stream);
    bool const is_token = resolved == legacy_stream() || resolved == per_thread_stream();
    context_handle context = nullptr;
    throw_unless_success(calls, is_token ? calls.current_context(context) : calls.context_of(resolved, context),
                         "capturing a deallocation recipe");
    if (!context) throw driver_error(calls, status::invalid_context, "capturing a deallocation recipe");
    if (resolved == per_thread_stream()) return replaying_thread_recipe(resolved, context);
    return exact_recipe(resolved, context);
}

inline ordering order_of(any_recipe const& recipe) noexcept {
    return std::holds_alternative<exact_recipe>(recipe) ? ordering::exact : ordering::replaying_thread;
}

template <typename Free>
status replay(any_recipe const& recipe, driver& calls, char const* what, unsigned long long object,
              Free&& free) noexcept {
    if (auto const* exact = std::get_if<exact_recipe>(&recipe)) return exact->replay(calls, what, object, free);
    return std::get_if<replaying_thread_recipe>(&recipe)->replay(calls, what, object, free);
}

inline stream_handle stream_of(any_recipe const& recipe) noexcept {
    return std::visit([](auto const& known) noexcept { return known.stream(); }, recipe);
}

inline context_handle context_of(any_recipe const& recipe) noexcept {
    return std::visit([](auto const& known) noexcept { return known.context(); }, recipe);
}

// Hears which recipe an owner has captured for which memory: the seam of the annotation protocol.
// Ownership   Lives as long as the process.
// Threads     Any.
class recipe_observer {
  public:
    virtual void captured(device_pointer pointer, any_recipe const& recipe) noexcept = 0;

  protected:
    ~recipe_observer() = default;
};

inline std::atomic<recipe_observer*> recipe_observer_in_use{nullptr};

inline void announce(device_pointer pointer, any_recipe const& recipe) noexcept {
    if (auto* const observer = recipe_observer_in_use.load(std::memory_order_acquire))
        observer->captured(pointer, recipe);
}

}  // namespace lastref::reference
