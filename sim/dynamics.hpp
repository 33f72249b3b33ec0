// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "sim/base/matrix.hpp"
#include "sim/bath.hpp"
#include "sim/box.hpp"
#include "sim/direct.hpp"
#include "sim/gradient_sink.hpp"
#include "sim/inertia.hpp"
#include "sim/kept_points.hpp"
#include "sim/layer_energies.hpp"
#include "sim/layered.hpp"
#include "sim/read_timing.hpp"

namespace nudge {

/// Parts of a force: a conservative term is minus the gradient of an energy (symmetric Jacobian).
enum class Part { all, conservative, nonconservative };

/// Forces that act while nudged, with v = z − z₀ (sim/nudged_law.hpp).
enum class NudgedForm {
  conservative,  ///< F_c(z), or what the hardware makes of it near z₀: stored products of z₀, and arrays driven by v alone
  corrected,   ///< F(z) − (J_n − J_nᵀ) v
  transposed,  ///< conservative + J_nᵀ v
};

/// A node of a layered system by its number, or all of them.
inline constexpr int kAllNodes = -1;

/// A force linearised at a point z₀, with everything cached that the point needs. Directions are (k·rows, cols): k
/// copies of the system stacked by rows share the cache (the +β and −β states of one nudged phase run side by side).
/// Owned by its Dynamics and valid until the next linearize().
///
/// A training step calls the hooks in the order of their numbers: 1 for the anchor, 2 to 4 in every step of the nudged phase, 5 for the
/// gradient.
///
/// Of a system kept in a box, units that rest on a bound while their force pushes outwards do not move (Box): m is 0 there, and
/// force, J v, Jᵀ u and correlation are those of the units that can move, J = m (∂F/∂z) m.
template <class S>
class Linearization {
 public:
  virtual ~Linearization() = default;

  // ---- Must have ----

  /// 1. f = F(z₀) of the chosen terms, (rows, cols).
  virtual void force(MatrixRef<S> f, Part part = Part::all) = 0;

  /// 3. out = J v, drive forward; J = ∂F/∂z at z₀ of the chosen terms, v and out (k·rows, cols).
  virtual void jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part part = Part::all) = 0;

  /// 4. out = Jᵀ u, drive backward.
  virtual void vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part part = Part::all) = 0;

  /// 5. Correlates locally: adds scale · ⟨u, ∂F/∂θ(z₀)⟩ for every parameter θ of the force to the sink; u (rows, cols). If `pulled` is
  /// not empty it becomes Jᵀ u, of the same reads.
  virtual void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> pulled) = 0;

  // ---- Speed-up ----

  /// 2. Forms a force of the nudged phase in one pass, if the parts of the system share work; z and f (k·rows, cols); of one node its
  /// columns of f alone. Returns false where it does not, the default: f is not touched, and force, jvp and vjp form the force.
  virtual bool law(NudgedForm /*form*/, ConstMatrixRef<S> /*z*/, MatrixRef<S> /*f*/, int /*node*/ = kAllNodes) {
    return false;
  }

  void accumulate_parameter_gradient(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink) {
    Matrix<S> nothing;
    accumulate(u, scale, sink, nothing);
  }
};

/// Facts of a system that solvers and estimators go by.
template <class S>
struct DynamicsTraits {
  /// L of the linear part −L z of F that every element of z has, in 1/τ: solvers follow it exactly, noise included
  /// (sim/read_timing.hpp). 0: none known.
  double leak = 0;
  bool noisy = false;         ///< a read of the system has fresh noise: two evaluations at one z may then differ
  bool feed_forward = false;  ///< every node is driven by earlier ones and its own leak alone: J is lower triangular
  /// Bounds of the states: solvers project after every step. force() and the laws of the nudged phase know nothing of them,
  /// linearize() does. Null: none.
  const Box<S>* box = nullptr;
};

/// Optional interfaces that a system has, each in a header of its own. Null: it has none.
template <class S>
struct Capabilities {
  /// Purpose of the evaluations that follow: who uses the system writes it there. linearize() and the correlation are of the
  /// classes stored and correlation whatever was written. Null: it makes no difference to this system.
  Reading* reading = nullptr;
  Layered<S>* layered = nullptr;  ///< nodes that can be moved one after the other
  KeptPoints<S>* kept_points =
      nullptr;                  ///< linearisations put aside; null also where reads cannot be put aside as they are
  Direct<S>* direct = nullptr;  ///< equations that it solves itself
  LayerEnergies<S>* layer_energies = nullptr;
  Bath<S>* bath = nullptr;        ///< of a system that is layered too
  Inertia<S>* inertia = nullptr;  ///< capacitances of the units; null: τ dz/dt = F(z)
};

