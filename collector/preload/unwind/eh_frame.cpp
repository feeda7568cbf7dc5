#include "collector/preload/unwind/eh_frame.h"

#include "collector/preload/arch/frame.h"
#include "collector/preload/unwind/cfa_program.h"
#include "collector/preload/unwind/reader.h"

namespace lastref::unwind {
namespace {

namespace arch = preload::arch;

constexpr std::size_t word = sizeof(std::uint64_t);
// Descriptions are some dozen bytes long; those of the largest functions some thousand.
constexpr std::size_t longest_description = std::size_t{64} << 10;
constexpr std::size_t block = 4 * word;
constexpr std::size_t most_blocks = 255;
constexpr std::size_t longest_common = 256;

std::uint8_t const* pointer(std::uintptr_t at) {
    return reinterpret_cast<std::uint8_t const*>(at);
}
std::uintptr_t number(std::uint8_t const* at) {
    return reinterpret_cast<std::uintptr_t>(at);
}

template <class Type>
Type read(std::uintptr_t at) {
    Type value;
    memcpy(&value, pointer(at), sizeof value);
    return value;
}

// The record (CIE or FDE) at an address: its bytes behind the length. 64-bit records (length 0xffffffff) are too long.
reader record_at(loaded_object const& object, std::uintptr_t at, std::size_t longest) {
    reader nothing(nullptr, nullptr);
    nothing.fail();
    if (!object.readable(at, sizeof(std::uint32_t))) return nothing;
    std::size_t const length = read<std::uint32_t>(at);
    if (length == 0 || length > longest || !object.readable(at, sizeof(std::uint32_t) + length)) return nothing;
    std::uint8_t const* const begin = pointer(at + sizeof(std::uint32_t));
    return {begin, begin + length};
}

// Where the common information of the description at `at` lies.
std::uintptr_t common_of(std::uintptr_t at) {
    return at + sizeof(std::uint32_t) - read<std::uint32_t>(at + sizeof(std::uint32_t));
}

void skip_encoded(reader& bytes, std::uint8_t encoding) {
    constexpr std::uint8_t aligned = 0x50, omitted = 0xff;
    if (encoding == omitted) return;
    if (encoding == aligned) return bytes.fail();
    encoded_pointer(bytes, encoding & 0x0f);
}

// Each letter of the augmentation says what the augmentation's data hold next. "z" comes first: it says how long they
// are.
bool read_augmentation(reader& bytes, char const* letters, common_information& common) {
    if (*letters == 0) return true;
    if (*letters != 'z') return false;
    common.has_augmentation = true;
    reader data = bytes.part(bytes.uleb());
    for (++letters; *letters != 0; ++letters) {
        switch (*letters) {
            case 'R':
                common.pointer_encoding = data.u8();
                break;
            case 'P':
                skip_encoded(data, data.u8());
                break;
            case 'L':
                data.u8();
                break;
            case 'S':
                common.signal = true;
                break;
            default:
                return false;
        }
    }
    return data.ok();
}

bool read_common(loaded_object const& object, std::uintptr_t at, common_information& common) {
    reader bytes = record_at(object, at, longest_common);
    if (bytes.number<std::uint32_t>() != 0) return false;  // the mark of a CIE
    std::uint8_t const version = bytes.u8();
    auto const* const letters = reinterpret_cast<char const*>(bytes.at());
    while (bytes.ok() && bytes.u8() != 0) continue;
    if (!bytes.ok() || (version != 1 && version != 3)) return false;
    common.code_factor = bytes.uleb();
    common.data_factor = bytes.sleb();
    common.return_address_column = version == 1 ? bytes.u8() : bytes.uleb();
    if (!read_augmentation(bytes, letters, common)) return false;
    common.program = bytes;
    return bytes.ok() && common.return_address_column == arch::dwarf_return_address;
}

bool is_signal_return(loaded_object const& object, std::uintptr_t pc) {
    return object.readable(pc, sizeof arch::signal_return_code) &&
           memcmp(pointer(pc), arch::signal_return_code, sizeof arch::signal_return_code) == 0;
}

// No description covers `pc`. Unwinders stop here, unless it is the code that the kernel lets signal handlers return
// to.
rule uncovered(loaded_object const& object, std::uintptr_t pc) {
    return rule::of(is_signal_return(object, pc) ? rule_kind::not_simple : rule_kind::outermost);
}

// `used` becomes the end of what was read.
rule read_description(loaded_object const& object, std::uintptr_t at, std::uintptr_t pc, std::uint8_t const*& used) {
    reader bytes = record_at(object, at, longest_description);
    bytes.number<std::uint32_t>();  // where the common information is
    common_information common;
    if (!bytes.ok() || !read_common(object, common_of(at), common)) return rule::of(rule_kind::not_simple);
    std::uintptr_t const begin = encoded_pointer(bytes, common.pointer_encoding);
    std::uintptr_t const size = encoded_pointer(bytes, common.pointer_encoding & 0x0f);
    if (common.has_augmentation) bytes.skip(bytes.uleb());
    used = bytes.at();
    if (!bytes.ok()) return rule::of(rule_kind::not_simple);
    if (pc < begin || pc - begin >= size) return uncovered(object, pc);
    return run_programs(common, bytes, begin, pc, used);
}

// A sum of words times odd numbers: its multiplications do not wait for each other, and blocks of one size leave few
// branches to guess. It takes a third of a walk.
std::uint64_t hash_block(std::uint64_t hash, std::uintptr_t at) {
    hash *= 0x9e3779b97f4a7c15u;
    hash += read<std::uint64_t>(at) * 0xd6e8feb86659fd93u;
    hash += read<std::uint64_t>(at + word) * 0xa0761d6478bd642fu;
    hash += read<std::uint64_t>(at + 2 * word) * 0xe7037ed1a0b428dbu;
    return hash + read<std::uint64_t>(at + 3 * word) * 0x8ebc6af09c88c6e3u;
}

// Of the whole CIE, which must fit a block, and of the first blocks of the FDE. What lies behind their ends in the last
// blocks changes as little as they do.
[[gnu::always_inline]] inline bool fingerprint(loaded_object const& object, std::uintptr_t at, std::size_t blocks,
                                               std::uint32_t& found) {
    if (!object.readable(at, blocks * block)) return false;
    std::uintptr_t const common = common_of(at);
    if (!object.readable(common, block)) return false;
    if (read<std::uint32_t>(common) + sizeof(std::uint32_t) > block) return false;
    std::uint64_t hash = hash_block(at, common);
    for (std::size_t i = 0; i < blocks; ++i) hash = hash_block(hash, at + i * block);
    found = static_cast<std::uint32_t>(hash >> 40);
    return true;
}

}  // namespace

proved_rule read_rule(loaded_object const& object, std::uintptr_t pc) {
    proved_rule made{uncovered(object, pc), {0, 0, 0}};
    std::uint32_t index = 0, found = 0;
    if (!object.search(pc, index)) return made;
    std::uintptr_t const at = object.description(index);
    std::uint8_t const* used = nullptr;
    made.what = read_description(object, at, pc, used);
    std::size_t const blocks = used == nullptr ? 0 : (number(used) - at + block - 1) / block;
    if (blocks != 0 && blocks <= most_blocks && fingerprint(object, at, blocks, found))
        made.why = {index, blocks & 0xff, found & 0xffffff};
    return made;
}

bool still_proved(loaded_object const& object, std::uintptr_t pc, proof const& why) {
    if (!object.is_found(pc, why.index)) return false;
    std::uint32_t found = 0;
    return fingerprint(object, object.description(why.index), why.length, found) && found == why.fingerprint;
}

}  // namespace lastref::unwind
