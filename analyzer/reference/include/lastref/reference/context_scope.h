// Makes a context current for a while and leaves the thread as it was found.
//
// Rule        Whoever changes the current context restores it, also on the way of an error.
// Without it  The caller's next call acts on another device. lastref: context-not-restored.
#pragma once

#include "lastref/reference/cleanup_failure.h"
#include "lastref/reference/driver.h"

namespace lastref::reference {

// Threads     Made and destroyed on one thread, nested like braces.
// Errors      result() says whether the context is current; a failed restoration is reported by report_cleanup_failure.
// Cost        One query where the context is current already, as it mostly is.
class context_scope {
  public:
    context_scope(driver& calls, context_handle wanted) noexcept : driver_(calls), wanted_(wanted) {
        result_ = driver_.current_context(former_);
        if (result_ != status::success || former_ == wanted_) return;
        result_ = driver_.set_current_context(wanted_);
        changed_ = result_ == status::success;
    }
    context_scope(context_scope const&) = delete;
    context_scope& operator=(context_scope const&) = delete;

    ~context_scope() {
        if (!changed_) return;
        auto const restored = driver_.set_current_context(former_);
        if (restored == status::success) return;
        report_cleanup_failure({restored, driver_.name_of(restored), "restoring the current context",
                                reinterpret_cast<unsigned long long>(former_), nullptr, wanted_});
    }

    status result() const noexcept { return result_; }

  private:
    driver& driver_;
    context_handle const wanted_;
    context_handle former_ = nullptr;
    status result_ = status::success;
    bool changed_ = false;
};

}  // namespace lastref::reference
