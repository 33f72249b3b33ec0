// SPDX-License-Identifier: Apache-2.0
// The task that aihwkit_rules.py gives to both contestants.
//
// Standard input: int32 inputs, outputs, updates, batch, tiles, reports, regression; then float32 x (updates · batch, inputs) and y of
// the same rows (updates · batch, outputs). Weights start at 0 and descend: ΔW = −rate xᵀ d, d = y, or d = x W − y of a regression.
// Standard output: float64 CPU seconds of the updates alone, then float32 weights (tiles, reports, inputs, outputs), after equal
// numbers of updates.
#pragma once

#include <time.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace rule_task {

[[noreturn]] inline void fail(const std::string& what) {
  std::cerr << what << "\n";
  std::exit(2);
}

struct Task {
  std::int32_t inputs, outputs, updates, batch, tiles, reports, regression;
};

/// Array that learns.
class Array {
 public:
  virtual ~Array() = default;
  /// Learns from a batch of x (batch, inputs) and d (batch, outputs).
  virtual void descend(const float* x, const float* d) = 0;
  virtual void weights(std::vector<float>& w) = 0;
};

inline double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Serves one task from standard input; make(task, number) makes tile `number`.
template <class Make>
int serve(const std::string& name, Make&& make) {
  try {
    Task task{};
    const auto read = [](void* into, std::size_t bytes) {
      if (!std::cin.read(static_cast<char*>(into), static_cast<std::streamsize>(bytes)))
        fail("standard input ends early");
    };
    read(&task, sizeof(task));
    const auto inputs = static_cast<std::size_t>(task.inputs), outputs = static_cast<std::size_t>(task.outputs);
    const auto batch = static_cast<std::size_t>(task.batch), updates = static_cast<std::size_t>(task.updates);
    std::vector<float> x(updates * batch * inputs), y(updates * batch * outputs);
    read(x.data(), x.size() * sizeof(float));
    read(y.data(), y.size() * sizeof(float));
    std::vector<float> w(inputs * outputs), d(batch * outputs), reported;
    double seconds = 0;
    for (int tile = 0; tile < task.tiles; ++tile) {
      const std::unique_ptr<Array> array = make(task, tile);
      for (std::size_t u = 0; u < updates; ++u) {
        const float* rows = x.data() + u * batch * inputs;
        const float* asked = y.data() + u * batch * outputs;
        if (task.regression != 0) {
          array->weights(w);
          for (std::size_t b = 0; b < batch; ++b) {
            for (std::size_t j = 0; j < outputs; ++j) {
              float sum = -asked[b * outputs + j];
              for (std::size_t i = 0; i < inputs; ++i) sum += rows[b * inputs + i] * w[i * outputs + j];
              d[b * outputs + j] = sum;
            }
          }
          asked = d.data();
        }
        const double start = cpu_seconds();
        array->descend(rows, asked);
        seconds += cpu_seconds() - start;
        if ((u + 1) % (updates / static_cast<std::size_t>(task.reports)) == 0) {
          array->weights(w);
          reported.insert(reported.end(), w.begin(), w.end());
        }
      }
    }
    std::cout.write(reinterpret_cast<const char*>(&seconds), sizeof(seconds));
    std::cout.write(reinterpret_cast<const char*>(reported.data()),
                    static_cast<std::streamsize>(reported.size() * sizeof(float)));
  } catch (const std::exception& e) {
    std::cerr << name << ": " << e.what() << "\n";
    return 2;
  }
  return 0;
}

}  // namespace rule_task
