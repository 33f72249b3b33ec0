// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "sim/base/matrix.hpp"
#include "sim/bath.hpp"
#include "sim/box.hpp"
#include "sim/direct.hpp"
#include "sim/driven.hpp"
#include "sim/gradient_sink.hpp"
#include "sim/inertia.hpp"
#include "sim/kept_points.hpp"
#include "sim/layer_energies.hpp"
#include "sim/layered.hpp"
#include "sim/read_timing.hpp"

namespace nudge {

/// Parts of a force. The conservative part is minus the gradient of an energy: its Jacobian is symmetric.
enum class Part { all, conservative, nonconservative };

/// Forces that act while nudged, with v = z − z₀ (sim/nudged_law.hpp).
enum class NudgedForm {
  conservative,  ///< F_c(z). On hardware: stored products of z₀, and arrays that v alone drives
  corrected,     ///< F(z) − (J_n − J_nᵀ) v
  transposed,    ///< conservative + J_nᵀ v
};

/// A node of a layered system by its number, or all of them.
inline constexpr int kAllNodes = -1;

/// A force linearised at a point z₀, with everything cached that the point needs. Its Dynamics owns it; the next linearize() makes it
/// invalid. Directions are (k·rows, cols): k copies of the system stacked by rows share the cache. The +β and −β states of one nudged
/// phase run side by side in this way.
///
/// A training step calls the hooks in the order of their numbers. It calls 1 for the anchor, 2 to 4 in every step of the nudged phase,
/// and 5 for the gradient.
///
/// In a box (Box), units that rest on a bound while their force pushes outwards do not move: m is 0 there, 1 elsewhere. Force, J v, Jᵀ
/// u and correlation are then of the units that can move, J = m (∂F/∂z) m.
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

  /// 2. Speed-up if the parts of the system share work: forms a force of the nudged phase in one pass. z and f are (k·rows, cols);
  /// for one node only its columns of f are written. The default returns false and leaves f alone; force, jvp and vjp then form the
  /// force.
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
  /// L of the linear part −L z of F that every element of z has, in 1/τ. Solvers follow this part exactly, noise
  /// included (sim/read_timing.hpp). 0: none known.
  double leak = 0;
  bool noisy = false;         ///< a read of the system has fresh noise: two evaluations at one z may then differ
  bool feed_forward = false;  ///< every node is driven by earlier ones and its own leak alone: J is lower triangular
  /// Bounds of the states; null: none. Solvers project after every step. force() and the laws of the nudged phase ignore
  /// them, linearize() does not.
  const Box<S>* box = nullptr;
};

/// Optional interfaces of a system, each in a header of its own. Null: the system has none.
template <class S>
struct Capabilities {
  /// Purpose of the evaluations that follow, written by the user of the system. linearize() always reads as `stored`, the
  /// correlation as `correlation`. Null: the purpose makes no difference to this system.
  Reading* reading = nullptr;
  Layered<S>* layered = nullptr;         ///< nodes that can be moved one after the other
  KeptPoints<S>* kept_points = nullptr;  ///< puts linearisations aside; null also where a read cannot be put aside
  Direct<S>* direct = nullptr;           ///< solves the system's own equations
  LayerEnergies<S>* layer_energies = nullptr;
  Bath<S>* bath = nullptr;        ///< moves nodes in contact with a bath; the system is layered too
  Inertia<S>* inertia = nullptr;  ///< capacitances of the units; null: τ dz/dt = F(z)
  Driven<S>* driven = nullptr;    ///< inputs that change in time; null: they stand still
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

  /// 4. The contrastive rule (Scellier & Bengio 2017): adds −Σ_k scales[k] ∂E/∂θ(z_k) to the sink, for every parameter of the
  /// conservative part. z holds the states z_k (rows, cols) side by side. The default returns false: the system has no such rule, or
  /// its force is not wholly conservative.
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
  Driven<S>* driven() { return capabilities().driven; }
  bool accumulate_energy_gradient(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) {
    return accumulate_energy_gradient(z, std::span<const S>(&scale, 1), sink);
  }
  double leak() const { return traits().leak; }
  bool noisy() const { return traits().noisy; }
  const Box<S>* box() const { return traits().box; }
  void begin_reads(ReadClass kind) {
    if (Reading* now = reading()) now->kind = kind;
  }
  /// Sets the time of the reads of the next relaxation. White read noise of strength σ per √τ has the standard deviation
  /// σ/√interval per evaluation.
  void set_read_timing(ReadTiming timing) {
    if (Reading* now = reading()) now->relaxation = timing;
  }
  void use_exact_derivatives(bool exact) {
    if (Reading* now = reading()) now->exact = exact;
  }
};

/// Masks x ← m ⊙ x, one copy: 0 where the state of a boxed system rests at the linearised point z₀ (Linearization). `f` is
/// working memory.
template <class S>
void hold_at_rest(const Dynamics<S>& dynamics, Linearization<S>& at, ConstMatrixRef<S> z0, MatrixRef<S> x,
                  Matrix<S>& f) {
  const Box<S>* box = dynamics.box();
  if (box == nullptr) return;
  f.resize(z0.rows(), z0.cols());
  at.force(f);
  box->hold(z0, f, x, {0, z0.cols()});
}

/// Mask m (rows, cols) of the linearised point z₀: 1 where the state can move, 0 where it rests on a bound of its box. Empty:
/// every unit can move.
template <class S>
Matrix<S> moving_units(const Dynamics<S>& dynamics, Linearization<S>& at, ConstMatrixRef<S> z0) {
  Matrix<S> moving, f;
  if (dynamics.box() == nullptr) return moving;
  moving.setOnes(z0.rows(), z0.cols());
  hold_at_rest<S>(dynamics, at, z0, moving, f);
  return moving;
}

}  // namespace nudge
