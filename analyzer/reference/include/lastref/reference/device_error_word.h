// One word in device memory in which kernels say what went wrong.
//
// Rule        Kernels set bits with atomicOr; the word is read back on the stream of the last kernel and looked at
// after the
//             synchronization that the call makes anyway. It is sticky: once set it stays until cleared.
// Without it  A kernel's failure is noticed at some later, unrelated call, or the check synchronizes the whole device.
//             lastref: first-error names the first call that returned one.
#pragma once

#include <cstdint>
#include <cstring>

#include "lastref/reference/driver.h"
#include "lastref/reference/pinned_staging.h"
#include "lastref/reference/stream_ordered_buffer.h"

namespace lastref::reference {

// Ownership   Owns the word and its pinned mirror.
// Threads     One at a time.
// Errors      Throws driver_error. What the bits mean is the program's affair.
class device_error_word {
  public:
    device_error_word(driver& calls, stream_handle stream)
        : driver_(calls),
          word_(stream_ordered_buffer::allocate(calls, sizeof(std::uint32_t), stream)),
          mirror_(calls, sizeof(std::uint32_t)) {
        std::memset(mirror_.bytes().data(), 0, sizeof(std::uint32_t));
        enqueue_clear(stream);
    }

    // The kernels' argument.
    device_pointer pointer() const noexcept { return word_.pointer(); }

    void enqueue_clear(stream_handle stream) {
        throw_unless_success(driver_, driver_.set_words_async(word_.pointer(), 0, 1, stream),
                             "clearing the error word");
    }

    // After the last kernel, on its stream.
    void enqueue_read(stream_handle stream) {
        mirror_.begin_use(stream);
        throw_unless_success(
            driver_, driver_.copy_to_host_async(mirror_.bytes().data(), word_.pointer(), sizeof(std::uint32_t), stream),
            "reading the error word");
        mirror_.end_use(stream);
    }

    // The bits as last read; only after a synchronization with the read.
    std::uint32_t bits() noexcept {
        std::uint32_t bits;
        std::memcpy(&bits, mirror_.bytes().data(), sizeof bits);
        return bits;
    }

  private:
    driver& driver_;
    stream_ordered_buffer word_;
    pinned_staging mirror_;
};

}  // namespace lastref::reference
