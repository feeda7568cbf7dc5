// The labelled corpus: small driver-API programs, each with one fault or with none, that run on the simulated driver
// and on a real GPU. One binary; `corpus NAME` runs the case of that name, which says what should be found in it:
//
//     FAULT(unordered_free, other_stream) { … }      corpus unordered-free.fault.other_stream
//     HEALTHY(unordered_free, event) { … }           corpus unordered-free.healthy.event
//
// A healthy twin looks like its rule's fault and is in order: nothing at all may be found in it, by any rule.
#pragma once

#include <cuda.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/workloads/common/facts.h"

namespace lastref::corpus {

struct corpus_case {
    std::string name;
    void (*run)();
};
std::vector<corpus_case>& cases();

struct registration {
    registration(char const* rule, char const* label, char const* what, void (*run)());
};

#define LASTREF_CORPUS_CASE(rule, label, what)                                                                \
    static void rule##_##label##_##what();                                                                    \
    static ::lastref::corpus::registration const register_##rule##_##label##_##what(#rule, #label, #what,     \
                                                                                    rule##_##label##_##what); \
    __attribute__((noinline)) static void rule##_##label##_##what()
#define FAULT(rule, what) LASTREF_CORPUS_CASE(rule, fault, what)
#define HEALTHY(rule, what) LASTREF_CORPUS_CASE(rule, healthy, what)

inline constexpr std::size_t bytes = 256 << 10;

// A stream that does not join the legacy one; destroyed at the end of its scope, without waiting.
class stream {
  public:
    explicit stream(unsigned flags = CU_STREAM_NON_BLOCKING) { MUST(cuStreamCreate(&handle_, flags)); }
    ~stream() {
        if (handle_) MUST(cuStreamDestroy(handle_));
    }
    stream(stream const&) = delete;
    operator CUstream() const { return handle_; }
    void synchronize() const { MUST(cuStreamSynchronize(handle_)); }
    void destroy() {
        MUST(cuStreamDestroy(handle_));
        handle_ = nullptr;
    }

  private:
    CUstream handle_ = nullptr;
};

class event {
  public:
    event() { MUST(cuEventCreate(&handle_, CU_EVENT_DISABLE_TIMING)); }
    ~event() { MUST(cuEventDestroy(handle_)); }
    event(event const&) = delete;
    operator CUevent() const { return handle_; }

  private:
    CUevent handle_ = nullptr;
};

// The context that main made current; threads of a case make it current themselves.
CUcontext context();
void on_thread(std::function<void()> const& work);       // with the context
void on_bare_thread(std::function<void()> const& work);  // without one

// Stream-ordered memory that was used on `on`.
CUdeviceptr used_buffer(CUstream on);
CUdeviceptr buffer_on(CUstream on);

// Repeats `step` for long enough, beside the time that the driver took to begin with, to show a trend.
void for_a_while(std::function<void(int)> const& step);

// What should not happen once a program has warmed up, and what may.
void stage_a_batch();  // pinned memory for as long as it takes
void load_code();
void take_from_the_pool();

// A user object and the counter that its destructor adds to.
struct payload {
    CUdeviceptr buffer = 0;
    std::atomic<int>* destroyed = nullptr;
};
void destroy_payload(void* data);
CUuserObject user_object(payload* held, unsigned references = 1);
void move_into(CUgraph graph, CUuserObject object);

CUgraph empty_graph();
CUgraphExec instantiated(CUgraph graph, unsigned long long flags = 0);  // and destroys the graph

}  // namespace lastref::corpus
