// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>

namespace nudge {

// How a run is interrupted, in one place. A signal ends a program at once as long as it has nothing to save; whoever has something to
// save asks interrupted() between its steps, and from the first question on a signal waits for the next one. What takes long
// between two questions and may be thrown away runs under Stoppable and is left at its next stop_point().

/// From now on SIGINT, SIGTERM, SIGUSR1 and (unless it is ignored, as under nohup) SIGHUP interrupt the program. SIGUSR1 is the one that mpirun
/// hands on to its ranks and does nothing else about. To be called before the first thread is made that computes.
void watch_interrupts();

/// Whether one of them came. The first call says that this program saves what it has and ends by itself; before it, a signal removes the files
/// of RemovedOnInterrupt and ends the process as it ends any other (128 + its number in a shell).
bool interrupted();

/// What stop_point() throws. No std::exception: it is no error that a study records.
struct Interrupted {};

/// While it lives, the calling thread, and the loops of parallel_for that it opens, may be left at any stop_point(): what they do has
/// changed nothing that is kept. Not where ranks wait for each other.
class Stoppable {
 public:
  explicit Stoppable(bool allowed = true);
  ~Stoppable();
  Stoppable(const Stoppable&) = delete;
  Stoppable& operator=(const Stoppable&) = delete;

  static bool here();  ///< whether the calling thread may be left

 private:
  bool before_;
};

namespace detail {
extern std::atomic<bool> asked_to_stop;
void stop_if_stoppable();
}  // namespace detail

/// Throws Interrupted where a signal came and the calling thread is Stoppable. An atomic read: for every turn of a loop that may
/// last 0.2 s.
inline void stop_point() {
  if (detail::asked_to_stop.load(std::memory_order_relaxed)) detail::stop_if_stoppable();
}

/// Ends the process by the signal that came; returns where none did.
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

/// While it lives no signal ends the process: a file is made and registered, or gets its name, in one move. May be nested.
class SignalsWait {
 public:
  SignalsWait();
  ~SignalsWait();
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
};

/// A reader that has gone and a limit on the size of files are errors of the write that meets them, not the end of the
/// process.
void survive_writes();

}  // namespace nudge
