#include "gui/loader/kept.h"

#include <cstring>

namespace lastref::gui {

void kept_sum::add(void const* data, std::size_t size) {
    auto const* at = static_cast<unsigned char const*>(data);
    auto const take = [this](std::uint64_t part) {
        sum_ = (sum_ ^ part) * 0xff51afd7ed558ccdU;
        sum_ ^= sum_ >> 32;
    };
    for (; size >= 8; at += 8, size -= 8) {
        std::uint64_t part = 0;
        std::memcpy(&part, at, 8);
        take(part);
    }
    if (size == 0) return;  // so that it does not matter in how many parts the same bytes come
    std::uint64_t rest = 0;
    std::memcpy(&rest, at, size);
    take(rest ^ (std::uint64_t{size} << 56));
}

void kept_writer::bytes(void const* data, std::size_t size) {
    if (size == 0) return;
    if (std::fwrite(data, 1, size, to_) != size) throw kept_error("cannot be written");
    sum_.add(data, size);
}

void kept_reader::bytes(void* data, std::size_t size) {
    if (size == 0) return;
    if (size > left_ || std::fread(data, 1, size, from_) != size) throw kept_error("ends too early");
    left_ -= size;
    sum_.add(data, size);
}

}  // namespace lastref::gui
