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

/// Which terms of a force: a conservative term is minus the gradient of an energy (symmetric Jacobian).
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
/// Of a system kept in a box, units that rest on a bound while their force pushes outwards do not move (Box): m is 0 there, and
/// force, J v, Jᵀ u and correlation are those of the units that can move, J = m (∂F/∂z) m.
template <class S>
class Linearization {
 public:
  virtual ~Linearization() = default;

  /// F(z₀) of the chosen terms, (rows, cols).
  virtual void force(MatrixRef<S> f, Part part = Part::all) = 0;

  /// out = J v, drive forward; J = ∂F/∂z at z₀ of the chosen terms, v and out (k·rows, cols).
  virtual void jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part part = Part::all) = 0;

  /// out = Jᵀ u, drive backward.
  virtual void vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part part = Part::all) = 0;

  /// Correlate locally: adds scale · ⟨u, ∂F/∂θ(z₀)⟩ for every parameter θ of the force to the sink; u (rows, cols). Where pulled is
  /// not empty it becomes Jᵀ u, of the same reads.
  virtual void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> pulled) = 0;

  /// The laws of the nudged phase in one pass, for systems that share work between their parts; z and f (k·rows, cols), of one
  /// node its columns of f alone. false: f is not touched, the law is put together from force, jvp and vjp.
  virtual bool law(NudgedForm /*form*/, ConstMatrixRef<S> /*z*/, MatrixRef<S> /*f*/, int /*node*/ = kAllNodes) {
    return false;
  }

  void accumulate_parameter_gradient(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink) {
    Matrix<S> nothing;
    accumulate(u, scale, sink, nothing);
  }
};

/// What solvers and estimators must know of a system.
template <class S>
struct DynamicsTraits {
  /// L of the linear part −L z of F that every element of z has, in 1/τ: what solvers follow exactly, noise included
  /// (sim/read_timing.hpp). 0: none known.
  double leak = 0;
  bool noisy = false;         ///< any of its reads has fresh noise: two evaluations at one z may then differ
  bool feed_forward = false;  ///< every node is driven by earlier ones and its own leak alone: J is lower triangular
  /// What solvers keep the states in: they project after every step. force() and the laws of the nudged phase know nothing of it,
  /// linearize() does. Null: none.
  const Box<S>* box = nullptr;
};

/// What only some systems have; null: not this one.
template <class S>
struct Powers {
  /// What the evaluations that follow are for: who uses the system writes it there. linearize() and the correlation are of the
  /// classes stored and correlation whatever was written. Null: it makes no difference to this system.
  Reading* reading = nullptr;
  Layered<S>* layered = nullptr;
  KeptPoints<S>* kept_points = nullptr;  ///< null also where its reads as they are cannot be put aside
  Direct<S>* direct = nullptr;
  LayerEnergies<S>* layer_energies = nullptr;
  Bath<S>* bath = nullptr;        ///< of a system that is layered too
  Inertia<S>* inertia = nullptr;  ///< null: τ dz/dt = F(z)
};

/// Anything that settles: τ dz/dt = F(z). A state is (rows, cols). Not thread-safe: one object per thread. A system must have the
/// first four; the rest it can have.
template <class S>
class Dynamics {
 public:
  virtual ~Dynamics() = default;

  virtual Index rows() const = 0;
  virtual Index cols() const = 0;

  /// f = F(z) of the chosen terms; z and f (k·rows, cols), k ≥ 1 independent copies.
  virtual void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part = Part::all) = 0;

  virtual Linearization<S>& linearize(ConstMatrixRef<S> z) = 0;

  virtual DynamicsTraits<S> traits() const { return {}; }

  /// E(z) with −∂E/∂z = F_conservative(z), summed over the state; empty when the conservative part has no energy.
  virtual std::optional<double> energy(ConstMatrixRef<S> /*z*/) { return std::nullopt; }

  /// The contrastive rule (Scellier & Bengio 2017): adds −Σ_k scales[k] ∂E/∂θ(z_k), z_k the k-th of as many states (rows, cols) side
  /// by side in z, for every parameter of the conservative part to the sink. false: it has no such rule, or the force is not wholly
  /// conservative.
  virtual bool accumulate_energy_gradient(ConstMatrixRef<S> /*z*/, std::span<const S> /*scales*/,
                                          GradientSink<S>& /*sink*/) {
    return false;
  }

  /// What it can besides.
  virtual Powers<S> powers() { return {}; }

  // The same by other words.
  Reading* reading() { return powers().reading; }
  Layered<S>* layered() { return powers().layered; }
  KeptPoints<S>* kept_points() { return powers().kept_points; }
  Direct<S>* direct() { return powers().direct; }
  Inertia<S>* inertia() { return powers().inertia; }
  bool accumulate_energy_gradient(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) {
    return accumulate_energy_gradient(z, std::span<const S>(&scale, 1), sink);
  }
  double leak() const { return traits().leak; }
  bool noisy() const { return traits().noisy; }
  const Box<S>* box() const { return traits().box; }
  void begin_reads(ReadClass kind) {
    if (Reading* now = reading()) now->kind = kind;
  }
  /// Time of the reads of the relaxation that follows. White read noise of strength σ per √τ has the standard deviation
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
