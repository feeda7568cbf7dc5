// Spools: the file is opened, and everything that its chains and stray segments hold is looked at.
#include "collector/spool/chain_reader.h"
#include "tests/fuzz/spool_image.h"

namespace {

using namespace lastref;

// Touches each byte that a record says it has.
class toucher final : public spool::chain_visitor {
  public:
    std::uint64_t sum = 0;

    void segment_begins(std::uint32_t, spool::segment_header const& segment) override { sum += segment.serial; }
    bool record(spool::record_view record) override {
        switch (record.type()) {
            case spool::record_type::stack:
                for (auto const frame : record.frames()) sum += frame;
                break;
            case spool::record_type::module:
                touch(record.module_path());
                break;
            case spool::record_type::text:
                touch(record.text_bytes());
                break;
            case spool::record_type::range:
                touch(record.range_name());
                break;
            case spool::record_type::nvtx:
                touch(record.nvtx_domain()), touch(record.nvtx_category()), touch(record.nvtx_message());
                break;
            default:
                sum += record.call().extra;
        }
        return ++records_ % 3 != 0;
    }
    void damaged_record(spool::chain_place) override { ++sum; }
    void segment_finished() override { ++sum; }
    void unreadable_segment(spool::chain_place) override { ++sum; }

  private:
    void touch(std::string_view text) {
        for (char const c : text) sum += static_cast<unsigned char>(c);
    }
    std::uint64_t records_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static fuzz::spool_image image;
    auto opened = spool::spool_file::open(image.write({data, size}), spool::access::read_only);
    if (!opened.file) return 0;
    auto& file = *opened.file;
    toucher visitor;
    constexpr auto entry_points = static_cast<std::uint32_t>(hooks::abi::count);
    for (std::uint32_t slot = 0; slot < std::min(file.thread_slots_used(), 64u); ++slot) {
        spool::chain_reader reader(slot, file.thread(slot).serial, entry_points);
        while (reader.read(file, visitor) == spool::chain_reader::outcome::stopped) {
        }
        for (std::uint32_t i = 0; i < file.segments(); ++i) {
            spool::chain_reader stray(slot, file.thread(slot).serial, entry_points);
            while (stray.read_stray(file, i, visitor) == spool::chain_reader::outcome::stopped) {
            }
        }
    }
    return 0;
}
