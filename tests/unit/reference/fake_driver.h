// A driver of our own for tests of what is built on driver.h: it keeps the rules that matter there and writes every
// call down.
#pragma once

#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lastref/reference/cleanup_failure.h"
#include "lastref/reference/driver.h"

namespace lastref::reference::testing {

inline context_handle context(std::uintptr_t number) {
    return reinterpret_cast<context_handle>(number << 12);
}
inline stream_handle created_stream(std::uintptr_t number) {
    return reinterpret_cast<stream_handle>(number << 16);
}
inline graph_handle graph(std::uintptr_t number) {
    return reinterpret_cast<graph_handle>(number << 20);
}

class fake_driver final : public driver {
  public:
    // --- what tests set and read ---
    null_stream null_means = null_stream::legacy;
    static inline thread_local context_handle current = nullptr;
    std::map<stream_handle, context_handle> streams;  // created ones and their contexts
    std::map<std::string, status> failures;           // call → result instead of success, until erased
    std::set<device_pointer> allocated;
    std::set<void*> pinned;
    std::vector<std::string> calls;  // those that act on streams and references, with their arguments

    struct object_state {
        void* payload;
        void (*destructor)(void*);
        unsigned references;
        std::map<graph_handle, unsigned> graphs;
    };
    std::map<user_object_handle, object_state> objects;

    void destroy_graph(graph_handle destroyed) {
        for (auto& [object, state] : objects) drop(object, std::exchange(state.graphs[destroyed], 0));
    }
    std::string take_calls() {
        std::string joined;
        for (auto const& call : std::exchange(calls, {})) joined += call + "; ";
        return joined;
    }

    // --- driver ---
    null_stream null_stream_means() const noexcept override { return null_means; }
    char const* name_of(status result) const noexcept override {
        switch (result) {
            case status::success:
                return "success";
            case status::out_of_memory:
                return "out of memory";
            case status::deinitialized:
                return "deinitialized";
            case status::invalid_context:
                return "invalid context";
            case status::not_permitted:
                return "not permitted";
        }
        return "other";
    }

    status current_context(context_handle& out) noexcept override {
        if (auto const failed = failure("current_context"); failed != status::success) return failed;
        out = current;
        return status::success;
    }
    status set_current_context(context_handle wanted) noexcept override {
        if (auto const failed = failure("set_current_context"); failed != status::success) return failed;
        note("current", wanted);
        current = wanted;
        return status::success;
    }
    status context_of(stream_handle created, context_handle& out) noexcept override {
        auto const found = streams.find(created);
        if (found == streams.end()) return status{400};
        out = found->second;
        return status::success;
    }

    status allocate_async(device_pointer& pointer, std::size_t, stream_handle stream) noexcept override {
        if (auto const refused = usable("allocate", stream); refused != status::success) return refused;
        pointer = next_pointer += 256;
        allocated.insert(pointer);
        return status::success;
    }
    status allocate_async(device_pointer& pointer, std::size_t bytes, pool_handle,
                          stream_handle stream) noexcept override {
        return allocate_async(pointer, bytes, stream);
    }
    status free_async(device_pointer pointer, stream_handle stream) noexcept override {
        if (auto const refused = usable("free", stream); refused != status::success) return refused;
        return allocated.erase(pointer) ? status::success : status{1};
    }
    status allocate_pinned(void*& pointer, std::size_t bytes) noexcept override {
        if (auto const failed = failure("allocate_pinned"); failed != status::success) return failed;
        pointer = std::malloc(bytes);
        pinned.insert(pointer);
        return status::success;
    }
    status free_pinned(void* pointer) noexcept override {
        if (auto const failed = failure("free_pinned"); failed != status::success) return failed;
        calls.push_back("free_pinned");
        pinned.erase(pointer);
        std::free(pointer);
        return status::success;
    }
    status set_words_async(device_pointer, std::uint32_t value, std::size_t, stream_handle stream) noexcept override {
        device_word = value;
        return usable("set", stream);
    }
    status copy_to_host_async(void* to, device_pointer, std::size_t bytes, stream_handle stream) noexcept override {
        std::memcpy(to, &device_word, bytes);
        return usable("copy", stream);
    }
    status create_pool(pool_handle& pool, int) noexcept override {
        if (auto const failed = failure("create_pool"); failed != status::success) return failed;
        pool = reinterpret_cast<pool_handle>(0x1000);
        return status::success;
    }

