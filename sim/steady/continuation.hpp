// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "sim/dynamics.hpp"
#include "sim/spectrum.hpp"

namespace nudge {

/// System at a value of its parameter, valid until the next call; F(z; p) and its first derivatives are continuous in p.
using DynamicsAt = std::function<Dynamics<double>&(double parameter)>;

struct ContinuationOptions {
  double step =
      0.05;  ///< largest Δs: a share of the parameter's range or of the state's scale (rms of the start, or 1)  [> 0]
  int max_points = 400;           ///< limit on the points, located ones not counted  [≥ 1]
  SpectrumOptions spectrum = {};  ///< options for the eigenvalues that are watched; more of them where all are unstable
};

/// Kind of a point of a branch.
enum class BranchKind {
  regular,
  fold,       ///< a real eigenvalue is 0, and the branch turns back in the parameter (det J = 0, dp/ds = 0)
  hopf,       ///< a complex pair is on the imaginary axis
  branching,  ///< a real eigenvalue passes 0 and the branch does not turn: another one meets it (pitchfork, transcritical)
};
const char* to_string(BranchKind kind);

struct BranchPoint {
  double parameter = 0;
  BranchKind kind = BranchKind::regular;
  double abscissa = 0;   ///< largest real part of an eigenvalue of J, 1/τ
  double frequency = 0;  ///< |Im| of the eigenvalue that passes (regular point: of the leading one), radians per τ
  int unstable = 0;      ///< eigenvalues of positive real part; at a located point without those at 0
  HopfForm hopf = {};    ///< normal form at kind hopf, where the pair leads and the state is small enough (hopf_limit)
  double residual = 0;   ///< ‖F‖/‖z‖
  Matrix<double> z;      ///< (rows, cols)
};

/// Reason why a branch ends.
enum class BranchEnd {
  reached,     ///< at the other end of the parameter's range
  returned,    ///< back at the end where it began, behind folds
  unfinished,  ///< at max_points
  lost,        ///< no point within a 4096th of the largest step: the equilibrium, or a derivative of F, ends there
};
const char* to_string(BranchEnd end);

struct Branch {
  std::vector<BranchPoint> points;  ///< in the order of the branch; empty: no equilibrium near the start
  BranchEnd end = BranchEnd::lost;
  bool converged = true;  ///< true if the eigenvalues of all points have converged
};

/// Follows the equilibria F(z; p) = 0 from the one near `start` (rows, cols) at p = from, through folds, as long as p stays
/// between from and to. The method is pseudo-arclength continuation (Keller, in Applications of Bifurcation Theory, 1977, p.
/// 359). With x = (z/max(‖start‖, √n), (p − from)/(to − from)), a step Δs along the unit tangent t is corrected by Newton's
/// method on
///     F(x) = 0,  tᵀ(x − x₀) = Δs,
/// Its matrix (J F_p; tᵀ) is regular at a fold too. GMRES on the jvp solves for the corrections and the tangents.
///
/// A point where an eigenvalue of J passes the imaginary axis is bracketed between two steps and located within 1e-10 of s.
/// Folds are located as zeros of dp/ds. The others are zeros of the real part, taken in the order of their real parts, which is
/// continuous. Two eigenvalues that pass there and back within one step are not seen. Not for systems in a box, whose J jumps.
Branch follow_equilibrium(const DynamicsAt& at, double from, double to, const Matrix<double>& start,
                          const ContinuationOptions& options = {});

}  // namespace nudge
