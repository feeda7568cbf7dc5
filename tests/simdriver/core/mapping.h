// A shared mapping of a file, unmapped with its last holder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace lastref::simdriver {

class mapping {
  public:
    // Null when the file cannot be mapped. The offset need not be a multiple of the page size.
    static std::shared_ptr<mapping> of_file(int file, std::size_t offset, std::size_t bytes);

    mapping(mapping const&) = delete;
    mapping& operator=(mapping const&) = delete;
    ~mapping();

    std::uintptr_t address() const { return start_ + skipped_; }

  private:
    mapping(std::uintptr_t start, std::size_t skipped, std::size_t bytes)
        : start_(start), skipped_(skipped), bytes_(bytes) {}

    std::uintptr_t start_;
    std::size_t skipped_, bytes_;
};

// A file descriptor that closes itself.
class owned_file {
  public:
    explicit owned_file(int file = -1) : file_(file) {}
    owned_file(owned_file&& other) noexcept : file_(other.file_) { other.file_ = -1; }
    owned_file& operator=(owned_file const&) = delete;
    ~owned_file();

    int get() const { return file_; }
    bool valid() const { return file_ >= 0; }

  private:
    int file_;
};

std::size_t file_size(int file);

}  // namespace lastref::simdriver
