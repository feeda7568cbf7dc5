// glibc's _dl_find_object (2.35): the loaded object at an address, without a lock and async-signal-safe. Declared here,
// since the library must also build and load where it is missing.
#pragma once

#include <link.h>

namespace lastref::unwind {

struct dl_find_object_result {
    unsigned long long flags;
    void* map_start;
    void* map_end;
    link_map* map;
    void* eh_frame;  // its .eh_frame_hdr (PT_GNU_EH_FRAME), or null
    unsigned long long reserved[7];
};
using dl_find_object_function = int (*)(void*, dl_find_object_result*);

}  // namespace lastref::unwind
