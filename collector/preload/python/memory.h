// Reading an interpreter's memory. Two ways, with the same interface:
//
//     bool copy(void* to, std::uintptr_t from, std::size_t size);
//     part<room>                   the first bytes of a struct: read(memory, from, size), then its fields by offset
//
// What lies at a plausible address is read as it is by `own_memory`: for what cannot go away while the thread looks at
// it. `asked_memory` lets the kernel copy, which says no where there is nothing: for what another thread may take away,
// and for structures whose layout is not proved yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lastref::python {

inline constexpr std::size_t page = 4096;

// Half of the address space is the kernel's, and nothing of an interpreter's lies in the first page.
constexpr bool plausible(std::uintptr_t at, std::size_t size) {
    constexpr std::uintptr_t end = std::uintptr_t{1} << 47;
    return at >= page && at < end && size < end - at;
}

// Copied; `room` is at least what is read of any struct.
template <std::size_t room>
class copied_part {
  public:
    template <class Memory>
    bool read(Memory& memory, std::uintptr_t from, std::size_t size) {
        return size <= room && memory.copy(bytes_, from, size);
    }
    template <class Value>
    Value at(std::size_t offset) const {
        Value value{};
        if (offset + sizeof value <= room) memcpy(&value, bytes_ + offset, sizeof value);
        return value;
    }
    std::uintptr_t pointer(std::size_t offset) const { return at<std::uintptr_t>(offset); }
    std::byte* bytes() { return bytes_; }

  private:
    std::byte bytes_[room];
};

// Looked at where it is: a copy costs more than all that is done with it.
class part_in_place {
  public:
    template <class Memory>
    bool read(Memory&, std::uintptr_t from, std::size_t size) {
        begin_ = from;
        return plausible(from, size);
    }
    template <class Value>
    [[gnu::no_sanitize("address", "thread", "undefined")]] Value at(std::size_t offset) const {
        Value value;
        memcpy(&value, reinterpret_cast<void const*>(begin_ + offset), sizeof value);
        return value;
    }
    std::uintptr_t pointer(std::size_t offset) const { return at<std::uintptr_t>(offset); }

  private:
    std::uintptr_t begin_ = 0;
};

struct own_memory {
    template <std::size_t room>
    using part = part_in_place;

    [[gnu::no_sanitize("address", "thread", "undefined")]] bool copy(void* to, std::uintptr_t from, std::size_t size) {
        if (!plausible(from, size)) return false;
        memcpy(to, reinterpret_cast<void const*>(from), size);
        return true;
    }
};

// Keeps the last pages that it read, so it must not outlive the look at one state of the interpreter: reset() begins a
// new one. One thread at a time.
class asked_memory {
  public:
    template <std::size_t room>
    using part = copied_part<room>;

    // `process` is this process's number. What lies in [stack_begin, stack_end), the calling thread's own stack, is
    // there for certain.
    void reset(std::uint32_t process, std::uintptr_t stack_begin = 0, std::uintptr_t stack_end = 0) {
        for (auto& one : pages_) one.address = 0;
        next_ = 0;
        process_ = process;
        stack_begin_ = stack_begin;
        stack_end_ = stack_end;
    }
    bool copy(void* to, std::uintptr_t from, std::size_t size);

  private:
    static constexpr std::uint32_t kept = 6;
    struct kept_page {
        std::uintptr_t address;
        std::byte bytes[page];
    };
    std::byte const* page_at(std::uintptr_t address);
    bool read_page(std::byte* to, std::uintptr_t address) const;

    kept_page pages_[kept];
    std::uint32_t next_;
    std::uint32_t process_;
    std::uintptr_t stack_begin_, stack_end_;
};

}  // namespace lastref::python
