// A storm of driver calls that are as short as driver calls get, to see what recording adds to each:
//
//     storm [--workloads pairs,scattered,objects,launches] [--threads 1,8,32] [--repetitions 7] [--scale 1.0] [--depth
//     20]
//
//     pairs      cuMemAllocAsync + cuMemFreeAsync on a stream a thread
//     scattered  the same pairs, each from the next of 1024 call paths: a call stack that is never the last one again
//     objects    cuUserObjectCreate + cuUserObjectRelease, whose destructor runs
//     launches   cuGraphLaunch of a graph with one empty node
//
// The driver is found by dlopen and dlsym, so that the same program runs on a GPU, on the simulated and on the null
// driver. Every repetition runs twice: through what dlsym returned, which is the recorder's where the program is
// recorded, and through the addresses in the driver's own symbol table, which nobody stands in front of. So the two
// figures come from the same process, a few milliseconds apart, and a machine whose speed changes changes both.
//
// Prints JSON: for each repetition nanoseconds an iteration (a pair, an object, a launch) either way (`ns`, `bare_ns`),
// and the medians. The time is the mean over the threads, which start together.
#include <cuda.h>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace lastref::bench {
namespace {

using clock = std::chrono::steady_clock;

// The driver's functions by their ABI names, with the signatures of cuda.h.
struct driver_functions {
    CUresult (*init)(unsigned int);
    CUresult (*driver_version)(int*);
    CUresult (*device_get)(CUdevice*, int);
    CUresult (*primary_retain)(CUcontext*, CUdevice);
    CUresult (*context_set)(CUcontext);
    CUresult (*stream_create)(CUstream*, unsigned int);
    CUresult (*stream_synchronize)(CUstream);
    CUresult (*alloc_async)(CUdeviceptr*, std::size_t, CUstream);
    CUresult (*free_async)(CUdeviceptr, CUstream);
    CUresult (*object_create)(CUuserObject*, void*, CUhostFn, unsigned int, unsigned int);
    CUresult (*object_release)(CUuserObject, unsigned int);
    CUresult (*graph_create)(CUgraph*, unsigned int);
    CUresult (*graph_add_empty)(CUgraphNode*, CUgraph, CUgraphNode const*, std::size_t);
    CUresult (*graph_instantiate)(CUgraphExec*, CUgraph, unsigned long long);
    CUresult (*graph_launch)(CUgraphExec, CUstream);
};

[[noreturn]] void give_up(char const* what, int status) {
    std::fprintf(stderr, "storm: %s: %d\n", what, status);
    std::exit(1);
}

void must(CUresult status, char const* what) {
    if (status != CUDA_SUCCESS) give_up(what, static_cast<int>(status));
}

// The address of a symbol in a library's own dynamic symbol table, whatever stands before it in the search order.
class symbol_table {
  public:
    explicit symbol_table(void* library) {
        link_map* map = nullptr;
        if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) give_up(dlerror(), 0);
        base_ = map->l_addr;
        for (auto const* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
            if (entry->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<ElfW(Sym) const*>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_STRTAB) names_ = reinterpret_cast<char const*>(entry->d_un.d_ptr);
            if (entry->d_tag == DT_STRSZ) names_size_ = entry->d_un.d_val;
        }
    }

    // The string table follows the symbols in every library that linkers make: their number stands nowhere else.
    void* operator()(char const* name) const {
        auto const* const end = reinterpret_cast<ElfW(Sym) const*>(names_);
        for (auto const* symbol = symbols_; symbol < end && symbol->st_name < names_size_; ++symbol)
            if (symbol->st_shndx != SHN_UNDEF && std::string_view(name) == names_ + symbol->st_name)
                return reinterpret_cast<void*>(base_ + symbol->st_value);
        return nullptr;
    }

  private:
    ElfW(Addr) base_ = 0;
    ElfW(Sym) const* symbols_ = nullptr;
    char const* names_ = nullptr;
    std::size_t names_size_ = 0;
};

template <typename LookUp>
driver_functions find_all(LookUp look_up) {
    driver_functions cu{};
    auto const find = [&look_up](char const* name, auto& function) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(look_up(name));
        if (!function) give_up(name, 0);
    };
    find("cuInit", cu.init);
    find("cuDriverGetVersion", cu.driver_version);
    find("cuDeviceGet", cu.device_get);
    find("cuDevicePrimaryCtxRetain", cu.primary_retain);
    find("cuCtxSetCurrent", cu.context_set);
    find("cuStreamCreate", cu.stream_create);
    find("cuStreamSynchronize", cu.stream_synchronize);
    find("cuMemAllocAsync", cu.alloc_async);
    find("cuMemFreeAsync", cu.free_async);
    find("cuUserObjectCreate", cu.object_create);
    find("cuUserObjectRelease", cu.object_release);
    find("cuGraphCreate", cu.graph_create);
    find("cuGraphAddEmptyNode", cu.graph_add_empty);
    find("cuGraphInstantiateWithFlags", cu.graph_instantiate);
    find("cuGraphLaunch", cu.graph_launch);
    return cu;
}

