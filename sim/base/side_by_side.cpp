// SPDX-License-Identifier: Apache-2.0
#include "sim/base/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace nudge {

void run_side_by_side(int count, const std::function<void(int)>& work, const std::function<void()>& here) {
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(count) + 1);
  const auto guarded = [&errors](std::size_t slot, const std::function<void()>& run) {
    try {
      run();
    } catch (...) {
      errors[slot] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(std::max(0, count)));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      const OneThread alone;  // as inside parallel_for: no region without a number of threads opens more
      guarded(static_cast<std::size_t>(i) + 1, [&] { work(i); });
    });
  }
  guarded(0, here);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

void wait_a_moment() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}  // namespace nudge
