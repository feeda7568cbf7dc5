// Every wrapper and exported symbol, made from driver_api.def.
#include "collector/preload/hooks/wrappers.h"

#include "collector/preload/driver/driver.h"
#include "collector/preload/hooks/captures.h"
#include "collector/preload/hooks/hand_written.h"
#include "collector/preload/record/call.h"

namespace {

namespace spool = lastref::spool;
using namespace lastref::preload;
using hooks::abi;
using hooks::as_u64;
using hooks::read64_if;
using hooks::read_if;

// The captures of a line serve twice: for the record, and for what is noted after a success.
enum class pass { record, after };

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses)
#define STREAM(e) \
    if constexpr (which == pass::record) record.stream = as_u64(e);
#define OBJECT(e) \
    if constexpr (which == pass::record) record.object = as_u64(e);
#define OTHER(e) \
    if constexpr (which == pass::record) record.other = as_u64(e);
#define SIZE(e) \
    if constexpr (which == pass::record) record.size = as_u64(e);
#define EXTRA(e) \
    if constexpr (which == pass::record) record.extra = as_u64(e);
#define AFTER(e) \
    if constexpr (which == pass::after) e;

#define LASTREF_EXPAND(...) __VA_ARGS__
#define LASTREF_CALL_CALL(name, streams, ...) real(__VA_ARGS__)
#define LASTREF_CALL_HAND(name, streams, ...) \
    hooks::hand::name<hooks::default_stream::streams>(real __VA_OPT__(, ) __VA_ARGS__)

#define LASTREF_ABI(name, symbol, streams, kind, style, parameters, arguments, ...)                                    \
    extern "C" __attribute__((visibility("default"))) CUresult symbol parameters {                                     \
        using namespace lastref::preload::hooks;                                                                       \
        constexpr call_traits traits = traits_of(abi::symbol);                                                         \
        auto const real = driver::entry_point<decltype(&::symbol)>(abi::symbol);                                       \
        if (real == nullptr) [[unlikely]]                                                                              \
            return driver::missing();                                                                                  \
        [[maybe_unused]] auto const captures = [&]<pass which>([[maybe_unused]] spool::call_record& record,            \
                                                               [[maybe_unused]] bool ok) { __VA_ARGS__ };              \
        recorded_call call = recorded_call::enter<traits>();                                                           \
        if constexpr (traits.order == lastref::event_order::begin_mark)                                                \
            call.mark_begin<traits>([&](spool::call_record& r) { captures.operator()<pass::record>(r, false); });      \
        CUresult const result = LASTREF_CALL_##style(name, streams, LASTREF_EXPAND arguments);                         \
        if (call.recording()) [[likely]] {                                                                             \
            bool const ok = result == CUDA_SUCCESS;                                                                    \
            call.leave<traits>(static_cast<unsigned>(result), __builtin_frame_address(0), __builtin_return_address(0), \
                               [&](spool::call_record& r) { captures.operator()<pass::record>(r, ok); });              \
            if (ok) {                                                                                                  \
                spool::call_record unused;                                                                             \
                captures.operator()<pass::after>(unused, true);                                                        \
            }                                                                                                          \
            if (process::the.options.verify_context) [[unlikely]]                                                      \
                verify_context();                                                                                      \
        }                                                                                                              \
        return result;                                                                                                 \
    }
#include "collector/preload/hooks/expand.h"
// NOLINTEND(bugprone-macro-parentheses)

namespace lastref::preload::hooks {
namespace {

void* const wrappers[] = {
#define LASTREF_ABI(name, symbol, ...) reinterpret_cast<void*>(&::symbol),
#include "collector/preload/hooks/expand.h"
};

}  // namespace

void* wrapper(abi id) {
    return wrappers[static_cast<std::size_t>(id)];
}

}  // namespace lastref::preload::hooks
