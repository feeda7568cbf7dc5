#include "analyzer/findings/wording.h"

#include <fmt/core.h>

#include <array>

namespace lastref::findings {

std::string bytes_text(std::uint64_t bytes) {
    constexpr std::array<std::string_view, 6> units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return counted(bytes, "byte");
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (value /= 1024; value >= 1023.95 && unit + 1 < units.size(); value /= 1024) ++unit;
    auto digits = fmt::format("{:.1f}", value);
    if (digits.ends_with(".0")) digits.resize(digits.size() - 2);
    return fmt::format("{} {}", digits, units[unit]);
}

std::string counted(std::int64_t count) {
    auto const digits = fmt::format("{}", count);
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        bool const between = i > 0 && digits[i - 1] != '-';
        if (between && (digits.size() - i) % 3 == 0) out += ',';
        out += digits[i];
    }
    return out;
}

std::string counted(std::uint64_t count, std::string_view singular) {
    return fmt::format("{} {}{}", counted(static_cast<std::int64_t>(count)), singular, count == 1 ? "" : "s");
}

std::string time_text(store::time_ns at) {
    return fmt::format("{:.3f} s", static_cast<double>(at) / 1e9);
}

std::string duration_text(store::time_ns length) {
    auto const ns = static_cast<double>(length);
    if (length < 10'000) return fmt::format("{} ns", length);
    if (length < 10'000'000) return fmt::format("{:.0f} µs", ns / 1e3);
    if (length < 10'000'000'000) return fmt::format("{:.0f} ms", ns / 1e6);
    return fmt::format("{:.0f} s", ns / 1e9);
}

std::string handle_text(store::handle handle) {
    return fmt::format("{:#x}", handle);
}

std::string result_text(std::int64_t result) {
    struct named {
        std::int64_t value;
        std::string_view name;
    };
    static constexpr std::array names{
        named{1, "CUDA_ERROR_INVALID_VALUE"},
        named{2, "CUDA_ERROR_OUT_OF_MEMORY"},
        named{3, "CUDA_ERROR_NOT_INITIALIZED"},
        named{4, "CUDA_ERROR_DEINITIALIZED"},
        named{100, "CUDA_ERROR_NO_DEVICE"},
        named{101, "CUDA_ERROR_INVALID_DEVICE"},
        named{201, "CUDA_ERROR_INVALID_CONTEXT"},
        named{216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE"},
        named{400, "CUDA_ERROR_INVALID_HANDLE"},
        named{401, "CUDA_ERROR_ILLEGAL_STATE"},
        named{600, "CUDA_ERROR_NOT_READY"},
        named{700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        named{702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
        named{704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
        named{708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE"},
        named{709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
        named{710, "CUDA_ERROR_ASSERT"},
        named{712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
        named{713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"},
        named{714, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
        named{715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
        named{716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
        named{717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
        named{718, "CUDA_ERROR_INVALID_PC"},
        named{719, "CUDA_ERROR_LAUNCH_FAILED"},
        named{800, "CUDA_ERROR_NOT_PERMITTED"},
        named{801, "CUDA_ERROR_NOT_SUPPORTED"},
        named{900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
        named{901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
        named{902, "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
        named{903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
        named{904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
        named{905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
        named{906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
        named{907, "CUDA_ERROR_CAPTURED_EVENT"},
        named{908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
        named{910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"},
        named{999, "CUDA_ERROR_UNKNOWN"},
    };
    for (auto const& each : names)
        if (each.value == result) return fmt::format("{} ({})", each.name, result);
    return fmt::format("error {}", result);
}

std::string process_name(store::process const& p) {
    std::string_view const path = p.executable;
    auto const name = path.substr(path.rfind('/') + 1);
    return fmt::format("{} (pid {})", name.empty() ? std::string_view("a process") : name, p.pid);
}

std::string how_it_ended(store::process const& p) {
    switch (p.end) {
        case store::process_end::running:
            return "still running";
        case store::process_end::exec:
            return "replaced by another program";
        case store::process_end::clean:
            return p.exit_status.value_or(0) == 0 ? "ended normally"
                                                  : fmt::format("ended with status {}", *p.exit_status);
        case store::process_end::abrupt:
            break;
    }
    if (p.exit_signal) return fmt::format("killed by signal {}", *p.exit_signal);
    if (p.exit_status) return fmt::format("_exit or quick_exit with status {}", *p.exit_status);
    return "killed, crashed or _exit";
}

std::string thread_name(store::thread const& t) {
    if (t.main) return "the main thread";
    if (t.name.empty()) return fmt::format("thread {}", t.tid);
    return fmt::format("thread {} ({})", findings::quoted(t.name), t.tid);
}

std::string quoted(std::string_view name) {
    constexpr std::size_t most = 80;
    if (name.size() <= most) return fmt::format("\"{}\"", name);
    auto end = most;
    while (end > most - 4 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
    return fmt::format("\"{}…\"", name.substr(0, end));
}

std::string handle_text(store::handle handle, std::string_view name) {
    return name.empty() ? handle_text(handle) : fmt::format("{} ({})", findings::quoted(name), handle_text(handle));
}

std::string stream_text(model::stream_identity const& stream, std::string_view name, std::string_view thread) {
    switch (stream.kind) {
        case model::stream_kind::none:
            return "no stream";
        case model::stream_kind::legacy:
            return "the legacy default stream";
        case model::stream_kind::created:
            return fmt::format("stream {}", handle_text(stream.handle, name));
        case model::stream_kind::per_thread:
            break;
    }
    return fmt::format("the per-thread default stream of {}", thread);
}

}  // namespace lastref::findings
