// SPDX-License-Identifier: Apache-2.0
// Inexact Newton with backtracking: solve J d = −F by GMRES to a relative residual η, then z ← z + λ d with the largest
// λ in {1, 1/2, 1/4, ...} for which ‖F(z + λ d)‖ ≤ (1 − 1e-4 λ (1 − η)) ‖F(z)‖.
// Source: Eisenstat & Walker, SIAM J. Sci. Comput. 17 (1996) 16: algorithm INB, constant 1e-4; forcing term of choice 2
// with γ = 0.9, α = 2, η_max = 0.9 and its safeguard. η ≥ 1e-4 (chosen by us: beyond that one more Newton step is
// cheaper than more GMRES). A Newton step converges to any zero of F, also to an unstable one. For noise-free forces.
#include <algorithm>
#include <limits>

#include "sim/steady/krylov.hpp"
#include "sim/steady/monitor.hpp"
#include "sim/steady/solvers.hpp"

namespace nudge {
namespace {

constexpr double kSufficientDecrease = 1e-4;
constexpr double kMaxForcing = 0.9;
constexpr double kMinForcing = 1e-4;
constexpr int kMaxHalvings = 20;
constexpr double kNear =
    0.1;                    // of a state's norm: from there the next step is exact to about its square (chosen by us)
constexpr int kCycles = 4;  // GMRES restarts per Newton step at most (chosen by us)

/// η_k of choice 2: follows the square of the last reduction of ‖F‖, but does not drop faster than its own square.
double forcing_term(double last, double norm, double last_norm) {
  double eta = kMaxForcing * (norm / last_norm) * (norm / last_norm);
  const double safeguard = kMaxForcing * last * last;
  if (safeguard > 0.1) eta = std::max(eta, safeguard);
  return std::clamp(eta, kMinForcing, kMaxForcing);
}

template <class S>
class NewtonSystem {
 public:
  NewtonSystem(Dynamics<S>& dynamics, MatrixRef<S> z, SettleResult& result)
      : dynamics_(dynamics), z_(z), result_(result), rows_(z.rows()), cols_(z.cols()) {}

  double evaluate(Vector<S>& f) {
    dynamics_.force(z_, as_state(f, rows_, cols_));
    ++result_.force_evaluations;
    return frobenius_norm<S>(as_state(f, rows_, cols_));
  }

  /// Computes d with ‖J d + F‖ ≤ η ‖F‖, or as near as GMRES comes.
  void direction(const Vector<S>& f, double eta, int krylov, Vector<S>& d) {
    Linearization<S>& at = dynamics_.linearize(z_);
    const LinearOperator<S> jacobian = [&](const Vector<S>& v, Vector<S>& out) {
      at.jvp(as_state(v, rows_, cols_), as_state(out, rows_, cols_));
    };
    const Vector<S> b = -f;
    d.setZero();
    const GmresResult solved =
        gmres<S>(jacobian, b, d, {.tolerance = eta, .krylov = krylov, .max_iterations = kCycles * krylov});
    result_.force_evaluations += 1 + solved.applications;
  }

  /// True if the zero that J d = −F points to is near the present z, of its own size. Of a state that runs away it is not, however small F.
  bool is_near(const Vector<S>& f, int krylov, Vector<S>& d) {
    if (!z_.allFinite() || !f.allFinite()) return false;
    direction(f, kNear, krylov, d);
    return static_cast<double>(d.norm()) <= kNear * frobenius_norm<S>(z_);
  }

  /// Backtracks along d from the present z with force norm `norm`; false (and z as it was) when nothing helps.
  bool line_search(const Vector<S>& d, double eta, double& norm, Vector<S>& f) {
    const Matrix<S> start = z_;
    const Vector<S> start_force = f;
    double lambda = 1;
    for (int halving = 0; halving <= kMaxHalvings; ++halving, lambda /= 2) {
      z_ = start + static_cast<S>(lambda) * as_state(d, rows_, cols_);
      const double trial = evaluate(f);
      if (trial <= (1 - kSufficientDecrease * lambda * (1 - eta)) * norm) {
        norm = trial;
        return true;
      }
    }
    z_ = start;
    f = start_force;
    return false;
  }

 private:
  Dynamics<S>& dynamics_;
  MatrixRef<S> z_;
  SettleResult& result_;
  Index rows_, cols_;
};

}  // namespace

template <class S>
SettleResult settle_newton_gmres(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options,
                                 SettleWorkspace<S>& scratch) {
  dynamics.set_read_timing({1, 0});  // iterations of a computer
  Monitor monitor(options, scratch.residuals);
  SettleResult result;
  NewtonSystem<S> system(dynamics, z, result);
  Vector<S> f(z.size());
  Vector<S> d(z.size());
  double norm = system.evaluate(f);
  double eta = 0.1;
  const auto stops = [&] {
    if (!monitor.observe(frobenius_norm<S>(z), norm)) return false;
    if (!monitor.diverged() || !system.is_near(f, 10 * options.memory, d)) return true;
    return monitor.go_on_from(frobenius_norm<S>(z));
  };
  while (!stops() && result.steps < options.max_steps) {
    system.direction(f, eta, 10 * options.memory, d);
    const double last_norm = norm;
    if (norm == 0 || !system.line_search(d, eta, norm, f)) {
      monitor.give_up(20 * static_cast<double>(std::numeric_limits<S>::epsilon()));
      break;
    }
    ++result.steps;
    eta = forcing_term(eta, norm, last_norm);
  }
  return monitor.finish(result);
}

#define NUDGE_NEWTON_GMRES(S) \
  template SettleResult settle_newton_gmres<S>(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_NEWTON_GMRES)

}  // namespace nudge
