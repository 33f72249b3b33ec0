// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include "circuits/wires/wire_spec.hpp"

namespace nudge {

/// Parallel wires of equal length as tridiagonal systems, factored once and solved side by side: position k along the
/// wire is a row of every array, so that one SIMD instruction advances many wires.
///     (g_{k-1} + g_k + G_k) x_k − g_{k-1} x_{k-1} − g_k x_{k+1} = b_k,   g = 1/segment, ends to the connected terminals
/// which is symmetric positive definite as soon as one end is connected or a load is not 0.
class LineSet {
 public:
  using Array = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Ends = Eigen::Array<double, 1, Eigen::Dynamic>;

  /// load (length, wires): conductance from each node to the other set. first, last: conductance of the end segments of every wire to
  /// their terminals (0: not connected); segment: conductance between neighbours.
  LineSet(const Array& load, double segment, const Ends& first, const Ends& last);

  /// x ← (tridiagonal)⁻¹ x, all wires, in place.
  void solve(Array& x) const;

  /// y = (tridiagonal) x.
  void multiply(const Array& x, Array& y) const;

 private:
  double segment_;
  Array diagonal_;
  Array inverse_pivot_;
};

}  // namespace nudge
