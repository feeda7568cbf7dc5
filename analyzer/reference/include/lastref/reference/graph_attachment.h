// What a graph's nodes use, kept alive by the graph.
//
// Rule        The owners of everything that one version of a graph's parameters names go into one immutable bundle,
// which the graph
//             holds by one reference. New parameters are a new bundle: it is attached before the old one is let go.
//             Clones and executable graphs keep the bundle that they were made with until they are updated or
//             destroyed.
// Without it  A launch of an older clone or executable graph reads what an update has freed. lastref:
// stale-graph-reference; for the
//             warning: ptds-graph-attach.
#pragma once

#include <atomic>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "lastref/reference/stream_ordered_buffer.h"
#include "lastref/reference/user_object.h"

namespace lastref::reference {

// Called once for each process, with the first buffer whose deferred free will not keep its order. Replace it to log
// elsewhere.
inline std::atomic<void (*)(char const*) noexcept> attachment_warning{
    [](char const* text) noexcept { std::fprintf(stderr, "%s\n", text); }};

// Ownership   Owns what was put in; immutable once attached. Destroyed by the queue's drain, in reverse order of
// insertion. Threads     One at a time.
class attachment_bundle {
  public:
    attachment_bundle() = default;
    attachment_bundle(attachment_bundle&&) noexcept = default;
    attachment_bundle& operator=(attachment_bundle&&) = delete;
    ~attachment_bundle() {
        while (!owners_.empty()) owners_.pop_back();
    }

    void keep(std::shared_ptr<void const> owner) { owners_.push_back(std::move(owner)); }

    // A buffer of a per-thread default stream is accepted, its context and token are kept, and a warning says once what
    // is lost.
    void keep(stream_ordered_buffer buffer) {
        warn_if_order_is_lost(buffer);
        owners_.push_back(std::make_shared<stream_ordered_buffer>(std::move(buffer)));
    }
    void keep(std::shared_ptr<stream_ordered_buffer> buffer) {
        warn_if_order_is_lost(*buffer);
        owners_.push_back(std::move(buffer));
    }

    std::size_t size() const noexcept { return owners_.size(); }

  private:
    static void warn_if_order_is_lost(stream_ordered_buffer const& buffer) {
        static std::atomic<bool> warned{false};
        if (order_of(buffer.recipe()) == ordering::exact || warned.exchange(true, std::memory_order_relaxed)) return;
        attachment_warning.load(std::memory_order_relaxed)(
            "a buffer of the per-thread default stream was attached to a graph: it will be freed on the default stream "
            "of "
            "the thread that cleans up, not on its own");
    }

    std::vector<std::shared_ptr<void const>> owners_;
};

// The bundle that a graph holds at present. A name, not an owner: the graph owns the reference.
// Ownership   The graph must outlive it, or it must not be used any more.
// Threads     One at a time, as for the graph.
// Errors      Throws driver_error; then the graph holds what it held before.
class graph_attachment {
  public:
    graph_attachment(driver& calls, graph_handle graph, void (*enqueue)(void*)) noexcept
        : driver_(&calls), graph_(graph), enqueue_(enqueue) {}

    // Attaches `bundle` and lets go of the one before, in this order: between the two the graph holds both.
    void replace(attachment_bundle bundle) {
        auto object = user_object::create(*driver_, make_cleanup_ticket(std::move(bundle)), enqueue_);
        object.move_to(graph_);
        auto const former = std::exchange(held_, object.handle());
        if (former) throw_unless_success(*driver_, driver_->graph_release(graph_, former, 1), "letting go of a bundle");
    }

    // Lets go of the bundle: the graph's nodes name nothing of it any more.
    void clear() {
        auto const former = std::exchange(held_, nullptr);
        if (former) throw_unless_success(*driver_, driver_->graph_release(graph_, former, 1), "letting go of a bundle");
    }

    user_object_handle held() const noexcept { return held_; }

  private:
    driver* driver_;
    graph_handle graph_;
    void (*enqueue_)(void*);
    user_object_handle held_ = nullptr;
};

}  // namespace lastref::reference
