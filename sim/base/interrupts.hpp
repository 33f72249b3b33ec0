// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>

namespace nudge {

// How a run is interrupted, in one place. A signal ends a program at once as long as it has nothing to save; whoever has something to
// save asks interrupted() between its steps, and from the first question on a signal waits for the next one. What takes long
// between two questions and may be thrown away runs under Interruptible and is left at its next stop_point().

/// Makes SIGINT, SIGTERM, SIGUSR1 and SIGHUP interrupt the program from now on; SIGHUP not where it is ignored, as under nohup. SIGUSR1
/// is the one signal that mpirun hands on to its ranks without acting on it itself. Call this before the first computing thread is made.
void watch_interrupts();

/// True once a signal of watch_interrupts() came. The first call says that this program saves its results and ends by itself. Before
/// it, a signal removes the files of RemovedOnInterrupt and ends the process as usual (exit status 128 + its number in a shell).
bool interrupted();

/// Exception of stop_point(). It is no std::exception, because a study must not record it as an error.
struct Interrupted {};

/// Guard: while it lives, the calling thread and the loops of parallel_for that it opens may be left at any stop_point(). Use
/// it for work that changes nothing kept, and not where ranks wait for each other.
class Interruptible {
 public:
  explicit Interruptible(bool allowed = true);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  static bool here();  ///< true if the calling thread may be left

 private:
  bool before_;
};

namespace detail {
extern std::atomic<bool> asked_to_stop;
void stop_if_stoppable();
}  // namespace detail

/// Throws Interrupted if a signal came and the calling thread is Interruptible. Costs one atomic read: call it in every turn of a
/// loop that may last 0.2 s.
inline void stop_point() {
  if (detail::asked_to_stop.load(std::memory_order_relaxed)) detail::stop_if_stoppable();
}

/// Ends the process by the signal that came; returns if none did.
void end_by_signal();

/// A file that goes with the process when a signal ends it.
class RemovedOnInterrupt {
 public:
  explicit RemovedOnInterrupt(const std::filesystem::path& path);
  ~RemovedOnInterrupt();
  RemovedOnInterrupt(const RemovedOnInterrupt&) = delete;
  RemovedOnInterrupt& operator=(const RemovedOnInterrupt&) = delete;

 private:
  std::filesystem::path path_;
};

/// Guard: while it lives no signal ends the process. It makes two steps one: making and registering a file, or giving it its
/// name. May be nested.
class SignalsWait {
 public:
  SignalsWait();
  ~SignalsWait();
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
};

/// Turns SIGPIPE and SIGXFSZ (a reader that has gone, a limit on the size of files) into errors of the write that meets them.
/// Without this call they end the process.
void survive_writes();

}  // namespace nudge
