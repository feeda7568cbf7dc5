// Clean-up that a destructor may not do itself, because it runs inside the driver, where every driver call is
// refused: the destructor only notes what is to be freed, and a thread of the program drains the queue later.
#pragma once

#include <cuda.h>

#include <mutex>
#include <utility>
#include <vector>

namespace lastref::demo {

class deferred_queue {
  public:
    void enqueue(CUdeviceptr buffer) {
        std::lock_guard const guard(lock_);
        pending_.push_back(buffer);
    }

    // Frees what was noted so far; needs a current context. Returns how many.
    std::size_t drain() {
        auto const buffers = take();
        for (CUdeviceptr const buffer : buffers) cuMemFree(buffer);
        return buffers.size();
    }

    std::size_t size() {
        std::lock_guard const guard(lock_);
        return pending_.size();
    }

  private:
    std::vector<CUdeviceptr> take() {
        std::lock_guard const guard(lock_);
        return std::exchange(pending_, {});
    }

    std::mutex lock_;
    std::vector<CUdeviceptr> pending_;
};

}  // namespace lastref::demo
