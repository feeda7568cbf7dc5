// What the rules on refused releases share.
#pragma once

#include "analyzer/model/process_state.h"

namespace lastref::detectors {

namespace cuda_result {
inline constexpr std::int64_t invalid_value = 1;
inline constexpr std::int64_t deinitialized = 4;
inline constexpr std::int64_t invalid_context = 201;
inline constexpr std::int64_t invalid_handle = 400;
inline constexpr std::int64_t not_permitted = 800;
}  // namespace cuda_result

// A free, destroy, release or unregister of something that the driver refused; not because it had shut down.
bool is_refused_release(model::event const& e);

// Where the handles live that a release of this kind names.
model::handle_space space_released_by(event_kind kind);

// The context is lost: every later call on it answers the same.
bool is_sticky(std::int64_t result);

// A stream capture forbids the call, or was broken.
inline bool is_about_capture(std::int64_t result) {
    return result >= 900 && result <= 908;
}

// Refused since it was made inside a callback of the driver.
inline bool is_refused_in_callback(store::event const& row) {
    return row.result == cuda_result::not_permitted && (row.flags & store::event_flag::in_callback) != 0;
}

// Names what was released before, or was never made.
bool is_double_free(model::process_state const& process, model::event const& e);

}  // namespace lastref::detectors
