// What reads Python frames, as a library that Python itself loads (ctypes): python_frames_test.py compares what it
// finds with what the interpreter says. Not sanitized, as the interpreter is not.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "collector/preload/python/frames.h"
#include "collector/preload/python/line_table.h"

namespace {

using namespace lastref::python;

interpreter running{};
asked_memory asked;
found_frames found;
frame_names names;

finding find() {
    auto const* object = static_cast<link_map const*>(dlopen(nullptr, RTLD_LAZY));
    for (; object != nullptr; object = object->l_next) {
        if (finding const what = find_interpreter(*object, running); what != finding::none) return what;
    }
    return finding::none;
}

// One line a frame: line, function, file, and whether it is known where it is evaluated.
int print(trust in, std::uintptr_t state, char* to, std::size_t size) {
    if (!read_frames(running, asked, in, state, found)) return -1;
    std::size_t length = 0;
    for (std::uint32_t i = 0; i < found.count; ++i) {
        if (!read_names(running, asked, in, found.at[i], names)) return -2;
        length += static_cast<std::size_t>(std::snprintf(to + length, size - length, "%d\t%.*s\t%.*s\t%lx\n",
                                                         names.line, static_cast<int>(names.function_length),
                                                         names.function, static_cast<int>(names.file_length),
                                                         names.file, static_cast<unsigned long>(found.at[i].entry)));
        if (length >= size) return -3;
    }
    return static_cast<int>(found.count);
}

}  // namespace

extern "C" {

// 0: found and proved. Else what is wrong.
__attribute__((visibility("default"))) int probe_open() {
    if (find() != finding::found) return 1;
    void* const state = running.own_state();
    if (state == nullptr) return 2;
    asked.reset(static_cast<std::uint32_t>(getpid()));
    return prove_layout(running, asked, reinterpret_cast<std::uintptr_t>(state), found, names) == proof::right ? 0 : 3;
}

// The calling thread's frames. Returns how many, or below 0 what is wrong; -10 for a thread that is not Python's.
__attribute__((visibility("default"))) int probe_frames(int how, char* to, std::size_t size) {
    void* const state = running.own_state();
    if (state == nullptr) return -10;
    asked.reset(static_cast<std::uint32_t>(getpid()));
    return print(static_cast<trust>(how), reinterpret_cast<std::uintptr_t>(state), to, size);
}

__attribute__((visibility("default"))) unsigned long probe_mark() {
    auto const state = reinterpret_cast<std::uintptr_t>(running.own_state());
    return read_frames(running, asked, trust::all, state, found) ? found.mark : 0;
}

__attribute__((visibility("default"))) int probe_attached() {
    return running.attached_state() == running.own_state() ? 1 : 0;
}

// The layout's offsets, in order, up to and including the last.
constexpr unsigned offset_count =
    (offsetof(layout, frame_size) - offsetof(layout, object_type)) / sizeof(std::uint16_t);
__attribute__((visibility("default"))) unsigned probe_offsets() {
    return offset_count;
}

// As if one offset were another: what is wrong must be seen, not crash. Returns a `proof`.
__attribute__((visibility("default"))) int probe_wrong(unsigned offset, int by) {
    asked.reset(static_cast<std::uint32_t>(getpid()));
    interpreter wrong = running;
    auto* const offsets = reinterpret_cast<std::uint16_t*>(&wrong.where.object_type);
    offsets[offset] = static_cast<std::uint16_t>(offsets[offset] + by);
    void* const state = running.own_state();
    return static_cast<int>(prove_layout(wrong, asked, reinterpret_cast<std::uintptr_t>(state), found, names));
}

__attribute__((visibility("default"))) int probe_line(int pairs, unsigned char const* table, std::size_t size,
                                                      int first_line, long offset) {
    struct {
        unsigned char const* at;
        unsigned char const* end;
        int next() { return at == end ? -1 : *at++; }
    } bytes{table, table + size};
    return pairs != 0 ? line_by_pairs(bytes, first_line, offset) : line_by_locations(bytes, first_line, offset);
}

// From a thread that Python knows nothing of.
__attribute__((visibility("default"))) int probe_elsewhere() {
    pthread_t thread;
    void* result = nullptr;
    auto const run = [](void*) -> void* {
        char text[64];
        return reinterpret_cast<void*>(static_cast<std::intptr_t>(probe_frames(0, text, sizeof text)));
    };
    if (pthread_create(&thread, nullptr, run, nullptr) != 0) return -100;
    pthread_join(thread, &result);
    return static_cast<int>(reinterpret_cast<std::intptr_t>(result));
}

// How many of `times` readings went well; for measuring.
__attribute__((visibility("default"))) int probe_read(int how, int times) {
    auto const at = reinterpret_cast<std::uintptr_t>(running.own_state());
    int good = 0;
    for (int i = 0; i < times; ++i) {
        asked.reset(static_cast<std::uint32_t>(getpid()));
        good += read_frames(running, asked, static_cast<trust>(how), at, found);
    }
    return good;
}
}
