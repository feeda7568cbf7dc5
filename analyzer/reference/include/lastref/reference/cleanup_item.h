// What waits in a deferred_cleanup_queue: a clean-up, allocated before CUDA hears of it.
//
// Ownership   An item belongs to whoever will run its clean-up: first to a cleanup_ticket, then (once the driver has
// taken the
//             user object) to CUDA, then to the queue, which runs the clean-up exactly once. The clean-up ends the
//             item's life.
// Threads     An item is used by one thread at a time; the queue hands it from the producer to the consumer.
// Errors      A clean-up is noexcept: a drain may not be left half way. Making an item throws std::bad_alloc, on the
//             caller's thread and before CUDA has seen anything.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace lastref::reference {

// The lowest three bits of an item's address are the queue's flags, hence the alignment.
class alignas(8) cleanup_item {
  public:
    // Cleans the payload up and ends the item's life.
    using cleanup_function = void (*)(cleanup_item*) noexcept;

    explicit cleanup_item(cleanup_function cleanup) noexcept : cleanup_(cleanup) {}
    cleanup_item(cleanup_item const&) = delete;
    cleanup_item& operator=(cleanup_item const&) = delete;

    // Runs the clean-up; the item is gone afterwards. For the queue, and for the path where CUDA never took the item.
    void clean_up() noexcept { cleanup_(this); }

  protected:
    ~cleanup_item() = default;

  private:
    friend class deferred_cleanup_queue;
    cleanup_function cleanup_;
    cleanup_item* next_ = nullptr;  // the queue's, while the item is in it
};

// An item that owns a payload: cleaning up means destroying the payload.
template <typename Payload>
class owning_cleanup_item final : public cleanup_item {
  public:
    explicit owning_cleanup_item(Payload payload) noexcept(std::is_nothrow_move_constructible_v<Payload>)
        : cleanup_item(&destroy), payload_(std::move(payload)) {}

    Payload& payload() noexcept { return payload_; }

  private:
    static_assert(std::is_nothrow_destructible_v<Payload>, "a clean-up must not throw");
    static void destroy(cleanup_item* item) noexcept { delete static_cast<owning_cleanup_item*>(item); }
    Payload payload_;
};

struct run_clean_up {
    void operator()(cleanup_item* item) const noexcept { item->clean_up(); }
};

// Owns an item that CUDA has not taken yet: destroyed, it cleans up at once; after a successful cuUserObjectCreate it
// is release()d. So each payload takes one of two paths that exclude each other, and no "already cleaned" flag is
// needed.
using cleanup_ticket = std::unique_ptr<cleanup_item, run_clean_up>;

template <typename Payload>
cleanup_ticket make_cleanup_ticket(Payload payload) {
    return cleanup_ticket(new owning_cleanup_item<Payload>(std::move(payload)));
}

}  // namespace lastref::reference