struct drivers {
    driver_functions found;  // by dlsym: the recorder's, where there is one
    driver_functions bare;   // the driver's own
};

drivers load_driver() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) give_up(dlerror(), 0);
    return {find_all([library](char const* name) { return dlsym(library, name); }), find_all(symbol_table(library))};
}

struct session {
    driver_functions cu{};
    driver_functions bare{};
    CUcontext context = nullptr;
    int version = 0;
};

session open_session() {
    auto const [found, bare] = load_driver();
    session now{.cu = found, .bare = bare};
    CUdevice device = 0;
    must(now.cu.init(0), "cuInit");
    must(now.cu.driver_version(&now.version), "cuDriverGetVersion");
    must(now.cu.device_get(&device, 0), "cuDeviceGet");
    must(now.cu.primary_retain(&now.context, device), "cuDevicePrimaryCtxRetain");
    return now;
}

// What one thread works with, made before the clock starts.
struct worker {
    driver_functions cu;
    CUstream stream = nullptr;
    CUgraphExec executable = nullptr;
};

CUgraphExec make_empty_graph(driver_functions const& cu) {
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec executable = nullptr;
    must(cu.graph_create(&graph, 0), "cuGraphCreate");
    must(cu.graph_add_empty(&node, graph, nullptr, 0), "cuGraphAddEmptyNode");
    must(cu.graph_instantiate(&executable, graph, 0), "cuGraphInstantiateWithFlags");
    return executable;
}

