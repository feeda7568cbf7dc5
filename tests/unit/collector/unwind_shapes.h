// Functions of all shapes that compilers make frames for, each of which calls unwind_check(). unwind_shapes.cpp is
// compiled several times, with other options and for another SHAPES each.
#pragma once

namespace shapes {

struct shape {
    char const* name;
    void (*run)();
    int calls;  // how often it calls unwind_check()
};

struct variant {
    char const* name;
    shape const* begin;
    shape const* end;
};

variant unoptimized();
variant unoptimized_without_frame_pointer();
variant optimized();
variant optimized_with_frame_pointer();
variant small();

}  // namespace shapes
