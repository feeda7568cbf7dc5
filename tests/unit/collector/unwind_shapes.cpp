#include "tests/unit/collector/unwind_shapes.h"

#include <alloca.h>
#include <search.h>

#include <csetjmp>
#include <cstddef>

extern "C" void unwind_check();

namespace shapes {
namespace {

#define SEPARATE [[gnu::noinline, gnu::noclone]]

int volatile seven = 7;

void use(void* pointer) {
    asm volatile("" : : "r"(pointer) : "memory");
}

SEPARATE int leaf(int a) {
    unwind_check();
    return a + 1;
}
SEPARATE int middle(int a, int b) {
    return leaf(a) * b;
}
SEPARATE void plain() {
    seven = middle(seven, seven) + 1 == 0 ? 0 : 7;
}

SEPARATE int keeps_many(int a, int b, int c, int d, int e, int f) {
    int const before = a * b + c;
    unwind_check();
    int const between = before ^ (d * e);
    unwind_check();
    return a + b + c + d + e + f + between;
}
SEPARATE void many_registers() {
    int result = keeps_many(seven, 2, seven, 4, seven, 6);
    use(&result);
}

SEPARATE int takes_ten(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) {
    unwind_check();
    return a + b + c + d + e + f + g + h + i + j;
}
SEPARATE void arguments_on_stack() {
    int sum = takes_ten(1, 2, 3, 4, 5, 6, seven, 8, 9, seven);
    use(&sum);
}

SEPARATE void variable_size() {
    for (int i = 1; i < 4; ++i) {
        use(alloca(static_cast<unsigned>(seven * i * 100)));
        unwind_check();
    }
}

SEPARATE void realigned() {
    alignas(64) char buffer[128];
    use(buffer);
    unwind_check();
    use(buffer);
}

// Needs a register of its own for the arguments: the CFA is loaded from the frame.
SEPARATE int realigned_with_arguments(int a, int, int, int, int, int, int g, int h) {
    alignas(128) char buffer[256];
    use(buffer);
    use(alloca(static_cast<unsigned>(seven * g)));
    unwind_check();
    use(buffer);
    return a + g + h;
}
SEPARATE void realigned_and_variable() {
    int sum = realigned_with_arguments(1, 2, 3, 4, 5, 6, seven, seven);
    use(&sum);
}

SEPARATE void large() {
    char buffer[3 << 20];
    use(buffer);
    unwind_check();
    use(buffer);
}

// The return address lies behind the function's last instruction: in the next function or in none.
std::jmp_buf way_out;
[[noreturn]] SEPARATE void leaves() {
    unwind_check();
    std::longjmp(way_out, 1);
}
[[noreturn]] SEPARATE void ends_with_a_call() {
    leaves();
}
SEPARATE void no_return() {
    if (setjmp(way_out) == 0) ends_with_a_call();
}

SEPARATE void jumps_on() {
    return unwind_check();
}
SEPARATE void tail_call() {
    jumps_on();
    asm volatile("" ::: "memory");
}

struct checks_at_end {
    ~checks_at_end() { unwind_check(); }
};
SEPARATE void throws(int what) {
    checks_at_end guard;
    if (what == 7) throw what;
    use(&guard);
}
SEPARATE void exceptions() {
    try {
        checks_at_end guard;
        throws(seven);
        use(&guard);
    } catch (int caught) {
        use(&caught);
        unwind_check();
    }
}

SEPARATE int early_returns(int a) {
    if (a == 1) return 1;
    char buffer[40];
    use(buffer);
    if (a == 2) return buffer[0];
    unwind_check();
    if (a == 3) return buffer[1];
    use(alloca(static_cast<unsigned>(a)));
    unwind_check();
    return buffer[2];
}
SEPARATE void several_ends() {
    for (int a = 1; a < 5; ++a) early_returns(a);
}

int compares(void const*, void const*) {
    unwind_check();
    return 0;
}
// Not qsort: a sanitizer's own goes through the elements once more.
SEPARATE void through_the_library() {
    int numbers[1] = {seven};
    std::size_t count = 1;
    use(lfind(numbers, numbers, &count, sizeof numbers[0], compares));
}

SEPARATE int descends(int levels) {
    if (levels == 0) {
        unwind_check();
        return 0;
    }
    int below = descends(levels - 1);
    use(&below);
    return below + 1;
}
// Around the limit of frames, where it matters whether there is one more.
SEPARATE void deep() {
    for (int levels = 30; levels < 70; ++levels) descends(levels);
    descends(5000);
}

constexpr shape all[] = {
    {"plain", plain, 1},
    {"many registers", many_registers, 2},
    {"arguments on the stack", arguments_on_stack, 1},
    {"variable size", variable_size, 3},
    {"realigned", realigned, 1},
    {"realigned and variable", realigned_and_variable, 1},
    {"large", large, 1},
    {"no return", no_return, 1},
    {"tail call", tail_call, 1},
    {"exceptions", exceptions, 3},
    {"several ends", several_ends, 3},
    {"through the library", through_the_library, 1},
    {"deep", deep, 41},
};

}  // namespace

variant SHAPES() {
    return {SHAPES_NAME, all, all + sizeof all / sizeof all[0]};
}

}  // namespace shapes
