// Modules, frames and call stacks of one process: each written once, however often it is met.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/drain/trace_writer.h"

namespace lastref::drain {

// Memory grows with distinct stacks. Threads: one.
class stack_table {
  public:
    // Loads what the trace already has of the process.
    stack_table(trace_writer& writer, process_id process);

    // A newly loaded module. Addresses in its range meant something else before: frames and stacks seen so far keep
    // what they were, and the same addresses become new ones from here on.
    void add_module(spool::module_record const& module, std::string_view path);
    stack_id find_or_add(std::span<std::uint64_t const> frames, bool cut);

  private:
    struct stack_key {
        std::vector<std::uint64_t> frames;
        bool cut;
        bool operator==(stack_key const&) const = default;
    };
    struct key_view {
        std::span<std::uint64_t const> frames;
        bool cut;
    };
    // Lets a stack be looked up without copying its frames.
    struct hash {
        using is_transparent = void;
        std::size_t operator()(key_view const& key) const;
        std::size_t operator()(stack_key const& key) const { return (*this)(key_view{key.frames, key.cut}); }
    };
    struct equal {
        using is_transparent = void;
        bool operator()(stack_key const& a, key_view const& b) const;
        bool operator()(key_view const& a, stack_key const& b) const { return (*this)(b, a); }
        bool operator()(stack_key const& a, stack_key const& b) const { return a == b; }
    };
    struct module_range {
        std::uint64_t end;
        module_id id;
    };

    void load_modules();
    void load_frames();
    void load_stacks();
    void note_range(std::uint64_t begin, std::uint64_t end, module_id id);
    std::optional<module_id> module_of(std::uint64_t return_address) const;
    frame_id frame(std::uint64_t address);

    trace_writer& writer_;
    process_id process_;
    std::map<std::uint64_t, module_range> modules_;
    std::unordered_map<std::uint64_t, frame_id> frames_;
    std::unordered_map<stack_key, stack_id, hash, equal> stacks_;
};

}  // namespace lastref::drain
