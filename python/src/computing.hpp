// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <signal.h>

#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <type_traits>

namespace nudge::python {

namespace nb = nanobind;

/// Marks the calling thread as computing for as long as this object lives: the GIL is released, so that other Python
/// threads run, and signals wait. They must not interrupt a thread that computes: generated code of the product library
/// keeps data below the stack pointer, where the frame of a handler would overwrite them (sim/base/interrupts.cpp).
/// Threads that are made meanwhile inherit the mask.
class Computing {
 public:
  Computing();
  ~Computing();
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;

  /// True if the work is to stop: Ctrl-C, an exception of another handler of the user, or SIGTERM or SIGHUP where they
  /// would end the process. Handlers run in here, at most every 50 ms, where nothing is being computed. Call it without
  /// the GIL, from any thread; only the thread that made this object runs handlers.
  bool stop();

  /// Calls Python with the GIL. An exception is kept for finish() and stops the work. False: stop.
  bool call(const std::function<bool()>& python);

  /// Call it without the GIL after the work: it handles the signals that came, and raises what was raised meanwhile.
  void finish();

 private:
  void look();

  pthread_t thread_;
  sigset_t before_{};
  std::optional<nb::gil_scoped_release> released_;
  std::mutex mutex_;
  std::exception_ptr raised_;
  bool asked_ = false;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
};

/// Runs work without the GIL, as Computing says, and returns its result.
template <class Work>
auto compute(const Work& work) {
  Computing computing;
  if constexpr (std::is_void_v<decltype(work())>) {
    work();
    computing.finish();
  } else {
    auto result = work();
    computing.finish();
    return result;
  }
}

}  // namespace nudge::python
