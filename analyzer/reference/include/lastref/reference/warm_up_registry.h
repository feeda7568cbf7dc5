// Everything that is loaded at first use, loaded before it is needed.
//
// Rule        Under lazy loading (the default) the first launch of a kernel loads its module, which allocates and may
// synchronize.
//             Every kernel registers itself; warm_up() touches each once. No environment variable of the process is
//             changed.
// Without it  The first launches stall, and a capture can be broken by a load. lastref: late-module-load.
#pragma once

#include <atomic>
#include <cstddef>

#include "lastref/reference/driver.h"

namespace lastref::reference {

// Ownership   Entries have static storage and are linked, not copied: registering allocates nothing and works in any
// order of
//             static initialization.
// Threads     Registering: any. warm_up: any; entries registered meanwhile (a library loaded later) are for the next
// call.
class warm_up_registry {
  public:
    class entry {
      public:
        // `load` makes the driver load what the entry stands for, say by cuFuncGetAttribute or cudaFuncGetAttributes,
        // in the current context, and returns the driver's result.
        entry(warm_up_registry& registry, char const* name, status (*load)() noexcept) noexcept
            : name_(name), load_(load) {
            next_ = registry.newest_.load(std::memory_order_relaxed);
            while (!registry.newest_.compare_exchange_weak(next_, this,
                                                           std::memory_order_release,  // pairs with warm_up
                                                           std::memory_order_relaxed)) {
            }
        }
        entry(entry const&) = delete;
        entry& operator=(entry const&) = delete;

      private:
        friend class warm_up_registry;
        char const* name_;
        status (*load_)() noexcept;
        entry* next_;
    };

    struct outcome {
        std::size_t loaded = 0;
        status first_failure = status::success;
        char const* failed = nullptr;  // name of the entry that failed first
    };

    constexpr warm_up_registry() noexcept = default;

    // Loads every entry; one that fails does not keep the others from being loaded.
    outcome warm_up() const noexcept {
        outcome seen;
        for (auto const* at = newest_.load(std::memory_order_acquire); at; at = at->next_) {
            auto const result = at->load_();
            if (result == status::success) {
                ++seen.loaded;
            } else if (!seen.failed) {
                seen.first_failure = result;
                seen.failed = at->name_;
            }
        }
        return seen;
    }

  private:
    std::atomic<entry*> newest_{nullptr};
};

}  // namespace lastref::reference
