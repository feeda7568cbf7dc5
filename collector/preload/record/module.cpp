#include "collector/preload/record/module.h"

#include <elf.h>
#include <unistd.h>

#include <cstring>

#include "collector/preload/driver/dlsym.h"
#include "collector/preload/record/python_frames.h"
#include "collector/preload/unwind/find_object.h"

namespace lastref::preload::modules {
namespace {

using unwind::dl_find_object_result;
unwind::dl_find_object_function find_object = nullptr;

// Hashes of the modules written; open addressing, insert only.
constexpr std::uint32_t table_size = 2048;
std::atomic<std::uint64_t> written[table_size];

char executable[4096];
std::size_t executable_length = 0;

// A module is its mapping and the loader's own record of it: an address range can be another library after dlclose.
std::uint64_t identity(dl_find_object_result const& found) {
    std::uint64_t hash = 0;
    for (void const* part : {static_cast<void const*>(found.map_start), static_cast<void const*>(found.map_end),
                             static_cast<void const*>(found.map), static_cast<void const*>(found.map->l_name),
                             static_cast<void const*>(found.map->l_ld)})
        hash = (hash ^ reinterpret_cast<std::uintptr_t>(part)) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    return hash | 1;
}

// True for whoever sees the module first.
bool claim(std::uint64_t id) {
    for (std::uint32_t probe = 0; probe < 64; ++probe) {
        auto& place = written[(id + probe) % table_size];
        std::uint64_t current = place.load(std::memory_order_relaxed);
        if (current == id) return false;
        if (current == 0 && place.compare_exchange_strong(current, id, std::memory_order_relaxed)) return true;
        if (current == id) return false;
    }
    return false;
}

// The build id from the notes of the mapped file; headers lie at the start of the first mapping.
std::uint8_t build_id(dl_find_object_result const& found, std::uint8_t* id) {
    auto const* const start = static_cast<std::byte const*>(found.map_start);
    auto const size = static_cast<std::size_t>(static_cast<std::byte const*>(found.map_end) - start);
    ElfW(Ehdr) header;
    if (size < sizeof header) return 0;
    memcpy(&header, start, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phoff + header.e_phnum * sizeof(ElfW(Phdr)) > size)
        return 0;
    auto const* const programs = reinterpret_cast<ElfW(Phdr) const*>(start + header.e_phoff);
    for (int i = 0; i < header.e_phnum; ++i) {
        if (programs[i].p_type != PT_NOTE) continue;
        auto const* note = reinterpret_cast<std::byte const*>(found.map->l_addr + programs[i].p_vaddr);
        auto const* const end = note + programs[i].p_memsz;
        if (note < start || end > start + size) continue;
        while (note + sizeof(ElfW(Nhdr)) <= end) {
            ElfW(Nhdr) head;
            memcpy(&head, note, sizeof head);
            auto const* const name = note + sizeof head;
            auto const* const description = name + ((head.n_namesz + 3) & ~3u);
            auto const* const next = description + ((head.n_descsz + 3) & ~3u);
            if (next > end || next <= note) break;
            if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
                auto const length = static_cast<std::uint8_t>(head.n_descsz < 32 ? head.n_descsz : 32);
                memcpy(id, description, length);
                return length;
            }
            note = next;
        }
    }
    return 0;
}

void write(thread_ring& r, dl_find_object_result const& found) {
    bool const is_program = found.map->l_name == nullptr || found.map->l_name[0] == 0;
    char const* const path = is_program ? executable : found.map->l_name;
    std::size_t length = is_program ? executable_length : strlen(path);
    if (length > 3000) length = 3000;
    std::uint32_t const slots = 1 + static_cast<std::uint32_t>((length + 63) / 64);
    if (r.used + slots > spool::slots_per_segment && !rings::next_segment(r)) return;
    std::byte* const place = rings::room(r, slots);
    spool::module_record head{};
    head.type = spool::record_type::module;
    head.slots = static_cast<std::uint8_t>(slots);
    head.path_length = static_cast<std::uint16_t>(length);
    head.build_id_length = build_id(found, head.build_id);
    head.load_bias = found.map->l_addr;
    head.begin = reinterpret_cast<std::uintptr_t>(found.map_start);
    head.end = reinterpret_cast<std::uintptr_t>(found.map_end);
    memcpy(place, &head, sizeof head);
    memcpy(place + sizeof head, path, length);
    rings::publish(r, slots);
}

}  // namespace

void prepare() {
    if (executable_length == 0) {
        ssize_t const length = readlink("/proc/self/exe", executable, sizeof executable - 1);
        executable_length = length > 0 ? static_cast<std::size_t>(length) : 0;
    }
    if (find_object == nullptr)
        find_object = reinterpret_cast<unwind::dl_find_object_function>(next_dlsym(RTLD_NEXT, "_dl_find_object"));
}

range note(thread_ring& r, std::uintptr_t address) {
    dl_find_object_result found;
    if (find_object == nullptr || find_object(reinterpret_cast<void*>(address), &found) != 0) return {};
    if (claim(identity(found))) {
        write(r, found);
        python_frames::offer(r, *found.map);
    }
    return {reinterpret_cast<std::uintptr_t>(found.map_start), reinterpret_cast<std::uintptr_t>(found.map_end)};
}

bool is_loaded(link_map const* object, void const* address) {
    dl_find_object_result found;
    return find_object(const_cast<void*>(address), &found) == 0 && found.map == object;
}

void forget_all() {
    for (auto& entry : written) entry.store(0, std::memory_order_relaxed);
}

}  // namespace lastref::preload::modules
