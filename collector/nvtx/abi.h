// What NVTX 3 and its tools agree on, as far as it is used here: so the library builds without NVTX's headers. A test
// compares it with them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lastref::nvtx::abi {

// Of one call that marks something. `size` tells which fields are there.
struct event_attributes {
    std::uint16_t version;
    std::uint16_t size;
    std::uint32_t category;
    std::int32_t color_type;
    std::uint32_t color;
    std::int32_t payload_type;
    std::int32_t payloads;  // of type `extended`: how many there are
    std::uint64_t payload;
    std::int32_t message_type;
    void const* message;
};

enum payload_type : std::int32_t {
    no_payload = 0,
    payload_u64 = 1,
    payload_i64 = 2,
    payload_double = 3,
    payload_u32 = 4,
    payload_i32 = 5,
    payload_float = 6,
    payload_extended = static_cast<std::int32_t>(0xDFBD0009),
};
enum message_type : std::int32_t { no_message = 0, message_ascii = 1, message_wide = 2, message_registered = 3 };

struct resource_attributes {
    std::uint16_t version;
    std::uint16_t size;
    std::int32_t identifier_type;
    std::uint64_t identifier;
    std::int32_t message_type;
    void const* message;
};

// Class in the upper half: 1 generic, 4 CUDA's driver, 5 CUDA's runtime.
enum resource_type : std::int32_t {
    generic_pointer = 0x10001,
    generic_handle = 0x10002,
    native_thread = 0x10003,
    cuda_device = 0x40001,
    cuda_context = 0x40002,
    cuda_stream = 0x40003,
    cuda_event = 0x40004,
    runtime_device = 0x50000,
    runtime_stream = 0x50001,
    runtime_event = 0x50002,
};

// What an extended payload points to, an array of them.
struct payload_data {
    std::uint64_t schema;
    std::size_t size;
    void const* payload;
};
inline constexpr std::uint64_t first_static_schema = std::uint64_t{1} << 24;

// A tool is given this, and gets from it the tables of the functions that it may replace: pointers to the places that
// the program calls through. Every object that was compiled with NVTX's headers has places of its own.
using function = void (*)();
using function_table = function**;
using get_export_table = void const* (*)(std::uint32_t);
using initialize = int (*)(get_export_table);

struct callbacks_table {
    std::size_t size;
    int (*module_table)(int module, function_table* table, unsigned* size);
};
inline constexpr std::uint32_t callbacks_table_id = 1;

enum module : int { core = 1, cuda = 2, opencl = 3, cudart = 4, core2 = 5, sync = 6, modules = 7 };

// Places in the tables. A function on wide characters is one behind its twin.
enum core_id : unsigned {
    mark_ex = 1,
    mark_a = 2,
    range_start_ex = 4,
    range_start_a = 5,
    range_end = 7,
    range_push_ex = 8,
    range_push_a = 9,
    range_pop = 11,
    name_category_a = 12,
    name_os_thread_a = 14,
};
enum core2_id : unsigned {
    domain_mark_ex = 1,
    domain_range_start_ex = 2,
    domain_range_end = 3,
    domain_range_push_ex = 4,
    domain_range_pop = 5,
    domain_resource_create = 6,
    domain_name_category_a = 8,
    domain_register_string_a = 10,
    domain_create_a = 12,
};
enum cuda_id : unsigned { name_device_a = 1, name_context_a = 3, name_stream_a = 5, name_event_a = 7 };
enum cudart_id : unsigned { name_runtime_device_a = 1, name_runtime_stream_a = 3, name_runtime_event_a = 5 };
inline constexpr unsigned most_functions = 16;  // of a table

}  // namespace lastref::nvtx::abi
