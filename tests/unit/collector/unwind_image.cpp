#include "tests/unit/collector/unwind_image.h"

#include <elf.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace lastref::unwind::test {
namespace {

void append32(bytes& to, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void pad(bytes& to) {
    while (to.size() % 8 != 4) to.push_back(0);  // the length's own four bytes make it a multiple of eight
}

bytes record(bytes const& content) {
    bytes made;
    append32(made, static_cast<std::uint32_t>(content.size()));
    made.insert(made.end(), content.begin(), content.end());
    return made;
}

bytes common_record(bytes const& program) {
    bytes content;
    append32(content, 0);
    // Version 1, "zR", code factor 1, data factor -8, column 16, one byte of augmentation data: pcrel | sdata4.
    for (int const byte : {1, int{'z'}, int{'R'}, 0, 1, 0x78, 16, 1, 0x1b})
        content.push_back(static_cast<std::uint8_t>(byte));
    content.insert(content.end(), program.begin(), program.end());
    pad(content);
    return record(content);
}

// `at` is where the FDE begins in .eh_frame, `text` where the text begins, seen from .eh_frame.
bytes description(function const& what, std::size_t at, std::int64_t text) {
    bytes content;
    append32(content, static_cast<std::uint32_t>(at + 4));
    append32(content, static_cast<std::uint32_t>(text + what.begin - static_cast<std::int64_t>(at + 8)));
    append32(content, what.size);
    content.push_back(0);
    content.insert(content.end(), what.program.begin(), what.program.end());
    pad(content);
    return record(content);
}

}  // namespace

image* image::latest = nullptr;

image::image(std::vector<function> const& functions, bytes const& common_program) {
    // Sizes do not depend on places: made once to learn them.
    bytes frame = common_record(common_program);
    for (auto const& one : functions) {
        auto const made = description(one, 0, 0);
        frame.insert(frame.end(), made.begin(), made.end());
    }
    std::size_t const header_size = 12 + functions.size() * 8;
    std::size_t const frame_size = frame.size() + 4;
    tables_size_ = header_size + frame_size;
    auto* const memory =
        static_cast<std::uint8_t*>(mmap(nullptr, (pages + 2) * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory == MAP_FAILED || tables_size_ > (pages - 2) * page) std::abort();
    mprotect(memory + page, pages * page, PROT_READ | PROT_WRITE);
    base_ = reinterpret_cast<std::uintptr_t>(memory + page);

    auto const header = static_cast<std::int64_t>(tables_offset());
    auto const frame_at = header + static_cast<std::int64_t>(header_size);
    bytes tables = {1, 0x1b, 0x03, 0x3b};
    append32(tables, static_cast<std::uint32_t>(header_size - 4));
    append32(tables, static_cast<std::uint32_t>(functions.size()));
    frame = common_record(common_program);
    for (auto const& one : functions) {
        append32(tables, static_cast<std::uint32_t>(static_cast<std::int64_t>(page + one.begin) - header));
        append32(tables, static_cast<std::uint32_t>(header_size + frame.size()));
        auto const made = description(one, frame.size(), static_cast<std::int64_t>(page) - frame_at);
        frame.insert(frame.end(), made.begin(), made.end());
    }
    append32(frame, 0);
    tables.insert(tables.end(), frame.begin(), frame.end());
    std::memcpy(begin() + header, tables.data(), tables.size());

    ElfW(Ehdr) file{};
    std::memcpy(file.e_ident, ELFMAG, SELFMAG);
    file.e_phoff = sizeof file;
    file.e_phentsize = sizeof(ElfW(Phdr));
    file.e_phnum = 2;
    std::memcpy(begin(), &file, sizeof file);
    ElfW(Phdr) segments[2]{};
    segments[0] = {.p_type = PT_LOAD,
                   .p_flags = PF_R | PF_X,
                   .p_offset = 0,
                   .p_vaddr = 0,
                   .p_paddr = 0,
                   .p_filesz = 2 * page,
                   .p_memsz = 2 * page,
                   .p_align = page};
    segments[1] = segments[0];
    segments[1].p_flags = PF_R;
    segments[1].p_vaddr = 2 * page;
    segments[1].p_filesz = (pages - 2) * page;
    std::memcpy(begin() + sizeof file, segments, sizeof segments);
    map_.l_addr = base_;
    latest = this;
}

image::~image() {
    munmap(begin() - page, (pages + 2) * page);
    latest = nullptr;
}

void image::move_headers(std::size_t off) {
    constexpr std::size_t to = 2 * page;
    ElfW(Ehdr) file;
    std::memcpy(&file, begin(), sizeof file);
    ElfW(Phdr) segments[3]{};
    std::memcpy(segments, begin() + file.e_phoff, 2 * sizeof segments[0]);
    std::memset(begin() + file.e_phoff, 0, 2 * sizeof segments[0]);
    segments[2].p_type = PT_PHDR;
    segments[2].p_vaddr = to + off;
    std::memcpy(begin() + to, segments, sizeof segments);
    file.e_phoff = to;
    file.e_phnum = 3;
    file.e_shoff = off;  // tells this object from others that lay here
    std::memcpy(begin(), &file, sizeof file);
}

int image::find(void* address, dl_find_object_result* found) {
    auto const at = reinterpret_cast<std::uintptr_t>(address);
    if (latest == nullptr || at < latest->base_ || at >= latest->base_ + latest->size()) return -1;
    found->map_start = latest->begin();
    found->map_end = latest->begin() + latest->size();
    found->map = &latest->map_;
    found->eh_frame = latest->begin() + latest->tables_offset();
    return 0;
}

}  // namespace lastref::unwind::test
