// How quantities, calls and people's objects are put into words.
#pragma once

#include "analyzer/model/object.h"
#include "analyzer/store/trace.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace lastref::findings {

std::string bytes_text(std::uint64_t bytes);                          // "3 MiB", "1.5 KiB"
std::string counted(std::int64_t count);                              // "12,345"
std::string counted(std::uint64_t count, std::string_view singular);  // "1 buffer", "2 buffers"
std::string time_text(store::time_ns at);                             // "0.123 s"
std::string duration_text(store::time_ns length);                     // "12 ms"
std::string handle_text(store::handle handle);                        // "0x7f12"

// "CUDA_ERROR_INVALID_CONTEXT (201)"
std::string result_text(std::int64_t result);

std::string process_name(store::process const& p);  // "demo (pid 4711)"
std::string how_it_ended(store::process const& p);  // "killed by signal 9"
std::string thread_name(store::thread const& t);    // "the main thread", "thread "worker" (4712)"

// "0x50", or with the name that the program gave what it stands for: "\"copy\" (0x50)".
std::string handle_text(store::handle handle, std::string_view name);

// A name in double quotes. Programs put whole sentences into names: in running text they are cut.
std::string quoted(std::string_view name);

// "stream 0x50", "the legacy default stream", "the per-thread default stream of the main thread". `name` is what the
// program calls a created stream, `thread` the thread of a per-thread one.
std::string stream_text(model::stream_identity const& stream, std::string_view name, std::string_view thread);

}  // namespace lastref::findings
