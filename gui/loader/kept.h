// Values as bytes in a file and back, for what is kept of a trace: one list of fields for each type serves both ways.
// The file is this machine's and this build's own: values stand in it as they do in memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace lastref::gui {

class kept_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A sum over all bytes, to tell a damaged file: eight at a time, since there are hundreds of millions.
class kept_sum {
  public:
    void add(void const* data, std::size_t size);
    std::uint64_t value() const { return sum_; }

  private:
    std::uint64_t sum_ = 0x9e3779b97f4a7c15U;
};

class kept_writer {
  public:
    static constexpr bool reading = false;
    explicit kept_writer(std::FILE* to) : to_(to) {}
    void bytes(void const* data, std::size_t size);
    std::uint64_t sum() const { return sum_.value(); }

  private:
    std::FILE* to_;
    kept_sum sum_;
};

class kept_reader {
  public:
    static constexpr bool reading = true;
    kept_reader(std::FILE* from, std::uint64_t size) : from_(from), left_(size) {}
    void bytes(void* data, std::size_t size);
    std::uint64_t sum() const { return sum_.value(); }
    std::uint64_t left() const { return left_; }

  private:
    std::FILE* from_;
    std::uint64_t left_;  // a length beyond it is damage, and not to be asked memory for
    kept_sum sum_;
};

// --- values ----------------------------------------------------------------------------------------------------------

template <class Archive, class Value>
void keep(Archive& a, Value& value);

template <class Archive>
std::size_t keep_size(Archive& a, std::size_t now) {
    std::uint64_t size = now;
    a.bytes(&size, sizeof size);
    if constexpr (Archive::reading)
        if (size > a.left()) throw kept_error("a length beyond the end");
    return size;
}

template <class Archive>
void keep_text(Archive& a, std::string& text) {
    text.resize(keep_size(a, text.size()));
    a.bytes(text.data(), text.size());
}

// Types without a default value come in through a buffer.
template <class Value>
void read_plain(kept_reader& a, std::vector<Value>& to, std::size_t size) {
    std::array<std::array<std::byte, sizeof(Value)>, 1024> buffer;
    to.reserve(size);
    while (to.size() < size) {
        auto const count = std::min(size - to.size(), buffer.size());
        a.bytes(buffer.data(), count * sizeof(Value));
        for (std::size_t i = 0; i < count; ++i) to.push_back(std::bit_cast<Value>(buffer[i]));
    }
}

template <class Archive, class Value>
void keep_list(Archive& a, std::vector<Value>& list) {
    auto const size = keep_size(a, list.size());
    if constexpr (std::is_trivially_copyable_v<Value>) {
        if constexpr (Archive::reading) {
            if (size > a.left() / sizeof(Value)) throw kept_error("a length beyond the end");
            if constexpr (!std::is_default_constructible_v<Value>)
                return read_plain(a, list, size);
            else
                list.resize(size);
        }
        a.bytes(list.data(), size * sizeof(Value));
    } else {
        if constexpr (Archive::reading) list.resize(size);
        for (auto& each : list) keep(a, each);
    }
}

// What is never changed is made anew.
template <class Archive, class Value>
void keep_shared(Archive& a, std::shared_ptr<Value const>& value) {
    if constexpr (Archive::reading) {
        auto const made = std::make_shared<Value>();
        keep(a, *made);
        value = made;
    } else {
        keep(a, const_cast<Value&>(*value));  // writing changes nothing
    }
}

}  // namespace lastref::gui
