// What programs say through NVTX in the domain `lastref`: payloads and texts of annotations. The collector's own
// objects are compiled in; nothing is recorded, so what they would write into is not there.
//
// An input: payload type (1 byte), number of payloads (1 byte), schema and size as the payload says them (8 + 8 bytes),
// length of the payload (1 byte), the payload, and the message.
#include <cstdlib>
#include <memory>

#include "collector/nvtx/annotations.h"
#include "collector/preload/record/call.h"
#include "tests/fuzz/input.h"

namespace lastref::preload {

constinit thread_local thread_ring ring{};

namespace process {
shared the;
void count(spool::loss, std::uint64_t) {}
}  // namespace process

namespace rings {
thread_ring* acquire_slowly(thread_ring&) {
    return nullptr;
}
bool next_segment(thread_ring&) {
    return false;
}
std::byte* room_slowly(thread_ring&) {
    std::abort();
}
}  // namespace rings

namespace stacks {
std::uint16_t capture(thread_ring&, void*, void*) {
    std::abort();
}
}  // namespace stacks

namespace cpython {
void watch(std::uint64_t) {}
}  // namespace cpython
}  // namespace lastref::preload

using namespace lastref;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static std::uint64_t mark = 0;
    preload::process::the.fork_mark = &mark;
    fuzz::input from(data, size);
    constexpr std::int32_t types[] = {nvtx::abi::no_payload,     nvtx::abi::payload_u64,     nvtx::abi::payload_i64,
                                      nvtx::abi::payload_double, nvtx::abi::payload_u32,     nvtx::abi::payload_i32,
                                      nvtx::abi::payload_float,  nvtx::abi::payload_extended};
    nvtx::abi::event_attributes attributes{};
    attributes.payload_type = types[from.number<std::uint8_t>() % std::size(types)];
    attributes.payloads = from.number<std::int8_t>();
    nvtx::abi::payload_data described{from.number<std::uint64_t>(), from.number<std::size_t>(), nullptr};
    auto const bytes = from.bytes(from.number<std::uint8_t>());
    // What a program says of its payload's size is true: else nobody could read it.
    std::string payload(bytes);
    payload.resize(std::min<std::size_t>(described.size, 1 << 16));
    described.payload = payload.data();
    bool const extended = attributes.payload_type == nvtx::abi::payload_extended;
    attributes.payload = extended ? reinterpret_cast<std::uint64_t>(&described) : described.schema;
    std::string const message(from.rest());
    nvtx::annotate(attributes, {message.data(), message.size()}, nullptr, nullptr);
    return 0;
}
