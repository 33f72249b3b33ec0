// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <omp.h>

#include <exception>
#include <functional>

#include "sim/base/interrupts.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// True in a forked process (set by a handler of pthread_atfork, python/src). GNU OpenMP would wait there for ever for a team
/// of threads that only the parent has. Loops then run on one thread, with the same results.
inline bool in_forked_process = false;

/// Runs body(i, thread) for i in [0, n) on `threads` OpenMP threads (0: all). An exception of body is rethrown after the loop
/// (the one of the lowest i). Results must not depend on the thread: give each i its own output. If the caller is Interruptible,
/// so is each i, and each begins with a stop_point().
template <class Body>
void parallel_for(Index n, int threads, Body&& body) {
  std::exception_ptr error;
  Index error_at = n;
  const bool stoppable = Interruptible::here();
  const auto guarded = [&](Index i, int thread) {
    try {
      const Interruptible inherited(stoppable);
      stop_point();
      body(i, thread);
    } catch (...) {
#pragma omp critical(nudge_parallel_error)
      if (i < error_at) {
        error_at = i;
        error = std::current_exception();
      }
    }
  };
  // Threads that have nothing to do would wait at full speed for the next loop, and it for them.
  const int used = n < 2 || in_forked_process ? 1 : threads > 0 ? threads : omp_get_max_threads();
  if (used == 1) {  // inside another region a team of one would be allocated, woken and freed
    for (Index i = 0; i < n; ++i) guarded(i, 0);
  } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(used)
    for (Index i = 0; i < n; ++i) guarded(i, omp_get_thread_num());
  }
  if (error) std::rethrow_exception(error);
}

/// Guard: while it lives, OpenMP regions opened by the calling thread have one thread. Put it around libraries that would
/// split their work, and so choose their order of summation, by the number of threads.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

/// Number of threads that parallel_for(n, threads, ...) may use: the size of per-thread workspaces.
inline int thread_count(int threads) { return threads > 0 ? threads : omp_get_max_threads(); }

/// Runs work(0) … work(count − 1) on a thread each while the calling thread runs `here`; returns when all have ended. Then rethrows
/// the first exception: one of `here` goes before one of work. The results that other threads wait for must come despite an
/// exception.
void run_side_by_side(int count, const std::function<void(int)>& work, const std::function<void()>& here);

/// Lets other threads run for about a millisecond, between two looks at a mailbox.
void wait_a_moment();

}  // namespace nudge
