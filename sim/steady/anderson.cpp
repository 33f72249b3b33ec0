// SPDX-License-Identifier: Apache-2.0
// Anderson acceleration of the fixed-point map g(z) = z + ε F(z), type II with memory m (D. G. Anderson, J. ACM 12
// (1965) 547; the form of Walker & Ni, SIAM J. Numer. Anal. 49 (2011) 1715, eq. 2.2):
//   γ = argmin ‖F_k − ΔF γ‖,   z_{k+1} = z_k + ε F_k − (ΔZ + ε ΔF) γ,
// with the last m differences of states and forces as columns of ΔZ and ΔF. On a linear system it is GMRES in disguise.
// Not an ODE: no simulated time, no energy. For noise-free forces; the history is dropped when ‖F‖ more than doubles in a step.
#include <algorithm>

#include "sim/base/decompositions.hpp"
#include "sim/steady/krylov.hpp"
#include "sim/steady/monitor.hpp"
#include "sim/steady/solvers.hpp"

namespace nudge {
namespace {

/// The last m differences, as columns in a ring (their order does not matter).
template <class S>
class History {
 public:
  History(Index n, Index memory) : states_(n, memory), forces_(n, memory) {}

  void clear() { count_ = next_ = 0; }

  void add(const Vector<S>& state, const Vector<S>& force) {
    states_.col(next_) = state;
    forces_.col(next_) = force;
    next_ = (next_ + 1) % states_.cols();
    count_ = std::min(count_ + 1, states_.cols());
  }

  /// Step z_{k+1} − z_k for the force f. Dependent columns are left out by the pivoted QR (default threshold m·eps).
  Vector<S> step(const Vector<S>& f, S epsilon) const {
    Vector<S> d = epsilon * f;
    if (count_ == 0) return d;
    const auto forces = forces_.leftCols(count_);
    const Vector<S> gamma = least_squares<S>(forces, f);
    if (!gamma.allFinite()) return d;
    d.noalias() -= states_.leftCols(count_) * gamma;
    d.noalias() -= epsilon * (forces * gamma);
    return d;
  }

 private:
  Basis<S> states_, forces_;
  Index count_ = 0, next_ = 0;
};

}  // namespace

template <class S>
SettleResult settle_anderson(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options,
                             SettleWorkspace<S>& scratch) {
  const Index rows = z.rows();
  const Index cols = z.cols();
  const Index n = z.size();
  dynamics.set_read_timing({1, 0});  // iterations of a computer
  Monitor monitor(options, scratch.residuals);
  SettleResult result;
  History<S> history(n, std::min<Index>(options.memory, n));
  Vector<S> f(n);
  Vector<S> last_f;
  Vector<S> d;
  for (;; ++result.steps) {
    dynamics.force(z, as_state(f, rows, cols));
    ++result.force_evaluations;
    const double norm = frobenius_norm<S>(as_state(f, rows, cols));
    if (monitor.observe(frobenius_norm<S>(z), norm) || result.steps >= options.max_steps) return monitor.finish(result);
    if (result.steps > 0) {
      if (norm > 2 * static_cast<double>(last_f.norm())) {
        history.clear();
      } else {
        history.add(d, f - last_f);
      }
    }
    d = history.step(f, static_cast<S>(options.step));
    if (!d.allFinite()) {
      monitor.give_up();
      return monitor.finish(result);
    }
    last_f = f;
    z += as_state(d, rows, cols);
  }
}

#define NUDGE_ANDERSON(S) \
  template SettleResult settle_anderson<S>(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_ANDERSON)

}  // namespace nudge
