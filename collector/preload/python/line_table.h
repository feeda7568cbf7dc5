// Which line of its file an instruction of a code object belongs to.
//
// `Bytes` yields a table's bytes one by one: int next(), -1 at the end. Tables may be damaged: whatever they hold, the
// functions end with the bytes, and say 0 where they find no line.
#pragma once

#include <cstdint>

namespace lastref::python {

inline constexpr std::int32_t no_line = 0;

// 3.10. Pairs of bytes: for how many bytes of instructions the entry counts, and by how much the line differs from the
// one before; -128 for instructions that belong to no line.
template <class Bytes>
std::int32_t line_by_pairs(Bytes&& table, std::int32_t first_line, std::int64_t offset) {
    constexpr std::int8_t without_line = -128;
    std::int64_t end = 0;
    std::int32_t line = first_line;
    for (;;) {
        int const length = table.next();
        int const difference = table.next();
        if (difference < 0) return no_line;
        auto const step = static_cast<std::int8_t>(difference);
        end += length;
        if (step != without_line) line = static_cast<std::int32_t>(line + step);
        if (offset < end) return step == without_line || line < 0 ? no_line : line;
    }
}

// One entry of a table of locations, as of 3.11.
template <class Bytes>
class location_entries {
  public:
    explicit location_entries(Bytes& table) : table_(table) {}

    // What the next entry says; false at the end. `units` of two bytes each are the instructions that it counts for.
    bool next(std::uint32_t& units, std::int64_t& step, bool& has_line) {
        int const head = pending_ >= 0 ? pending_ : table_.next();
        pending_ = -1;
        if (head < 0) return false;
        units = (static_cast<std::uint32_t>(head) & 7) + 1;
        unsigned const code = static_cast<unsigned>(head) >> 3 & 15;
        has_line = code != none;
        step = 0;
        if (code == long_form || code == no_columns)
            step = signed_number();
        else if (code >= one_line && code < one_line + 3)
            step = code - one_line;
        // The rest of the entry says where in the line: entries begin with the next byte whose top bit is set.
        while (pending_ < 0) {
            int const byte = table_.next();
            if (byte < 0) break;
            if ((byte & 0x80) != 0) pending_ = byte;
        }
        return true;
    }

  private:
    static constexpr unsigned one_line = 10, no_columns = 13, long_form = 14, none = 15;

    std::int64_t signed_number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 60; shift += 6) {
            int const byte = table_.next();
            if (byte < 0) break;
            if ((byte & 0x80) != 0) {  // damage: the next entry
                pending_ = byte;
                break;
            }
            value |= (static_cast<std::uint64_t>(byte) & 0x3f) << shift;
            if ((byte & 0x40) == 0) break;
        }
        auto const size = static_cast<std::int64_t>(value >> 1);
        return (value & 1) != 0 ? -size : size;
    }

    Bytes& table_;
    int pending_ = -1;
};

// 3.11 and newer.
template <class Bytes>
std::int32_t line_by_locations(Bytes&& table, std::int32_t first_line, std::int64_t offset) {
    location_entries<Bytes> entries(table);
    std::int64_t end = 0, line = first_line, step = 0;
    std::uint32_t units = 0;
    bool has_line = false;
    while (entries.next(units, step, has_line)) {
        end += std::int64_t{units} * 2;
        line += step;
        if (offset < end) return has_line && line > 0 && line < INT32_MAX ? static_cast<std::int32_t>(line) : no_line;
    }
    return no_line;
}

}  // namespace lastref::python
