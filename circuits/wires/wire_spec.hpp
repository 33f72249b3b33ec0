// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <string>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Number of ends of a wire that are connected.
enum class LineEnds { one, both };

/// Wires of a crossbar of N rows and M columns. Device (i, j) joins row wire i and column wire j. Neighbouring devices on a
/// wire are `row_ohm` or `column_ohm` apart. The segment from a connected end to the first device has the same resistance.
/// Rows, held at v_i, add the driver's resistance to it; columns, held at 0 V, the sense amplifier's. A wire without
/// resistance is one node, behind its driver or amplifier. One end: rows are driven at j = 0 and columns sensed at
/// i = N − 1. Typical metal: 0.15–0.35 ohm per cell relaxed, 1–5 ohm at 50–22 nm.
struct WireSpec {
  double row_ohm = 0;
  double column_ohm = 0;
  double driver_ohm = 0;
  double sense_ohm = 0;
  LineEnds rows_driven = LineEnds::one;
  LineEnds columns_sensed = LineEnds::one;

  bool rows_ideal() const { return row_ohm == 0 && driver_ohm == 0; }
  bool columns_ideal() const { return column_ohm == 0 && sense_ohm == 0; }
  bool ideal() const { return rows_ideal() && columns_ideal(); }

  /// Throws UserError naming the field if a resistance is negative or not finite.
  void validate() const;
};

/// Lines whose terminals are connected to nothing: currents reach them through devices alone. Empty: none.
struct OpenLines {
  std::vector<bool> rows, columns;
  bool any() const { return !rows.empty() || !columns.empty(); }
};

/// IR-drop figure L, the share of the signal lost in wires, drivers and sense amplifiers. It is the heat in all of them over
/// the heat in the devices. Every device is taken to carry the current G_ij v of ideal wires (rows all at v). With every row
/// driven alike, 1 − L + O(L²) of the column currents' sum with ideal wires arrives. It is at least 1/(1 + L), by Thomson's
/// principle (no flow of a given current makes less heat than the true one). One end, N x M devices of equal G:
///     L = G [R_driver M + r_row (M + 1)(2M + 1)/6 + R_sense N + r_column (N + 1)(2N + 1)/6]  ~  (2/3) R G N² if N = M,
/// and at most (1 + L/5)/(1 + 6L/5) of the current arrives. Here 1.2 is the mean square over squared mean of the drop along
/// a wire, the parabola u − u²/2. It is less for wires of both kinds and for ends. Zero-mean inputs lose less.
double ir_drop_figure(const WireSpec& spec, const Matrix<double>& conductance_S);

/// Range of device conductances that a solver takes.
enum class DeviceSign {
  positive,  ///< ≥ 0
  any,       ///< a central difference may pass 0: small against the wires, the system stays positive definite
};

/// Result of a solve for one vector of row voltages.
struct WireSolution {
  Matrix<double> currents_A;  ///< (1, M), into the sense amplifiers
  int iterations = 0;
  double residual = 0;  ///< relative residual of the column equations
  bool converged = true;
};

/// Parallel wires of equal length as tridiagonal systems, factored once and solved side by side. Position k along the
/// wire is a row of every array, so one SIMD instruction advances many wires.
///     (g_{k-1} + g_k + G_k) x_k − g_{k-1} x_{k-1} − g_k x_{k+1} = b_k,   g = 1/R, ends to the connected terminals
/// which is symmetric positive definite as soon as one end is connected or a load is not 0. Elimination in the form of
/// resistances in series and parallel: e_k = G_k + e_{k−1}/(1 + R e_{k−1}) is the conductance of node k and of all before
/// it. No number is the difference of two others (as in Grassmann, Taksar and Heyman, Operations Research 33, 1985), so
/// every R ≥ 0 keeps all digits. R = 0: a wire is one node.
class LineSet {
 public:
  using Array = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Ends = Eigen::Array<double, 1, Eigen::Dynamic>;

  /// Factors the wires. load (length, wires): conductance from each node to the other set. first, last: conductance of the
  /// end segments of every wire to their terminals (0: not connected). segment_ohm: resistance R between neighbours.
  LineSet(const Array& load, double segment_ohm, const Ends& first, const Ends& last);

  /// Solves x ← (tridiagonal)⁻¹ x, all wires, in place: node voltages of the currents x that are pushed into the nodes.
  void solve(Array& x) const;

 private:
  double segment_ohm_;
  Array passed_;  ///< (length, wires): 1/(1 + R e_k); of the last node 1/e
};

}  // namespace nudge
