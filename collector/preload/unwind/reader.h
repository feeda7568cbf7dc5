// Reads bytes that may be damaged: never behind their end, and after the first failure nothing but zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lastref::unwind {

class reader {
  public:
    reader(std::uint8_t const* begin, std::uint8_t const* end) : at_(begin), end_(begin <= end ? end : begin) {}

    bool ok() const { return ok_; }
    bool done() const { return at_ == end_; }
    std::uint8_t const* at() const { return at_; }
    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
    void fail() {
        ok_ = false;
        at_ = end_;
    }

    template <class Number>
    Number number() {
        Number value{};
        if (left() < sizeof value) {
            fail();
            return Number{};
        }
        memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    std::uint8_t u8() { return number<std::uint8_t>(); }

    // LEB128; more than 64 bits are damage.
    std::uint64_t uleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            std::uint64_t const byte = u8();
            value |= (byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) return value;
        }
        fail();
        return 0;
    }
    std::int64_t sleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            std::uint64_t const byte = u8();
            value |= (byte & 0x7f) << shift;
            if ((byte & 0x80) != 0) continue;
            if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
            return static_cast<std::int64_t>(value);
        }
        fail();
        return 0;
    }

    void skip(std::uint64_t bytes) {
        if (bytes > left())
            fail();
        else
            at_ += bytes;
    }
    // The next `bytes` as a reader of their own.
    reader part(std::uint64_t bytes) {
        if (bytes > left()) fail();
        std::uint8_t const* const begin = at_;
        skip(ok_ ? bytes : 0);
        reader found(begin, at_);
        if (!ok_) found.fail();
        return found;
    }

  private:
    std::uint8_t const* at_;
    std::uint8_t const* end_;
    bool ok_ = true;
};

}  // namespace lastref::unwind
