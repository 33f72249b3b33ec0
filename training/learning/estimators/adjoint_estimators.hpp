// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/nudged_law.hpp"
#include "training/learning/estimators/nudged_phase.hpp"

namespace nudge {

/// Unknowns of a dense solve: beyond this the matrix alone takes 134 MB in double and the factorisation minutes.
inline constexpr Index most_dense_unknowns = 4096;

/// Sweeps the adjoint's relaxation once, from the last node to the first: a_j ← a_j + ε ((Jᵀ a)_j + g_j), each with the present
/// a. One sweep of εL = 1 settles an adjoint that is pulled back through nodes that drive later ones. `change` is working memory.
template <class S>
void adjoint_sweep(Layered<S>& layered, const NudgedPoint<S>& point, NudgedLaw<S>& law, ConstMatrixRef<S> g, S step,
                   Matrix<S>& a, Matrix<S>& change) {
  for (std::size_t node = layered.nodes(); node-- > 0;) {
    const auto [begin, count] = layered.node_columns(node);
    if (point.filter == nullptr) {
      layered.node_vjp(a, change, node);
    } else {
      law.vjp(point, a, change);
    }
    change.middleCols(begin, count) += g.middleCols(begin, count);
    a.middleCols(begin, count) += step * change.middleCols(begin, count);
  }
}

/// Backpropagation through the relaxation (BPTT): the gradient of the cost at z_T1 after T1 Euler steps from z_0 = x_in,
///     λ_T1 = ∂C/∂z,   λ_k = (1 + ε J(z_k)ᵀ) λ_{k+1},   dC/dθ = ε Σ_k ⟨λ_{k+1}, ∂F/∂θ(z_k)⟩,   dC/dz_0 = λ_0,
/// It is the reference for a truncated free phase. A tolerance, the mean of the last states and amplifiers (sim/mover.hpp)
/// are unrolled with it. It stores the trajectory: (T1 + 1) states, each with its linearisation if the dynamics can keep
/// it (KeptPoints). In a box, λ passes a projection where it did not clip. Euler only. On noisy arrays the states are
/// differentiated as they came, with the derivatives of the noise-free circuit there.
template <class S>
class BackpropThroughTime final : public GradientEstimator<S> {
 public:
  explicit BackpropThroughTime(const EstimatorOptions& options) : GradientEstimator<S>(options) {}
  SequenceReport estimate(Example<S>& example) override;

 private:
  using GradientEstimator<S>::options_;
  S force_norm(Example<S>& example);
  std::size_t forward(Example<S>& example, SequenceReport& report);
  void backward(Example<S>& example, std::size_t steps);
  SequenceReport through_sweep(Example<S>& example);

  FreePhase<S> free_;
  std::vector<Matrix<S>> trajectory_;
  ReadTiming timing_;              ///< of one step
  KeptPoints<S>* kept_ = nullptr;  ///< the dynamics keeps its linearisation at every step
  int averaged_ = 1;               ///< states that the final one is the mean of
  Matrix<S> end_;                  ///< of the last step, of a system in a box
  Matrix<S> held_, force_, flow_, mean_, cost_gradient_, lambda_, mu_, push_, change_;
};

/// Solver of the exact adjoint.
enum class AdjointSolver { gmres, dense, direct };

/// Implicit differentiation, the exact reference: solves J_F(z*)ᵀ a = −∂C/∂z(z*). At a fixed point a = dC/dx_in exactly. On units
/// that rest on a bound of their box a is 0. There are three solvers:
/// - GMRES on the vjp;
/// - dense, with J built column by column (T·C unknowns, T·C at most 4096: 134 MB in double);
/// - one transposed solution of a system that solves itself (Direct), the adjoint network of a circuit.
template <class S>
class ImplicitEstimator final : public GradientEstimator<S> {
 public:
  ImplicitEstimator(AdjointSolver solver, const EstimatorOptions& options)
      : GradientEstimator<S>(options), solver_(solver) {}
  SequenceReport estimate(Example<S>& example) override;

 private:
  using GradientEstimator<S>::options_;
  void solve_dense(Linearization<S>& at, const Matrix<S>& moving);
  void solve_direct(Example<S>& example, SequenceReport& report);
  void solve_gmres(Linearization<S>& at, SequenceReport& report);