/// Anything that settles: τ dz/dt = F(z). A state is (rows, cols). Not thread-safe: one object per thread.
///
/// A training step calls 1 in every step of the free phase and 2 at z*; the Linearization serves the rest. 3 and 4 serve other
/// estimators.
template <class S>
class Dynamics {
 public:
  virtual ~Dynamics() = default;

  // ---- Must have ----

  virtual Index rows() const = 0;
  virtual Index cols() const = 0;

  /// 1. f = F(z) of the chosen terms; z and f (k·rows, cols), k ≥ 1 independent copies.
  virtual void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part = Part::all) = 0;

  /// 2. Linearises the force at z (rows, cols).
  virtual Linearization<S>& linearize(ConstMatrixRef<S> z) = 0;

  // ---- Has a default ----

  virtual DynamicsTraits<S> traits() const { return {}; }

  /// 3. E(z) with −∂E/∂z = F_conservative(z), summed over the state. Default: the conservative part has no energy.
  virtual std::optional<double> energy(ConstMatrixRef<S> /*z*/) { return std::nullopt; }

  /// 4. The contrastive rule (Scellier & Bengio 2017): adds −Σ_k scales[k] ∂E/∂θ(z_k) for every parameter of the conservative part to
  /// the sink; z holds the states z_k (rows, cols) side by side. Returns false where the system has no such rule or the force is not
  /// wholly conservative, the default.
  virtual bool accumulate_energy_gradient(ConstMatrixRef<S> /*z*/, std::span<const S> /*scales*/,
                                          GradientSink<S>& /*sink*/) {
    return false;
  }

  // ---- Speed-up and other optional interfaces ----

  /// Default: none.
  virtual Capabilities<S> capabilities() { return {}; }

  // The same by other words.
  Reading* reading() { return capabilities().reading; }
  Layered<S>* layered() { return capabilities().layered; }
  KeptPoints<S>* kept_points() { return capabilities().kept_points; }
  Direct<S>* direct() { return capabilities().direct; }
  Inertia<S>* inertia() { return capabilities().inertia; }
  bool accumulate_energy_gradient(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) {
    return accumulate_energy_gradient(z, std::span<const S>(&scale, 1), sink);
  }
  double leak() const { return traits().leak; }
  bool noisy() const { return traits().noisy; }
  const Box<S>* box() const { return traits().box; }
  void begin_reads(ReadClass kind) {
    if (Reading* now = reading()) now->kind = kind;
  }
  /// Sets the time of the reads of the relaxation that follows. White read noise of strength σ per √τ has the standard deviation
  /// σ/√interval per evaluation.
  void set_read_timing(ReadTiming timing) {
    if (Reading* now = reading()) now->relaxation = timing;
  }
  void use_exact_derivatives(bool exact) {
    if (Reading* now = reading()) now->exact = exact;
  }
};

/// x ← m ⊙ x, one copy: 0 where the state of a boxed system rests at the linearised point z₀ (Linearization). `f` is working
/// memory.
template <class S>
void hold_at_rest(const Dynamics<S>& dynamics, Linearization<S>& at, ConstMatrixRef<S> z0, MatrixRef<S> x,
                  Matrix<S>& f) {
  const Box<S>* box = dynamics.box();
  if (box == nullptr) return;
  f.resize(z0.rows(), z0.cols());
  at.force(f);
  box->hold(z0, f, x, {0, z0.cols()});
}

/// m (rows, cols) of the linearised point z₀: 1 where the state can move, 0 where it rests on a bound of its box. Empty: all can.
template <class S>
Matrix<S> moving_units(const Dynamics<S>& dynamics, Linearization<S>& at, ConstMatrixRef<S> z0) {
  Matrix<S> moving, f;
  if (dynamics.box() == nullptr) return moving;
  moving.setOnes(z0.rows(), z0.cols());
  hold_at_rest<S>(dynamics, at, z0, moving, f);
  return moving;
}

}  // namespace nudge
