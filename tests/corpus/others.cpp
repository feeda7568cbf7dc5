// Callbacks, queues, pools and sharing: cuda-call-in-callback, slow-callback, deferred-backlog, pool-retention,
// ipc-order.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>
#include <cstring>

#include "tests/corpus/corpus.h"

namespace lastref::corpus {
namespace {

using std::chrono::milliseconds;
using workload::fact;

std::atomic<int> ran{0};

void run_host_function(CUhostFn function, void* data) {
    stream const on;
    MUST(cuLaunchHostFunc(on, function, data));
    on.synchronize();
}

}  // namespace

FAULT(cuda_call_in_callback, host_function_frees_pinned_memory) {
    static void* pinned = nullptr;
    MUST(cuMemAllocHost(&pinned, bytes));
    run_host_function([](void*) { fact("free", cuMemFreeHost(pinned), CUDA_ERROR_NOT_PERMITTED); }, nullptr);
}

FAULT(cuda_call_in_callback, destructor_frees_its_buffer) {
    static CUdeviceptr buffer = 0;
    MUST(cuMemAlloc(&buffer, bytes));
    CUuserObject object = nullptr;
    auto const destroy = [](void*) {
        fact("free", cuMemFree(buffer), CUDA_ERROR_NOT_PERMITTED);
        ++ran;
    };
    MUST(cuUserObjectCreate(&object, &buffer, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    MUST(cuUserObjectRelease(object, 1));
    workload::becomes(ran, 1);
    MUST(cuMemFree(buffer));
}

HEALTHY(cuda_call_in_callback, freed_by_the_thread_that_is_told) {
    void* pinned = nullptr;
    MUST(cuMemAllocHost(&pinned, bytes));
    run_host_function([](void*) { ++ran; }, nullptr);
    workload::becomes(ran, 1);
    MUST(cuMemFreeHost(pinned));
}

HEALTHY(cuda_call_in_callback, another_thread_works_meanwhile) {
    stream const on;
    CUdeviceptr buffer = 0;
    auto const wait = [](void*) {
        while (ran == 0) std::this_thread::yield();
    };
    MUST(cuLaunchHostFunc(on, wait, nullptr));
    MUST(cuMemAllocAsync(&buffer, bytes, CU_STREAM_PER_THREAD));
    MUST(cuMemFreeAsync(buffer, CU_STREAM_PER_THREAD));
    ++ran;
    on.synchronize();
}

FAULT(slow_callback, host_function_sleeps) {
    run_host_function([](void*) { std::this_thread::sleep_for(milliseconds(80)); }, nullptr);
}

FAULT(slow_callback, destructor_waits) {
    static int word = 0;
    CUuserObject object = nullptr;
    auto const destroy = [](void*) {
        std::this_thread::sleep_for(milliseconds(80));
        ++ran;
    };
    MUST(cuUserObjectCreate(&object, &word, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    MUST(cuUserObjectRelease(object, 1));
    workload::becomes(ran, 1);
    workload::give_it_time();
}

HEALTHY(slow_callback, signals_only) {
    run_host_function([](void*) { ++ran; }, nullptr);
    std::this_thread::sleep_for(milliseconds(80));
}

HEALTHY(slow_callback, many_short_ones) {
    stream const on;
    for (int i = 0; i < 100; ++i)
        MUST(cuLaunchHostFunc(
            on, [](void*) { ++ran; }, nullptr));
    on.synchronize();
}

namespace {

// Memory whose user object is released at once: its destructor hands it on.
CUdeviceptr handed_on() {
    CUdeviceptr buffer = 0;
    CUuserObject object = nullptr;
    int const before = ran;
    MUST(cuMemAlloc(&buffer, bytes));
    MUST(cuUserObjectCreate(
        &object, reinterpret_cast<void*>(buffer), [](void*) { ++ran; }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    MUST(cuUserObjectRelease(object, 1));
    workload::becomes(ran, before + 1);
    return buffer;
}

void drain(std::vector<CUdeviceptr>& queue) {
    for (auto const buffer : queue) MUST(cuMemFree(buffer));
    queue.clear();
}

}  // namespace

FAULT(deferred_backlog, drained_at_the_end) {
    std::vector<CUdeviceptr> queue;
    for (int i = 0; i < 12; ++i) queue.push_back(handed_on());
    std::this_thread::sleep_for(milliseconds(350));
    drain(queue);
}

FAULT(deferred_backlog, drained_when_something_else_comes) {
    std::vector<CUdeviceptr> queue;
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 10; ++i) queue.push_back(handed_on());
        std::this_thread::sleep_for(milliseconds(300));
        drain(queue);
    }
}

HEALTHY(deferred_backlog, drained_each_step) {
    std::vector<CUdeviceptr> queue;
    for (int i = 0; i < 12; ++i) {
        queue.push_back(handed_on());
        drain(queue);
    }
    std::this_thread::sleep_for(milliseconds(350));
}

HEALTHY(deferred_backlog, a_few_wait) {
    std::vector<CUdeviceptr> queue;
    for (int i = 0; i < 4; ++i) queue.push_back(handed_on());
    std::this_thread::sleep_for(milliseconds(350));
    drain(queue);
}

namespace {

CUmemoryPool make_pool(CUmemAllocationHandleType shared_as = CU_MEM_HANDLE_TYPE_NONE) {
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.handleTypes = shared_as;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemoryPool out = nullptr;
    MUST(cuMemPoolCreate(&out, &props));
    return out;
}

CUdeviceptr from_pool(CUmemoryPool pool, CUstream on) {
    CUdeviceptr out = 0;
    MUST(cuMemAllocFromPoolAsync(&out, bytes, pool, on));
    return out;
}

}  // namespace

FAULT(pool_retention, trimmed_with_a_free_pending) {
    stream const on;
    auto const pool = make_pool();
    MUST(cuMemFreeAsync(from_pool(pool, on), on));
    MUST(cuMemPoolTrimTo(pool, 0));
    on.synchronize();
    MUST(cuMemPoolDestroy(pool));
}

FAULT(pool_retention, destroyed_in_use) {
    stream const on;
    auto const pool = make_pool();
    auto const buffer = from_pool(pool, on);
    MUST(cuMemPoolDestroy(pool));
    MUST(cuMemFreeAsync(buffer, on));
    on.synchronize();
}

HEALTHY(pool_retention, trimmed_after_a_wait) {
    stream const on;
    auto const pool = make_pool();
    MUST(cuMemFreeAsync(from_pool(pool, on), on));
    on.synchronize();
    MUST(cuMemPoolTrimTo(pool, 0));
    MUST(cuMemPoolDestroy(pool));
}

HEALTHY(pool_retention, trimmed_again_after_a_wait) {
    stream const on;
    auto const pool = make_pool();
    MUST(cuMemFreeAsync(from_pool(pool, on), on));
    MUST(cuMemPoolTrimTo(pool, 0));
    on.synchronize();
    MUST(cuMemPoolTrimTo(pool, 0));
    MUST(cuMemPoolDestroy(pool));
}

namespace {

// Two processes: the exporter is a child that forks off before the driver is initialised. Data, and then words of one
// byte, go over a socket.
class peer {
  public:
    explicit peer(int socket) : socket_(socket) {}

    template <class Data>
    void send(Data const& data, int file = -1) const {
        iovec part{const_cast<Data*>(&data), sizeof data};
        char control[CMSG_SPACE(sizeof(int))]{};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        if (file >= 0) {
            message.msg_control = control;
            message.msg_controllen = sizeof control;
            auto* const header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(sizeof(int));
            std::memcpy(CMSG_DATA(header), &file, sizeof file);
        }
        fact("sent", sendmsg(socket_, &message, 0), static_cast<long long>(sizeof data));
    }

    template <class Data>
    Data receive(int* file = nullptr) const {
        Data data{};
        iovec part{&data, sizeof data};
        char control[CMSG_SPACE(sizeof(int))]{};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        fact("received", recvmsg(socket_, &message, MSG_WAITALL), static_cast<long long>(sizeof data));
        auto const* const header = CMSG_FIRSTHDR(&message);
        if (file != nullptr && header != nullptr) std::memcpy(file, CMSG_DATA(header), sizeof *file);
        return data;
    }

    void tell() const { send('.'); }
    void wait() const { receive<char>(); }

  private:
    int socket_;
};

void in_two_processes(void (*exporter)(peer const&), void (*importer)(peer const&)) {
    int sockets[2];
    fact("sockets", socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    auto const child = fork();
    if (child == 0) {
        workload::use_first_device();
        exporter(peer(sockets[0]));
        std::exit(workload::finish());
    }
    workload::use_first_device();
    importer(peer(sockets[1]));
    int status = 0;
    waitpid(child, &status, 0);
    fact("exporter", status, 0);
}

void export_memory(peer const& to) {
    CUdeviceptr buffer = 0;
    CUipcMemHandle handle{};
    MUST(cuMemAlloc(&buffer, bytes));
    MUST(cuIpcGetMemHandle(&handle, buffer));
    to.send(handle);
    to.wait();
    MUST(cuMemFree(buffer));
}

void export_pool(peer const& to) {
    stream const on;
    auto const pool = make_pool(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    auto const buffer = from_pool(pool, on);
    on.synchronize();
    int file = -1;
    CUmemPoolPtrExportData data{};
    MUST(cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    MUST(cuMemPoolExportPointer(&data, buffer));
    to.send(data, file);
    close(file);
    to.wait();
    MUST(cuMemFreeAsync(buffer, on));
    on.synchronize();
    MUST(cuMemPoolDestroy(pool));
}

struct imported {
    explicit imported(peer const& from) {
        int file = -1;
        auto data = from.receive<CUmemPoolPtrExportData>(&file);
        auto* const handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(file));
        MUST(cuMemPoolImportFromShareableHandle(&pool, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        MUST(cuMemPoolImportPointer(&pointer, pool, &data));
        close(file);
    }
    CUmemoryPool pool = nullptr;
    CUdeviceptr pointer = 0;
};

CUdeviceptr open(CUipcMemHandle handle) {
    CUdeviceptr out = 0;
    MUST(cuIpcOpenMemHandle(&out, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    return out;
}

}  // namespace

FAULT(ipc_order, opened_twice_closed_once) {
    in_two_processes(export_memory, [](peer const& from) {
        auto const handle = from.receive<CUipcMemHandle>();
        open(handle);
        MUST(cuIpcCloseMemHandle(open(handle)));
        from.tell();
    });
}

FAULT(ipc_order, exporter_frees_first) {
    in_two_processes(
        [](peer const& to) {
            export_memory(to);
            to.tell();
        },
        [](peer const& from) {
            auto const pointer = open(from.receive<CUipcMemHandle>());
            from.tell();
            from.wait();
            cuIpcCloseMemHandle(pointer);
        });
}

FAULT(ipc_order, pool_destroyed_before_its_pointers) {
    in_two_processes(export_pool, [](peer const& from) {
        imported const memory(from);
        fact("destroy", cuMemPoolDestroy(memory.pool), CUDA_ERROR_INVALID_VALUE);
        MUST(cuMemFree(memory.pointer));
        from.tell();
    });
}

HEALTHY(ipc_order, closed_as_often_as_opened) {
    in_two_processes(export_memory, [](peer const& from) {
        auto const handle = from.receive<CUipcMemHandle>();
        auto const first = open(handle), second = open(handle);
        MUST(cuIpcCloseMemHandle(second));
        MUST(cuIpcCloseMemHandle(first));
        from.tell();
    });
}

HEALTHY(ipc_order, pointer_then_pool_then_exporter) {
    in_two_processes(export_pool, [](peer const& from) {
        imported const memory(from);
        MUST(cuMemFree(memory.pointer));
        MUST(cuMemPoolDestroy(memory.pool));
        from.tell();
    });
}

// Reported on with the end of warm-up that the runner tells by this variable, in seconds.
namespace {

void until_warm() {
    auto const* const told = std::getenv("CORPUS_WARM_UP");
    std::this_thread::sleep_for(std::chrono::duration<double>(told ? std::atof(told) : 0.2));
}

}  // namespace

void stage_a_batch() {
    void* staging = nullptr;
    MUST(cuMemAllocHost(&staging, bytes));
    MUST(cuMemFreeHost(staging));
}

void load_code() {
    static char const code[] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    CUmodule module = nullptr;
    MUST(cuModuleLoadData(&module, code));
    MUST(cuModuleUnload(module));
}

void take_from_the_pool() {
    stream const on;
    MUST(cuMemFreeAsync(buffer_on(on), on));
    on.synchronize();
}

FAULT(steady_state_allocation, pinned_for_each_batch) {
    until_warm();
    for (int i = 0; i < 3; ++i) stage_a_batch();
}

FAULT(steady_state_allocation, device_memory_for_each_step) {
    until_warm();
    CUdeviceptr buffer = 0;
    MUST(cuMemAlloc(&buffer, bytes));
    MUST(cuMemFree(buffer));
}

HEALTHY(steady_state_allocation, allocated_before) {
    stage_a_batch();
    until_warm();
    take_from_the_pool();
}

HEALTHY(steady_state_allocation, from_a_pool) {
    take_from_the_pool();
    until_warm();
    for (int i = 0; i < 3; ++i) take_from_the_pool();
}

FAULT(late_module_load, at_first_use) {
    until_warm();
    load_code();
}

FAULT(late_module_load, loaded_again) {
    load_code();
    until_warm();
    for (int i = 0; i < 2; ++i) load_code();
}

HEALTHY(late_module_load, loaded_before) {
    load_code();
    until_warm();
    take_from_the_pool();
}

HEALTHY(late_module_load, nothing_to_load) {
    until_warm();
    take_from_the_pool();
}

}  // namespace lastref::corpus