  AdjointSolver solver_;
  FreePhase<S> free_;
  Matrix<S> cost_gradient_;
};

/// Recurrent backpropagation (Almeida 1987, Pineda 1987): the nudged phase of AEP in the limit β → 0, one phase, no jvp:
///     a ← a + ε (J_F(z*)ᵀ a + ∂C/∂z(z*)),  T2 times from a = 0.
template <class S>
class LinearAdjointEstimator final : public GradientEstimator<S> {
 public:
  explicit LinearAdjointEstimator(const EstimatorOptions& options) : GradientEstimator<S>(options) {}
  SequenceReport estimate(Example<S>& example) override;

 private:
  using GradientEstimator<S>::options_;
  FreePhase<S> free_;
  Matrix<S> cost_gradient_, change_, flow_;
  NudgedLaw<S> law_;
};

/// Dyadic equilibrium propagation (Scurria et al. 2026, arXiv:2602.03670): midpoint and half difference as two states,
///     from the OLD m: a ← a + ε (J_F(m)ᵀ a + ∂C/∂z(m)),  m ← m + ε F(m),  T2 times from m = z*, a = 0.
/// No β; correlated at the last m.
template <class S>
class DyadicEstimator final : public GradientEstimator<S> {
 public:
  explicit DyadicEstimator(const EstimatorOptions& options) : GradientEstimator<S>(options) {}
  SequenceReport estimate(Example<S>& example) override;

 private:
  using GradientEstimator<S>::options_;
  FreePhase<S> free_;
  Matrix<S> cost_gradient_, change_, force_, flow_, state_flow_;
  NudgedLaw<S> law_;
};

/// Frequency propagation (Anisetti, Kandala, Scellier & Schwarz 2022, arXiv:2208.08862) in its small-signal form. The error ∂C/∂z flows out of the
/// outputs as a current at ω₂ = error_frequency, beside the response to the inputs. Every element takes the product of the two amplitudes that it sees.
/// A state of capacitance τ responds to the error by
///     a = −Re (J − iω₂)⁻¹ ∂C/∂z
/// in phase, as a lock-in finds it. For ω₂ → 0 and Jᵀ = J this is the adjoint. A mode of rate λ has an error of (ω₂/λ)². Elements that are not
/// reciprocal add the whole difference of J and Jᵀ. The inputs are at rest (ω₁ = input_frequency = 0: the amplitude is the operating point's). Or, in a
/// circuit that is linear in its sources, all of these swing at ω₁: z₁ = −Re (J − iω₁)⁻¹ F(0), and cost and products are taken of z₁. ω in 1/τ. No
/// noise, no overtones: the limit of small currents. A system that solves itself does so (Direct::respond). Others use one dense LU of twice the
/// columns of a state, of all rows together. In a system with inertia J is D⁻¹ J, and D⁻¹ multiplies the drive.
///
/// With an oscillating nudge (Oscillation) the estimator works as a circuit does, in time and with its noise. The error −β ∂C/∂z swings at ω₂, the
/// sources at ω₁. A lock-in at every node for each listens for `periods` periods of the slower one, after `settling`. The faster is rounded to a whole
/// number of steps. The slower is rounded so that its period is a whole number of periods of the faster, at least two. Neither is then heard in the
/// other. Two runs where ω₁ > 0, since the error is taken of the amplitudes of the first. White noise falls with the root of the time.
template <class S>
class FrequencyEstimator final : public GradientEstimator<S> {
 public:
  explicit FrequencyEstimator(const EstimatorOptions& options) : GradientEstimator<S>(options) {}

  /// Estimates the gradient. UserError for more than 4096 unknowns of a dense LU, and for ω₁ > 0 in a system that is not linear. In time also for frequencies
  /// that steps do not follow or that are too near.
  SequenceReport estimate(Example<S>& example) override;

 private:
  using GradientEstimator<S>::options_;
  void respond(Example<S>& example, Linearization<S>& at, const Matrix<S>& drive, double omega, Matrix<S>& out);
  const Matrix<S>& sources(Example<S>& example);
  void swing(Example<S>& example);
  void start_lock_ins(double duration, const Matrix<S>& z);
  void run(Example<S>& example, S beta, SequenceReport& report);
  void listen(Example<S>& example, SequenceReport& report);

  FreePhase<S> free_;
  Matrix<S> cost_gradient_, rest_, force_, drive_, states_, moved_, flow_;
  LockIn<S> of_inputs_, of_error_;
};

}  // namespace nudge
