// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/read_context.hpp"
#include "netlist/netlist.hpp"
#include "netlist/nodal_equations.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// 1/f noise of the currents of a netlist over time. Each element that has it gets a sum of Ornstein–Uhlenbeck processes.
/// There is one per decade of time constants, from the slowest down to the time of a read. Their Lorentzians add up to
/// FlickerLaw (devices/slow/noise.hpp has the sum and its ripple of 5.5 %). A read has the mean of each process over its
/// time. The processes go on from read to read of a sample (ReadMemory) and begin anew, in equilibrium, with the next.
/// Noise slower than `slowest` would be an offset that a training sees, and is left out.
class FlickerNoise {
 public:
  FlickerNoise(const Netlist& netlist, double slowest_s);

  bool any() const { return !elements_.empty(); }
  /// Draws the noise of the next read, which lasts `seconds`, for `rows` states side by side. `read` is its place before it moves on.
  void draw(Index rows, double seconds, const ReadContext& read);
  /// Deviate of the k-th of elements() in one state: its current deviates by this number times √(a |I|^AF).
  double deviate(Index row, std::size_t k) const { return sums_[static_cast<std::size_t>(row) * elements_.size() + k]; }
  /// Numbers of the elements with 1/f noise, ascending.
  const std::vector<std::size_t>& elements() const { return elements_; }

 private:
  std::vector<std::size_t> elements_;
  double slowest_s_;
  std::vector<double> numbers_, sums_;
};

/// Current of noise from one node through an element to another: white, with a two-sided density in A²/Hz, and 1/f, with the one-sided density
/// `flicker_A2` over the frequency.
struct NoiseCurrent {
  std::size_t element;
  int from, to;
  double white_A2_per_Hz, flicker_A2;
};

/// Currents of noise of all elements at the unknowns v of the equations; `values` are NodalEquations::values.
std::vector<NoiseCurrent> noise_currents(const NodalEquations& equations, const std::vector<double>& values,
                                         const std::vector<double>& v, double temperature_K);

/// Draws of the noise of all elements of a netlist, white and 1/f: a pure function of the reads so far of a sample.
class CurrentNoise {
 public:
  CurrentNoise(const NodalEquations& equations, double slowest_s);

  /// Draws the noise of the next read of a relaxation whose unit of time is tau_s, for `rows` states side by side.
  void draw(Index rows, double tau_s, ReadContext& read);

  /// Computes out (unknowns or nodes), the noise currents in A that leave the nodes in one state. White noise is √(density/Δ)
  /// times a normal deviate per element, Δ the interval of the read that was drawn last.
  void leave(Index row, double temperature_K, const std::vector<double>& values, const std::vector<double>& v,
             std::vector<double>& out) const;

 private:
  const NodalEquations* equations_;
  FlickerNoise flicker_;
  std::size_t bases_ = 0;  ///< number of bipolar transistors, which have a second current
  double scale_ = 0;       ///< 1/√Δ
  std::vector<double> draws_;
};

}  // namespace nudge
