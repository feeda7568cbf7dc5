// counting FILE THREADS MILLISECONDS: calls the driver on several threads, and says of each call once it has returned
// that it has, in FILE, which others map. Killed at any instant, it leaves there the number of calls of each worker
// that had returned; one more may have, whose number was not written yet.
//
// The calls of a worker are numbered from 1 on, and each carries worker and number as its object. Every second worker
// is a row of short-lived threads. After MILLISECONDS it ends by itself.
#include <cuda.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using std::chrono::steady_clock;

// The layout that kill.py knows.
struct board {
    std::atomic<std::uint64_t> pid;  // 0 until the driver is initialised
    std::uint64_t reserved[7];
    struct worker {
        alignas(64) std::atomic<std::uint64_t> returned;
    } workers[64];
};
static_assert(sizeof(board) == 64 + 64 * 64);

board* map_board(char const* path) {
    int const fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(board)) != 0) return nullptr;
    void* const memory = mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return memory == MAP_FAILED ? nullptr : static_cast<board*>(memory);
}

// Kinds of every way to be recorded: by its begin, by its end, with one stamp, and with its begin marked ahead.
void call(std::uint64_t object) {
    switch (object % 5) {
        case 0:
            cuMemFree(object);
            break;
        case 1:
            cuStreamSynchronize(reinterpret_cast<CUstream>(object));
            break;
        case 2:
            cuEventQuery(reinterpret_cast<CUevent>(object));
            break;
        case 3:
            cuGraphDestroy(reinterpret_cast<CUgraph>(object));
            break;
        default:
            cuEventDestroy(reinterpret_cast<CUevent>(object));
            break;
    }
}

void work(board& shared, unsigned index, std::uint64_t calls, steady_clock::time_point end) {
    auto& returned = shared.workers[index].returned;
    std::uint64_t const last = returned.load() + calls;
    for (std::uint64_t n = returned.load() + 1; n <= last && steady_clock::now() < end; ++n) {
        call(std::uint64_t{index + 1} << 40 | n);
        returned.store(n, std::memory_order_release);
        if (n % 200 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void run_worker(board& shared, unsigned index, steady_clock::time_point end) {
    if (index % 2 == 0) return work(shared, index, ~std::uint64_t{0} >> 1, end);
    while (steady_clock::now() < end) std::thread(work, std::ref(shared), index, 300, end).join();
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        std::fputs("usage: counting FILE THREADS MILLISECONDS\n", stderr);
        return 2;
    }
    board* const shared = map_board(arguments[1]);
    auto const threads = static_cast<unsigned>(std::atoi(arguments[2]));
    if (shared == nullptr || threads > std::size(shared->workers) || cuInit(0) != CUDA_SUCCESS) return 1;
    auto const end = steady_clock::now() + std::chrono::milliseconds(std::atoi(arguments[3]));
    shared->pid.store(static_cast<std::uint64_t>(getpid()));
    std::vector<std::thread> workers;
    for (unsigned index = 0; index < threads; ++index) workers.emplace_back(run_worker, std::ref(*shared), index, end);
    for (auto& one : workers) one.join();
    return 0;
}
