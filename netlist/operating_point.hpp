// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "netlist/nodal_equations.hpp"
#include "netlist/sparse_lu.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

/// Outcome of a solution.
struct OperatingPoint {
  /// converged: the last step of Newton's method was below 1e-9 of each unknown + 1e-12 (V, A), with no junction held back;
  /// the next step would be of its square. stalled: the matrix is singular (then `singular` says where), or no easing of the
  /// equations led to a solution; x is as it was. So it is where the net current of a node is above 1e-6 of its currents + 1 pA.
  Status status = Status::converged;
  int iterations = 0;  ///< number of factorisations, over all ways that were tried
  double residual_A =
      0;  ///< largest net current of a node at the state returned, or, if none was found, at the last one tried
  int unbalanced = -1;     ///< node whose net current is not small beside its currents; −1: none
  int singular = -1;       ///< unknown whose column depends on the others; −1: none
  bool finite = true;      ///< false: the last step met an expression that is not finite
  int worst_unknown = -1;  ///< unknown that moved most in the last step; −1: none
  int worst_element = -1;  ///< element whose junctions were held back most; −1: none
};

/// Solver of the equations of one netlist, for many solutions; one object per thread. It uses Newton's method with limited junction
/// voltages. If that does not arrive, it adds conductances from every node to ground that fall from 1e-2 S to nothing (gmin
/// stepping). Then it lets the sources rise from nothing (source stepping). A solution is a function of the values and of its start.
class OperatingPointSolver {
 public:
  /// Makes a solver of the equations, which must outlive it.
  explicit OperatingPointSolver(const NodalEquations& equations);
  /// Makes a solver of the same equations that shares the ordering of their matrix.
  OperatingPointSolver(const OperatingPointSolver& other);
  OperatingPointSolver& operator=(const OperatingPointSolver&) = delete;
  ~OperatingPointSolver();

  /// Solves for x (unknowns), starting from its present value. values: NodalEquations::values; actions: one per output, or none.
  OperatingPoint solve(const std::vector<double>& values, const std::vector<OutputAction>& actions,
                       std::vector<double>& x);

  /// Request for one of several points that are solved side by side, each as if alone: values, actions, and its state before and after.
  struct Request {
    const std::vector<double>* values;
    const std::vector<OutputAction>* actions;
    std::vector<double>* x;
    OperatingPoint found = {};
  };
  /// Solves several points. kLanes Jacobians at a time are factorised together if the circuit is nonlinear and small enough.
  /// A point that needs more than Newton's method with the chosen pivots is solved by itself.
  void solve(std::span<Request> points);

  /// Solves b (unknowns) ← A⁻ᵀ b with the Jacobian A at x without actions. Status: stalled if A is singular.
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
  void weigh(const std::vector<double>& x, const std::vector<double>& residual, OperatingPoint& found);
  void prepare();

  const NodalEquations* equations_;
  SparseLu lu_;
  bool pivots_ = false;
  std::vector<double> residual_, jacobian_, trial_, begun_, currents_;
  std::unique_ptr<LaneLu> lanes_lu_;  ///< null: points are solved one by one
  std::vector<Lane> lanes_;
};

/// Error text of a failed solution, "Newton's method did not converge (…)", with the unknown or element by name and the last residual.
std::string describe_failure(const NodalEquations& equations, const OperatingPoint& found);

}  // namespace nudge
