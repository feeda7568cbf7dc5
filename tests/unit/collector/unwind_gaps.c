// Sorts, and compares stacks in every comparison.
#include <stdlib.h>

void unwind_check(void) __attribute__((weak));

static int by_value(void const* a, void const* b) {
    if (unwind_check) unwind_check();
    return *(int const*)a - *(int const*)b;
}

int main(void) {
    int numbers[100];
    for (int i = 0; i < 100; ++i) numbers[i] = (i * 37) % 100;
    qsort(numbers, 100, sizeof numbers[0], by_value);
    return numbers[0];
}
