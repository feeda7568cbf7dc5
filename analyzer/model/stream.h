// Which stream a call meant: the token as it was given, and what that was at the time.
#pragma once

#include "analyzer/store/rows.h"

#include <cstdint>

namespace lastref::model {

using object_id = strong_id<struct object_tag, std::uint64_t>;

enum class stream_kind : std::uint8_t { none, legacy, per_thread, created };
enum class stream_token : std::uint8_t { none, null, legacy, per_thread, created };

// A per-thread default stream is local to thread and context, the legacy one to the context; a created stream has its
// own life, since its handle is recycled.
struct stream_identity {
    stream_kind kind = stream_kind::none;
    stream_token token = stream_token::none;
    store::thread_id thread;
    store::context_id context;
    object_id stream;
    store::handle handle = 0;  // of a created stream, for people

    // The same stream, however it was named.
    friend bool operator==(stream_identity const& a, stream_identity const& b) {
        return a.kind == b.kind && a.thread == b.thread && a.context == b.context && a.stream == b.stream;
    }
};

struct hash_stream {
    std::size_t operator()(stream_identity const& s) const noexcept {
        auto const mixed = (std::uint64_t{s.thread.value} << 32 | s.context.value) ^ (s.stream.value << 8);
        return std::hash<std::uint64_t>{}((mixed ^ static_cast<std::uint64_t>(s.kind)) * 0x9e3779b97f4a7c15u);
    }
};

}  // namespace lastref::model
