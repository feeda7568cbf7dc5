// A loaded object made by hand, between pages that cannot be read: tables of any content, sound or damaged.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "collector/preload/unwind/loaded_object.h"

namespace lastref::unwind::test {

using bytes = std::vector<std::uint8_t>;

struct function {
    std::uint32_t begin, size;  // in the text
    bytes program;              // of its FDE
};

// Layout: a page of file headers, a page of text, some pages of tables, whose last byte is the last that can be read.
class image {
  public:
    explicit image(std::vector<function> const& functions, bytes const& common_program = {0x0c, 7, 8, 0x90, 1});
    ~image();
    image(image const&) = delete;
    image& operator=(image const&) = delete;

    std::uintptr_t text() const { return base_ + page; }
    std::uint8_t* begin() const { return reinterpret_cast<std::uint8_t*>(base_); }
    std::size_t size() const { return pages * page; }
    // Of .eh_frame_hdr and .eh_frame, the last of the image.
    std::size_t tables_offset() const { return size() - tables_size_; }

    // Moves the program headers behind the text, as tools that rewrite files do; they say that they lie `off` further.
    void move_headers(std::size_t off);

    // Answers for the latest image made.
    static int find(void* address, dl_find_object_result* found);

    static constexpr std::size_t page = 4096;
    static constexpr std::size_t pages = 6;

  private:
    std::uintptr_t base_;
    std::size_t tables_size_;
    link_map map_{};
    static image* latest;
};

}  // namespace lastref::unwind::test
