// SPDX-License-Identifier: Apache-2.0
#include "python/src/computing.hpp"

#include <initializer_list>

namespace nudge::python {
namespace {

/// Set of all signals but those that a fault of the thread itself raises.
sigset_t that_wait() {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) sigdelset(&all, fault);
  return all;
}

/// True if a pending signal ends the process as soon as it is let through.
bool about_to_end() {
  sigset_t waiting;
  sigpending(&waiting);
  for (const int signal : {SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigismember(&waiting, signal) == 1 && sigaction(signal, nullptr, &action) == 0 &&
        action.sa_handler == SIG_DFL) {
      return true;
    }
  }
  return false;
}

}  // namespace

Computing::Computing() : thread_(pthread_self()) {
  const sigset_t waiting = that_wait();
  pthread_sigmask(SIG_BLOCK, &waiting, &before_);
  released_.emplace();
}

Computing::~Computing() {
  released_.reset();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

/// Lets signals through to their handlers, of which C's run at once and Python's in PyErr_CheckSignals().
void Computing::look() {
  const sigset_t waiting = that_wait();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  pthread_sigmask(SIG_BLOCK, &waiting, nullptr);
  const nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() == 0) return;
  const nb::python_error error;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!raised_) raised_ = std::make_exception_ptr(error);
  asked_ = true;
}

bool Computing::stop() {
  bool due = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (asked_) return true;
    const auto now = std::chrono::steady_clock::now();
    due = pthread_equal(thread_, pthread_self()) != 0 && now - looked_ > std::chrono::milliseconds(50);
    if (due) looked_ = now;
    if (about_to_end()) return asked_ = true;
  }
  if (due) look();
  const std::lock_guard<std::mutex> lock(mutex_);
  return asked_;
}

bool Computing::call(const std::function<bool()>& python) {
  const nb::gil_scoped_acquire held;
  bool go_on = true;
  std::exception_ptr raised;
  try {
    go_on = python();
  } catch (...) {
    raised = std::current_exception();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (raised && !raised_) raised_ = raised;
  asked_ = asked_ || raised || !go_on;
  return !asked_;
}

void Computing::finish() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  released_.reset();
  if (!raised_ && PyErr_CheckSignals() != 0) throw nb::python_error();
  if (raised_) std::rethrow_exception(raised_);
}

}  // namespace nudge::python
