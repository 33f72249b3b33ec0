// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <memory>
#include <string>
#include <vector>

#include "netlist/complex_lu.hpp"
#include "netlist/nodal_equations.hpp"

namespace nudge {

/// Small-signal analysis of a netlist about an operating point x, as ngspice's .ac:
///     (∂r/∂x + iω C) y = b
/// with the capacitances of nodes, capacitors and junctions in C, and in the rows of inductors v₊ − v₋ − iω (L i + Σ M i_k) = 0. b has the AC
/// amplitudes and phases of the independent sources. y are the unknowns of NodalEquations. One object per thread.
class AcResponse {
 public:
  /// Linearises the equations at x. Capacitances of the nodes to ground in F; none: 0 F.
  AcResponse(const NodalEquations& equations, const std::vector<double>& x,
             const std::vector<double>& node_capacitance_F);

  /// Computes y at a frequency. False: the matrix is singular there.
  bool at(double hertz, std::vector<std::complex<double>>& y);
  /// Computes the adjoint y of the voltage between two nodes at a frequency, (∂r/∂x + iω C)ᵀ y = e₊ − e₋. A current i from node a through an
  /// element to node b makes the voltage −(y_a − y_b) i. False: the matrix is singular there.
  bool adjoint_at(double hertz, const NodePair& output, std::vector<std::complex<double>>& y);

 private:
  void turn(const SparsePattern& pattern);
  bool solve(double hertz, bool turned, std::vector<std::complex<double>>& y);
  std::vector<double> siemens_, turned_siemens_, charging_, right_[2], scaled_;
  std::vector<std::complex<double>> sources_;
  std::unique_ptr<ComplexLu> lu_, turned_;
  std::vector<std::size_t> order_;  ///< entries in the order of the transposed matrix
};

/// Frequencies of a sweep as `.ac` has it. `dec N FROM TO` has N points per decade, `oct N FROM TO` N per octave, `lin N FROM TO` N in all.
/// UserError that begins with `where` for another form, or for more than 10⁵ points.
std::vector<double> sweep_frequencies(const std::string& text, const std::string& where);

}  // namespace nudge
