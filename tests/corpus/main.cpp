#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/corpus/corpus.h"

namespace lastref::corpus {
namespace {

using clock = std::chrono::steady_clock;

clock::duration start_up{};
CUcontext first_context = nullptr;

std::string rule_name(std::string text) {
    for (auto& c : text)
        if (c == '_') c = '-';
    return text;
}

}  // namespace

std::vector<corpus_case>& cases() {
    static std::vector<corpus_case> all;
    return all;
}

registration::registration(char const* rule, char const* label, char const* what, void (*run)()) {
    cases().push_back({rule_name(rule) + "." + label + "." + what, run});
}

CUcontext context() {
    return first_context;
}

void on_thread(std::function<void()> const& work) {
    workload::on_lasting_thread([&] {
        MUST(cuCtxSetCurrent(first_context));
        work();
    });
}

void on_bare_thread(std::function<void()> const& work) {
    std::thread(work).join();
}

CUdeviceptr buffer_on(CUstream on) {
    CUdeviceptr out = 0;
    MUST(cuMemAllocAsync(&out, bytes, on));
    return out;
}

CUdeviceptr used_buffer(CUstream on) {
    auto const out = buffer_on(on);
    MUST(cuMemsetD8Async(out, 1, bytes, on));
    return out;
}

void for_a_while(std::function<void(int)> const& step) {
    auto const end = clock::now() + 2 * start_up + std::chrono::milliseconds(80);
    for (int i = 0; clock::now() < end; ++i) {
        step(i);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

void destroy_payload(void* data) {
    ++*static_cast<payload*>(data)->destroyed;
}

CUuserObject user_object(payload* held, unsigned references) {
    CUuserObject out = nullptr;
    MUST(cuUserObjectCreate(&out, held, destroy_payload, references, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return out;
}

void move_into(CUgraph graph, CUuserObject object) {
    MUST(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
}

CUgraph empty_graph() {
    CUgraph out = nullptr;
    MUST(cuGraphCreate(&out, 0));
    return out;
}

CUgraphExec instantiated(CUgraph graph, unsigned long long flags) {
    CUgraphExec out = nullptr;
    MUST(cuGraphInstantiateWithFlags(&out, graph, flags));
    MUST(cuGraphDestroy(graph));
    return out;
}

}  // namespace lastref::corpus

// Cases that share memory fork before the driver is initialised: they begin by themselves.
int main(int count, char** arguments) {
    using namespace lastref::corpus;
    if (count == 2 && std::strcmp(arguments[1], "--list") == 0) {
        for (auto const& each : cases()) std::puts(each.name.c_str());
        return 0;
    }
    for (auto const& each : cases()) {
        if (count != 2 || each.name != arguments[1]) continue;
        if (each.name.rfind("ipc-order.", 0) != 0) {
            auto const begun = std::chrono::steady_clock::now();
            first_context = lastref::workload::use_first_device();
            start_up = std::chrono::steady_clock::now() - begun;
        }
        each.run();
        return lastref::workload::finish();
    }
    std::fprintf(stderr, "usage: corpus --list | corpus NAME\n");
    return 2;
}
