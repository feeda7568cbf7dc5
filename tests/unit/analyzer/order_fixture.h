// Three streams and two events, in words: what the tests of the order of work are made of.
#pragma once

#include "tests/unit/analyzer/rules_fixture.h"

namespace lastref::test {

inline constexpr std::uint64_t a = 0x50, b = 0x51, c = 0x52, event = 0x60, other_event = 0x61;
inline constexpr std::uint64_t non_blocking = 1;
inline constexpr std::uint64_t word = 0x500;

class order : public rules {
  protected:
    order() {
        main.use(context);
        worker.use(context);
        for (auto const each : {a, b, c}) main.call("cuStreamCreate", {.object = each, .extra = non_blocking});
        for (auto const each : {event, other_event}) main.call("cuEventCreate", {.object = each});
    }

    void allocate(std::uint64_t on = a) {
        main.call("cuMemAllocAsync", {.stream = on, .object = buffer, .size = mib, .stack = {"make", "main"}});
    }
    void use(std::uint64_t on = a) { main.call("cuMemsetD8Async", {.stream = on, .object = buffer, .size = 64}); }
    void record(std::uint64_t which, std::uint64_t on) { main.call("cuEventRecord", {.stream = on, .object = which}); }
    void wait(std::uint64_t on, std::uint64_t which) {
        main.call("cuStreamWaitEvent", {.stream = on, .object = which});
    }
    void free_on(std::uint64_t on, std::string_view symbol = "cuMemFreeAsync") {
        main.call(symbol, {.stream = on, .object = buffer, .stack = {"drop", "main"}});
    }
    void end() {
        for (auto const each : {a, b, c}) main.call("cuStreamDestroy_v2", {.stream = each, .object = each});
        for (auto const each : {event, other_event}) main.call("cuEventDestroy_v2", {.object = each});
    }
    void expect_ordered() {
        end();
        expect_nothing();
    }
    finding expect_unordered() {
        end();
        return only(rule::unordered_free);
    }
    // A stream that joins the legacy default stream.
    void make_blocking(std::uint64_t on) {
        main.call("cuStreamDestroy_v2", {.stream = on, .object = on});
        main.call("cuStreamCreate", {.object = on});
    }
};

}  // namespace lastref::test
