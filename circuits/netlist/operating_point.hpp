// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "circuits/netlist/nodal_equations.hpp"
#include "circuits/netlist/sparse_lu.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

/// What became of a solution.
struct OperatingPoint {
  /// converged: the last step of Newton's method was below 1e-9 of each unknown + 1e-12 (V, A), with no junction held back; the step after it would be
  /// of the square. stalled: the matrix is singular (then `singular` says where), or no way of easing the equations led to a solution; x is as it was.
  Status status = Status::converged;
  int iterations = 0;  ///< factorisations, of all ways that were tried
  double residual_A =
      0;  ///< largest net current of a node at the state returned, or, where none was found, at the last one tried
  int singular = -1;       ///< unknown whose column depends on the others; −1: none
  int worst_unknown = -1;  ///< that moved most in the last step; and
  int worst_element = -1;  ///< whose junctions were held back most; −1: none
};

/// Solves the equations of one netlist, again and again; one object per thread. By Newton's method with limited junction voltages; where it
/// does not arrive, with conductances from every node to ground that fall from 1e-2 S to nothing (gmin stepping); then with sources that rise
/// from nothing (source stepping). A solution is a function of the values and of where it starts.
class OperatingPointSolver {
 public:
  /// The equations must outlive it.
  explicit OperatingPointSolver(const NodalEquations& equations);
  /// A solver of the same equations that shares the ordering of their matrix.
  OperatingPointSolver(const OperatingPointSolver& other);
  OperatingPointSolver& operator=(const OperatingPointSolver&) = delete;
  ~OperatingPointSolver();

  /// x (unknowns) from where it is. values: NodalEquations::values; actions: one per output, or none.
  OperatingPoint solve(const std::vector<double>& values, const std::vector<OutputAction>& actions,
                       std::vector<double>& x);

  /// One of several that are solved side by side, each as if it were alone: values, actions and where it starts and ends.
  struct Request {
    const std::vector<double>* values;
    const std::vector<OutputAction>* actions;
    std::vector<double>* x;
    OperatingPoint found = {};
  };
  /// kLanes Jacobians at a time are factorised together where the circuit bends and is small enough for that; a point that needs more than
  /// Newton's method with the chosen pivots is solved by itself.
  void solve(std::span<Request> points);

  /// b (unknowns) ← A⁻ᵀ b of the Jacobian A at x without actions. Status: stalled where that is singular.
  OperatingPoint solve_transposed(const std::vector<double>& values, const std::vector<double>& x,
                                  std::vector<double>& b);

  const NodalEquations& equations() const { return *equations_; }

 private:
  struct Attempt;
  struct Lane;
  void newton_side_by_side(std::span<Request> points);
  bool newton(const Attempt& attempt, const Easing& easing, std::vector<double>& x, OperatingPoint& found);
  bool by_gmin(const Attempt& attempt, std::vector<double>& x, OperatingPoint& found);
  bool by_sources(const Attempt& attempt, std::vector<double>& x, OperatingPoint& found);
  double net_current(const Attempt& attempt, const std::vector<double>& x);
  double largest_current(const std::vector<double>& residual) const;
  void prepare();

  const NodalEquations* equations_;
  SparseLu lu_;
  bool pivots_ = false;
  std::vector<double> residual_, jacobian_, trial_;
  std::unique_ptr<LaneLu> lanes_lu_;  ///< null: points are solved one by one
  std::vector<Lane> lanes_;
};

/// "Newton's method did not converge (…)": what a failed solution says, the unknown or element by name and the last residual.
std::string describe_failure(const NodalEquations& equations, const OperatingPoint& found);

}  // namespace nudge