    status create_event(event_handle& event) noexcept override {
        if (auto const failed = failure("create_event"); failed != status::success) return failed;
        event = reinterpret_cast<event_handle>(next_event += 16);
        ++events;
        return status::success;
    }
    status destroy_event(event_handle) noexcept override {
        --events;
        return failure("destroy_event");
    }
    status record_event(event_handle, stream_handle stream) noexcept override { return usable("record", stream); }
    status wait_event(stream_handle stream, event_handle) noexcept override { return usable("wait", stream); }
    status synchronize_event(event_handle) noexcept override {
        calls.push_back("synchronize");
        return failure("synchronize_event");
    }

    status create_user_object(user_object_handle& object, void* payload, void (*destructor)(void*),
                              unsigned references) noexcept override {
        if (auto const failed = failure("create_user_object"); failed != status::success) return failed;
        object = reinterpret_cast<user_object_handle>(next_object += 16);
        objects[object] = {payload, destructor, references, {}};
        return status::success;
    }
    status retain_user_object(user_object_handle object, unsigned references) noexcept override {
        if (auto const failed = failure("retain_user_object"); failed != status::success) return failed;
        objects[object].references += references;
        return status::success;
    }
    status release_user_object(user_object_handle object, unsigned references) noexcept override {
        if (auto const failed = failure("release_user_object"); failed != status::success) return failed;
        drop(object, references);
        return status::success;
    }
    status graph_retain(graph_handle owner, user_object_handle object, unsigned references,
                        bool move) noexcept override {
        if (auto const failed = failure("graph_retain"); failed != status::success) return failed;
        calls.push_back("graph_retain");
        auto& state = objects[object];
        state.graphs[owner] += references;
        if (!move) state.references += references;
        return status::success;
    }
    status graph_release(graph_handle owner, user_object_handle object, unsigned references) noexcept override {
        if (auto const failed = failure("graph_release"); failed != status::success) return failed;
        calls.push_back("graph_release");
        objects[object].graphs[owner] -= references;
        drop(object, references);
        return status::success;
    }

    int events = 0;  // alive
    std::uint32_t device_word = 0;

  private:
    status failure(char const* call) const {
        auto const found = failures.find(call);
        return found == failures.end() ? status::success : found->second;
    }

    // A created stream carries its context; a token, and null, need a current one.
    status usable(std::string const& call, stream_handle stream) {
        if (auto const failed = failure(call.c_str()); failed != status::success) return failed;
        if (!streams.contains(stream) && !current) return status::invalid_context;
        note(call, stream);
        return status::success;
    }

    template <typename Handle>
    void note(std::string const& call, Handle handle) {
        auto const value = reinterpret_cast<std::uintptr_t>(handle);
        calls.push_back(call + " " +
                        std::to_string(value >= 0x10000  ? value >> 16
                                       : value >= 0x1000 ? value >> 12
                                                         : value));
    }

    void drop(user_object_handle object, unsigned references) {
        auto& state = objects[object];
        if (!references || !state.references) return;
        state.references =
            references > state.references ? ~0u / 2 : state.references - references;  // the driver's silence
        if (state.references == 0) state.destructor(state.payload);
    }

    device_pointer next_pointer = 0x7000;
    std::uintptr_t next_event = 0x100;
    std::uintptr_t next_object = 0x100;
};

// Takes the failures that clean-ups report, for the life of a test.
class failure_listener {
  public:
    failure_listener()
        : former_(set_cleanup_failure_handler([](cleanup_failure const& failure) noexcept {
              heard().push_back(std::string(failure.what) + ": " + failure.result_name);
          })) {
        heard().clear();
    }
    ~failure_listener() { set_cleanup_failure_handler(former_); }
    static std::vector<std::string>& heard() {
        static std::vector<std::string> texts;
        return texts;
    }

  private:
    cleanup_failure_handler former_;
};

}  // namespace lastref::reference::testing
