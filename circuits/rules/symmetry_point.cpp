// SPDX-License-Identifier: Apache-2.0
#include "circuits/rules/column_transfer.hpp"

#include <algorithm>
#include <cmath>

#include "circuits/programming/write_devices.hpp"

namespace nudge {
namespace {

// Longest burst of the search for the symmetry point.
constexpr int longest_burst = 256;
// Cycles that the symmetry point is averaged over: noise that is drawn at each write (56 pulses for the most noisy
// preset, reram_sb) falls by √256 to a few pulses.
constexpr int averaged_cycles = 128;

}  // namespace

// A cycle of n up and n down pulses ends about half its length below its middle; the half burst up after the cycles of
// a level takes that out, and the next level has half the length.
template <class S>
Matrix<S> find_symmetry_point(Crossbar<S>& array, int cycles) {
  Matrix<S> zero = Matrix<S>::Zero(array.inputs(), array.outputs());
  if (cycles == 0) return zero;
  const WriteMark before = array.mark();
  const double pulses = array.plus().spec().pulses;
  // A change of 2 w_max/pulses asks either device of a pair for one pulse.
  const S pulse = S(2) * array.w_max() / static_cast<S>(pulses);
  const auto burst = [&](double n) {
    array.apply_update(Matrix<S>::Constant(zero.rows(), zero.cols(), static_cast<S>(n) * pulse));
  };
  for (int n = std::min(longest_burst, static_cast<int>(pulses / 4) + 1); n >= 1; n /= 2) {
    for (int cycle = 0; cycle < cycles; ++cycle) {
      burst(n);
      burst(-n);
    }
    burst(0.5 * n);
  }
  for (int cycle = 0; cycle < averaged_cycles; ++cycle) {
    for (const double n : {1.0, -1.0}) {
      burst(n);
      zero += array.weights();
    }
  }
  zero /= S(2 * averaged_cycles);
  array.count_as_programming(before);
  return zero;
}

bool has_symmetry_point(const DeviceSpec& spec) {
  const DeviceSpec nominal = nominal_device(spec);
  // Two devices at a quarter of the window and two at three quarters; one of each is raised, the other lowered.
  DeviceArray<double> devices(nominal, 2, 2, {});
  Matrix<double> start(2, 2), counts(2, 2);
  const double quarter = 0.25 * nominal.window_S();
  start << nominal.g_min_S + quarter, nominal.g_min_S + 3 * quarter, nominal.g_min_S + quarter,
      nominal.g_min_S + 3 * quarter;
  counts << 1, 1, -1, -1;
  devices.program(start, 0);
  devices.pulse(counts, 0);
  const Matrix<double> moved = (devices.conductance() - start).cwiseAbs();
  // Rounding of a step of 1/pulses of the window, which is 1e-16 pulses of it.
  const double tolerance = 1e-9;
  return std::abs(moved(0, 0) * moved(1, 1) - moved(0, 1) * moved(1, 0)) > tolerance * moved(0, 0) * moved(1, 1);
}

template Matrix<float> find_symmetry_point(Crossbar<float>&, int);
template Matrix<double> find_symmetry_point(Crossbar<double>&, int);

}  // namespace nudge
