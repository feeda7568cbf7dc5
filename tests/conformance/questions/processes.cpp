// Memory and events that two processes share. The first process makes, the second imports; they take turns.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "questions.h"

namespace lastref::conformance {
namespace {

int ends[2] = {-1, -1};

void send_bytes(int to, void const* data, std::size_t size) {
    [[maybe_unused]] auto const sent = write(to, data, size);
}

// The other end is gone: so is what is left to ask.
void receive_bytes(int from, void* data, std::size_t size) {
    for (auto* into = static_cast<char*>(data); size > 0;) {
        ssize_t const got = read(from, into, size);
        if (got <= 0) _exit(1);
        into += got;
        size -= static_cast<std::size_t>(got);
    }
}

void send_file(int to, int file) {
    char byte = 'f';
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
    sendmsg(to, &message, 0);
}

int receive_file(int from) {
    char byte = 0;
    int file = -1;
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(from, &message, 0) != 1) _exit(1);
    if (cmsghdr const* const header = CMSG_FIRSTHDR(&message)) std::memcpy(&file, CMSG_DATA(header), sizeof file);
    return file;
}

void say_turn(int to) {
    send_bytes(to, "t", 1);
}

void await_turn(int from) {
    char turn = 0;
    receive_bytes(from, &turn, 1);
}

// Runs the two sides, each in a process that has not used the driver before.
template <class First, class Second>
void in_two_processes(First first, Second second) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
    pid_t const child = fork();
    if (child == 0) {
        close(ends[0]);
        second(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    first(ends[0]);
    close(ends[0]);
    waitpid(child, nullptr, 0);
}

long long read_attribute(CUmemoryPool pool, CUmemPool_attribute which) {
    cuuint64_t value = 0;
    cuMemPoolGetAttribute(pool, which, &value);
    return static_cast<long long>(value);
}

void pool_exporter(int peer) {
    start();
    CUmemoryPool pool = nullptr, plain = nullptr;
    CUmemPoolProps props{};
    CUdeviceptr memory = 0;
    CUmemPoolPtrExportData data{};
    CUstream const stream = make_stream();
    int file = -1;
    unsigned char bytes[4] = {};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    ask("exporter: pool without handles", cuMemPoolCreate(&plain, &props));
    ask("exporter: export of it",
        cuMemPoolExportToShareableHandle(&file, plain, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    ask("exporter: pool with handles", cuMemPoolCreate(&pool, &props));
    ask("exporter: export", cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ask("exporter: allocation", cuMemAllocFromPoolAsync(&memory, 4096, pool, stream));
    cuMemsetD8Async(memory, 42, 4096, stream);
    ask("exporter: synchronize", cuStreamSynchronize(stream));
    ask("exporter: export of the pointer", cuMemPoolExportPointer(&data, memory));
    ask("exporter: export of a pointer inside", cuMemPoolExportPointer(&data, memory + 256));
    ask("exporter: export of the pointer again", cuMemPoolExportPointer(&data, memory));
    send_file(peer, file);
    send_bytes(peer, &data, sizeof data);
    await_turn(peer);
    cuMemcpyDtoH(bytes, memory, 4);
    ask_number("exporter: sees what the importer wrote", bytes[0]);
    ask("exporter: free", cuMemFreeAsync(memory, stream));
    ask("exporter: synchronize again", cuStreamSynchronize(stream));
    ask_number("exporter: used", read_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
    ask("exporter: destroy", cuMemPoolDestroy(pool));
}

void pool_importer(int peer) {
    start();
    CUmemoryPool pool = nullptr;
    CUmemPoolPtrExportData data{};
    CUdeviceptr memory = 0, again = 0, more = 0;
    CUstream const stream = make_stream();
    unsigned char bytes[4] = {};
    int const file = receive_file(peer);
    receive_bytes(peer, &data, sizeof data);
    ask("importer: import",
        cuMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(static_cast<std::intptr_t>(file)),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ask("importer: allocation", cuMemAllocFromPoolAsync(&more, 64, pool, stream));
    ask("importer: as the device's pool", cuDeviceSetMemPool(0, pool));
    ask("importer: import of the pointer", cuMemPoolImportPointer(&memory, pool, &data));
    ask("importer: import of the pointer again", cuMemPoolImportPointer(&again, pool, &data));
    ask("importer: the same address", memory == again);
    cuMemcpyDtoH(bytes, memory, 4);
    ask_number("importer: sees what the exporter wrote", bytes[0]);
    ask("importer: writes", cuMemsetD8(memory, 43, 4096));
    ask("importer: synchronize", cuCtxSynchronize());
    int file_again = -1;
    ask("importer: export of the pool",
        cuMemPoolExportToShareableHandle(&file_again, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ask("importer: free", cuMemFreeAsync(memory, stream));
    ask("importer: free again", cuMemFreeAsync(memory, stream));
    ask("importer: synchronize again", cuStreamSynchronize(stream));
    ask("importer: destroy", cuMemPoolDestroy(pool));
    say_turn(peer);
}

void pool_of_another_process() {
    in_two_processes(pool_exporter, pool_importer);
}

// The rule is that importers free first: what the driver says where they do not.
void pool_whose_exporter_frees_first() {
    in_two_processes(
        [](int peer) {
            start();
            CUmemoryPool pool = nullptr;
            CUmemPoolProps props{};
            CUdeviceptr memory = 0;
            CUmemPoolPtrExportData data{};
            CUstream const stream = make_stream();
            int file = -1;
            props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
            props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
            props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
            cuMemPoolCreate(&pool, &props);
            cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
            cuMemAllocFromPoolAsync(&memory, 4096, pool, stream);
            cuStreamSynchronize(stream);
            cuMemPoolExportPointer(&data, memory);
            send_file(peer, file);
            send_bytes(peer, &data, sizeof data);
            await_turn(peer);
            ask("exporter: free", cuMemFreeAsync(memory, stream));
            ask("exporter: synchronize", cuStreamSynchronize(stream));
            ask("exporter: destroy", cuMemPoolDestroy(pool));
            say_turn(peer);
            await_turn(peer);
        },
        [](int peer) {
            start();
            CUmemoryPool pool = nullptr;
            CUmemPoolPtrExportData data{};
            CUdeviceptr memory = 0;
            CUstream const stream = make_stream();
            int const file = receive_file(peer);
            receive_bytes(peer, &data, sizeof data);
            ask("importer: import",
                cuMemPoolImportFromShareableHandle(&pool, reinterpret_cast<void*>(static_cast<std::intptr_t>(file)),
                                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
            ask("importer: import of the pointer", cuMemPoolImportPointer(&memory, pool, &data));
            say_turn(peer);
            await_turn(peer);
            ask("importer: destroy of the pool with the pointer imported", cuMemPoolDestroy(pool));
            ask("importer: free", cuMemFreeAsync(memory, stream));
            ask("importer: synchronize", cuStreamSynchronize(stream));
            say_turn(peer);
        });
}

void memory_of_another_process() {
    in_two_processes(
        [](int peer) {
            start();
            CUdeviceptr memory = 0;
            CUipcMemHandle handle{};
            unsigned char bytes[4] = {};
            cuMemAlloc(&memory, 4096);
            cuMemsetD8(memory, 42, 4096);
            cuCtxSynchronize();
            ask("exporter: cuIpcGetMemHandle", cuIpcGetMemHandle(&handle, memory));
            send_bytes(peer, &handle, sizeof handle);
            await_turn(peer);
            cuMemcpyDtoH(bytes, memory, 4);
            ask_number("exporter: sees what the importer wrote", bytes[0]);
            ask("exporter: cuMemFree", cuMemFree(memory));
        },
        [](int peer) {
            start();
            CUdeviceptr memory = 0, again = 0;
            CUipcMemHandle handle{};
            unsigned char bytes[4] = {};
            receive_bytes(peer, &handle, sizeof handle);
            ask("importer: open", cuIpcOpenMemHandle(&memory, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
            ask("importer: open again", cuIpcOpenMemHandle(&again, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
            ask("importer: the same address", memory == again);
            cuMemcpyDtoH(bytes, memory, 4);
            ask_number("importer: sees what the exporter wrote", bytes[0]);
            ask("importer: writes", cuMemsetD8(memory, 43, 4096));
            ask("importer: synchronize", cuCtxSynchronize());
            ask("importer: cuMemFree", cuMemFree(memory));
            ask("importer: close", cuIpcCloseMemHandle(memory));
            ask("importer: close again", cuIpcCloseMemHandle(memory));
            ask("importer: close a third time", cuIpcCloseMemHandle(memory));
            say_turn(peer);
        });
}

void event_of_another_process() {
    in_two_processes(
        [](int peer) {
            start();
            CUevent event = nullptr;
            CUipcEventHandle handle{};
            CUstream const stream = make_stream();
            ask("exporter: create", cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
            ask("exporter: handle", cuIpcGetEventHandle(&handle, event));
            gate shut(stream, std::chrono::seconds(5));
            ask("exporter: record", cuEventRecord(event, stream));
            send_bytes(peer, &handle, sizeof handle);
            await_turn(peer);
            shut.open();
            ask("exporter: synchronize", cuEventSynchronize(event));
            say_turn(peer);
            await_turn(peer);
            ask("exporter: destroy", cuEventDestroy(event));
        },
        [](int peer) {
            start();
            CUevent event = nullptr;
            CUipcEventHandle handle{};
            receive_bytes(peer, &handle, sizeof handle);
            ask("importer: open", cuIpcOpenEventHandle(&event, handle));
            ask("importer: query before", cuEventQuery(event));
            say_turn(peer);
            await_turn(peer);
            ask("importer: query after", cuEventQuery(event));
            ask("importer: destroy", cuEventDestroy(event));
            say_turn(peer);
        });
}

void virtual_memory_of_another_process() {
    static constexpr std::size_t size = 2 << 20;
    in_two_processes(
        [](int peer) {
            start();
            CUmemAllocationProp props{};
            CUmemGenericAllocationHandle handle = 0;
            int file = -1;
            props.type = CU_MEM_ALLOCATION_TYPE_PINNED;
            props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
            ask("exporter: create without handles", cuMemCreate(&handle, size, &props, 0));
            ask("exporter: export of it",
                cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
            props.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
            ask("exporter: create", cuMemCreate(&handle, size, &props, 0));
            ask("exporter: export",
                cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
            send_file(peer, file);
            await_turn(peer);
            ask("exporter: release", cuMemRelease(handle));
        },
        [](int peer) {
            start();
            CUmemGenericAllocationHandle handle = 0;
            CUdeviceptr range = 0;
            CUmemAccessDesc const access{{CU_MEM_LOCATION_TYPE_DEVICE, {0}}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
            int const file = receive_file(peer);
            ask("importer: import",
                cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(file)),
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
            ask("importer: reserve", cuMemAddressReserve(&range, size, 0, 0, 0));
            ask("importer: map", cuMemMap(range, size, 0, handle, 0));
            ask("importer: access", cuMemSetAccess(range, size, &access, 1));
            ask("importer: write", cuMemsetD8(range, 1, 16));
            ask("importer: synchronize", cuCtxSynchronize());
            ask("importer: unmap", cuMemUnmap(range, size));
            ask("importer: release", cuMemRelease(handle));
            ask("importer: free", cuMemAddressFree(range, size));
            say_turn(peer);
        });
}

// Once a process has initialised the driver, its children cannot use it.
void forked_with_context() {
    start();
    CUdeviceptr memory = 0;
    CUstream const stream = make_stream();
    CUgraph graph = nullptr;
    CUuserObject object = nullptr;
    cuMemAlloc(&memory, 64);
    cuGraphCreate(&graph, 0);
    cuUserObjectCreate(
        &object, nullptr, [](void*) {}, 1, 1);
    if (fork() == 0) {
        CUcontext context = nullptr;
        CUdeviceptr made = 0;
        ask("child: cuMemFree", cuMemFree(memory));
        ask("child: cuStreamSynchronize", cuStreamSynchronize(stream));
        ask("child: cuCtxGetCurrent", cuCtxGetCurrent(&context));
        ask("child: cuGraphDestroy", cuGraphDestroy(graph));
        ask("child: cuUserObjectRelease", cuUserObjectRelease(object, 1));
        ask("child: cuMemAllocAsync", cuMemAllocAsync(&made, 64, stream));
        ask("child: cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, 0));
        _exit(0);
    }
    wait(nullptr);
    ask("parent: cuMemFree", cuMemFree(memory));
    ask("parent: cuStreamSynchronize", cuStreamSynchronize(stream));
}

}  // namespace

group const process_groups[] = {{"pool_of_another_process", pool_of_another_process, alone},
                                {"pool_whose_exporter_frees_first", pool_whose_exporter_frees_first, alone},
                                {"memory_of_another_process", memory_of_another_process, alone},
                                {"event_of_another_process", event_of_another_process, alone},
                                {"virtual_memory_of_another_process", virtual_memory_of_another_process, alone},
                                {"forked_with_context", forked_with_context, alone},
                                {nullptr, nullptr}};

}  // namespace lastref::conformance
