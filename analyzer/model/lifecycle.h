// What an event of a kind does to the object that it names: the part of the model that is a table.
#pragma once

#include "analyzer/model/object.h"

namespace lastref::model {

enum class step : std::uint8_t {
    none,     // nothing that the model follows
    create,   // `object` is new
    destroy,  // `object` goes
    use,      // `object` (and `other`) are addresses in device memory
    look,     // `object` is looked up, nothing changes
    special,  // process_state knows
};

struct lifecycle {
    step action = step::none;
    object_kind made = object_kind::count;    // create
    handle_space space = handle_space::none;  // destroy, look
};

lifecycle const& lifecycle_of(event_kind kind);

}  // namespace lastref::model
