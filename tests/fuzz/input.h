// What fuzz targets share: taking bytes off the front of an input, and files in memory.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

namespace lastref::fuzz {

class input {
  public:
    input(std::uint8_t const* data, std::size_t size) : data_(data), left_(size) {}
    bool empty() const { return left_ == 0; }
    std::size_t left() const { return left_; }

    // Zero where the input has ended.
    template <class Number>
    Number number() {
        Number value{};
        std::size_t const bytes = std::min(sizeof value, left_);
        std::memcpy(&value, data_, bytes);
        skip(bytes);
        return value;
    }
    std::string_view bytes(std::size_t most) {
        std::string_view const taken(reinterpret_cast<char const*>(data_), std::min(most, left_));
        skip(taken.size());
        return taken;
    }
    std::string_view rest() { return bytes(left_); }

  private:
    void skip(std::size_t bytes) {
        data_ += bytes;
        left_ -= bytes;
    }
    std::uint8_t const* data_;
    std::size_t left_;
};

// A folder of this process alone, in memory where there is room.
inline std::filesystem::path const& scratch() {
    struct folder {
        folder() {
            std::filesystem::path const parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
            path = parent / ("lastref-fuzz-" + std::to_string(getpid()));
            std::filesystem::create_directory(path);
        }
        ~folder() {
            std::error_code failed;
            std::filesystem::remove_all(path, failed);
        }
        std::filesystem::path path;
    };
    static folder const mine;
    return mine.path;
}

}  // namespace lastref::fuzz
