// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/netlist/netlist.hpp"
#include "circuits/read_context.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// 1/f noise of the currents of a netlist over time: of every element that has it a sum of Ornstein–Uhlenbeck processes, a time constant
/// per decade from the slowest down to the time of a read, whose Lorentzians add up to FlickerLaw (devices/slow/flicker.hpp has the sum and
/// its ripple of 5.5 %). A read has the mean of each over its time; the processes go on from read to read of a sample (ReadMemory) and
/// begin anew, in equilibrium, with the next. What is slower than `slowest` would be an offset that a training sees, and is left out.
class FlickerNoise {
 public:
  FlickerNoise(const Netlist& netlist, double slowest_s);

  bool any() const { return !elements_.empty(); }
  /// Of the next read, of so many seconds, of so many states side by side. `read` is where it is before it moves on.
  void draw(Index rows, double seconds, const ReadContext& read);
  /// Deviate of the k-th of these elements in one state: its current deviates by it times √(a |I|^AF).
  double deviate(Index row, std::size_t k) const { return sums_[static_cast<std::size_t>(row) * elements_.size() + k]; }
  /// Numbers of the elements that have it, ascending.
  const std::vector<std::size_t>& elements() const { return elements_; }

 private:
  std::vector<std::size_t> elements_;
  double slowest_s_;
  std::vector<double> numbers_, sums_;
};

}  // namespace nudge