worker make_worker(session const& now) {
    worker own{.cu = now.cu};
    must(now.cu.context_set(now.context), "cuCtxSetCurrent");
    must(now.cu.stream_create(&own.stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    own.executable = make_empty_graph(now.cu);
    return own;
}

CUresult pair(worker const& own) {
    CUdeviceptr pointer = 0;
    if (auto const status = own.cu.alloc_async(&pointer, 4096, own.stream); status != CUDA_SUCCESS) return status;
    return own.cu.free_async(pointer, own.stream);
}

CUresult descend(worker const& own, unsigned int levels, unsigned int path);

// Two functions that do the same: which of them a level goes through tells call paths apart.
[[gnu::noinline]] CUresult by_the_left(worker const& own, unsigned int levels, unsigned int path) {
    auto const status = descend(own, levels, path);
    asm volatile("nop" ::: "memory");  // also keeps the linker from folding the two
    return status;
}

[[gnu::noinline]] CUresult by_the_right(worker const& own, unsigned int levels, unsigned int path) {
    auto const status = descend(own, levels, path);
    asm volatile("" ::: "memory");
    return status;
}

CUresult descend(worker const& own, unsigned int levels, unsigned int path) {
    if (levels == 0) return pair(own);
    return path & 1 ? by_the_left(own, levels - 1, path >> 1) : by_the_right(own, levels - 1, path >> 1);
}

CUresult scattered_pair(worker const& own) {
    thread_local unsigned int path = 0;
    return descend(own, 10, path++);
}

void CUDA_CB do_nothing(void*) {}

CUresult object(worker const& own) {
    static int payload = 0;
    CUuserObject made = nullptr;
    auto const status = own.cu.object_create(&made, &payload, do_nothing, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    return status != CUDA_SUCCESS ? status : own.cu.object_release(made, 1);
}

CUresult launch(worker const& own) {
    return own.cu.graph_launch(own.executable, own.stream);
}

struct workload {
    std::string_view name;
    CUresult (*iterate)(worker const&);
    int levels;      // frames that it adds itself
    int iterations;  // of one thread alone; fewer where many threads share the driver's locks
};

constexpr workload workloads[] = {{"pairs", pair, 0, 4000},
                                  {"scattered", scattered_pair, 10, 4000},
                                  {"objects", object, 0, 8000},
                                  {"launches", launch, 0, 8000}};

// Nanoseconds an iteration: by the clock, and of the thread's own processor time, which a busy machine spoils less.
struct timing {
    double wall = 0;
    double cpu = 0;
};

double thread_time() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

timing run_once(workload const& work, worker const& own, int iterations, std::barrier<>& start) {
    start.arrive_and_wait();
    auto const cpu_begin = thread_time();
    auto const begin = clock::now();
    for (int i = 0; i < iterations; ++i) must(work.iterate(own), work.name.data());
    std::chrono::duration<double, std::nano> const elapsed = clock::now() - begin;
    auto const cpu = thread_time() - cpu_begin;
    must(own.cu.stream_synchronize(own.stream), "cuStreamSynchronize");
    return {elapsed.count() / iterations, cpu / iterations};
}

// `depth` frames deeper; what comes after the call keeps it from being a jump.
[[gnu::noinline]] timing run_below(int depth, workload const& work, worker const& own, int iterations,
                                   std::barrier<>& start) {
    auto const nanoseconds =
        depth > 0 ? run_below(depth - 1, work, own, iterations, start) : run_once(work, own, iterations, start);
    asm volatile("" ::: "memory");
    return nanoseconds;
}

struct settings {
    std::string workloads = "pairs,scattered,objects,launches";
    std::string threads = "1,8,32";
    int repetitions = 7;
    double scale = 1;
    int depth = 20;
};

struct result {
    workload const* work = nullptr;
    int threads = 0;
    int iterations = 0;
    std::vector<timing> nanoseconds;  // one a repetition
    std::vector<timing> bare;         // the same, past the recorder
};

using timings = std::vector<timing>;

// The mean over the threads of each repetition but the first, which warms up: pools, caches, the recorder's pages.
timings mean(std::vector<timings> const& threads) {
    timings means(threads.front().size() - 1);
    for (auto const& one : threads) {
        for (std::size_t i = 0; i < means.size(); ++i) {
            means[i].wall += one[i + 1].wall / static_cast<double>(threads.size());
            means[i].cpu += one[i + 1].cpu / static_cast<double>(threads.size());
        }
    }
    return means;
}

result measure(session const& now, workload const& work, int threads, settings const& chosen) {
    auto const divisor = threads == 1 ? 1.0 : threads <= 8 ? 2.0 : 8.0;
    auto const iterations = std::max(1, static_cast<int>(work.iterations * chosen.scale / divisor));
    std::vector<timings> times(static_cast<std::size_t>(threads)), bare(times.size());
    std::barrier<> start(threads);
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < times.size(); ++i) {
        running.emplace_back([&, i] {
            auto const own = make_worker(now);
            auto past_the_recorder = own;
            past_the_recorder.cu = now.bare;
            auto const depth = chosen.depth - work.levels;
            for (int repetition = 0; repetition <= chosen.repetitions; ++repetition) {
                bare[i].push_back(run_below(depth, work, past_the_recorder, iterations, start));
                times[i].push_back(run_below(depth, work, own, iterations, start));
            }
        });
    }
    for (auto& thread : running) thread.join();
    return {
        .work = &work, .threads = threads, .iterations = iterations, .nanoseconds = mean(times), .bare = mean(bare)};
}

double median(timings const& repetitions, double timing::*clock_kind) {
    std::vector<double> values;
    for (auto const& one : repetitions) values.push_back(one.*clock_kind);
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void print_list(char const* name, timings const& values, double timing::*clock_kind) {
    std::printf("\"%s\": [", name);
    for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.2f", i ? ", " : "", values[i].*clock_kind);
    std::printf("]");
}

void print(session const& now, std::vector<result> const& results) {
    std::printf("{\"driver_version\": %d, \"results\": [", now.version);
    char const* separator = "\n";
    for (auto const& one : results) {
        std::printf("%s {\"workload\": \"%s\", \"threads\": %d, \"iterations\": %d, ", separator, one.work->name.data(),
                    one.threads, one.iterations);
        std::printf("\"median_ns\": %.2f, \"median_cpu_ns\": %.2f, ", median(one.nanoseconds, &timing::wall),
                    median(one.nanoseconds, &timing::cpu));
        print_list("ns", one.nanoseconds, &timing::wall);
        std::printf(", ");
        print_list("bare_ns", one.bare, &timing::wall);
        std::printf(", ");
        print_list("cpu_ns", one.nanoseconds, &timing::cpu);
        std::printf(", ");
        print_list("bare_cpu_ns", one.bare, &timing::cpu);
        std::printf("}");
        separator = ",\n";
    }
    std::printf("\n]}\n");
}

std::vector<std::string> split(std::string const& text) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        auto const end = std::min(text.find(',', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

settings parse(int count, char** arguments) {
    settings chosen;
    for (int i = 1; i + 1 < count; i += 2) {
        std::string_view const name = arguments[i];
        if (name == "--workloads")
            chosen.workloads = arguments[i + 1];
        else if (name == "--threads")
            chosen.threads = arguments[i + 1];
        else if (name == "--repetitions")
            chosen.repetitions = std::atoi(arguments[i + 1]);
        else if (name == "--scale")
            chosen.scale = std::atof(arguments[i + 1]);
        else if (name == "--depth")
            chosen.depth = std::atoi(arguments[i + 1]);
        else
            give_up("unknown option", i);
    }
    if (count % 2 == 0 || chosen.repetitions < 1) give_up("wrong options", count);
    return chosen;
}

workload const& find_workload(std::string_view name) {
    for (auto const& work : workloads) {
        if (work.name == name) return work;
    }
    give_up("unknown workload", 0);
}

}  // namespace
}  // namespace lastref::bench

int main(int count, char** arguments) {
    using namespace lastref::bench;
    auto const chosen = parse(count, arguments);
    auto const now = open_session();
    std::vector<result> results;
    for (auto const& name : split(chosen.workloads)) {
        for (auto const& threads : split(chosen.threads))
            results.push_back(measure(now, find_workload(name), std::max(1, std::atoi(threads.c_str())), chosen));
    }
    print(now, results);
}
