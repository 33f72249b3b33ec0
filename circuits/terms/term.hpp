// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "circuits/linear_map.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// What drives the arrays of the conservative terms in the transposed form of the nudged phase.
enum class NudgedDrive {
  state,       ///< z: the circuit simply keeps relaxing
  difference,  ///< v = z − z* alone; the products of z* are stored. Converters then range over v, not over z
};

/// A term of a circuit's force as one thread evaluates it for one example: working memory, and what is remembered of the
/// point where the force was last linearised. States, forces and directions are those of the whole circuit, (k·rows, cols)
/// for k copies stacked by rows; a term reads and adds to the columns of its own nodes. Everything is added.
template <class S>
class TermSystem {
 public:
  virtual ~TermSystem() = default;

  /// A new example: what clamps the circuit's input, (rows, inputs). It stays alive and as it is until the next bind().
  virtual void bind(const Matrix<S>& /*input*/) {}

  /// f += F(z) of the chosen part.
  virtual void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, ReadContext& read) = 0;

  /// f += what of F(z) acts on node number `node`, one of the targets; other columns of f may be added to.
  virtual void node_force(ConstMatrixRef<S> z, MatrixRef<S> f, int /*node*/, ReadContext& read) {
    force(z, f, Part::all, read);
  }

  /// The same with f = instead of +=, of the columns of that node. false: f is not touched, ask node_force().
  virtual bool assign_node_force(ConstMatrixRef<S> /*z*/, MatrixRef<S> /*f*/, int /*node*/, ReadContext& /*read*/) {
    return false;
  }

  /// Of a term that splits(): f += d of one copy, and f += p(z) of all copies in the columns of one node, or of all (kAllNodes).
  static constexpr int kAllNodes = -1;
  virtual void add_drive(MatrixRef<S> /*f*/, ReadContext& /*read*/) {}
  virtual void add_products(ConstMatrixRef<S> /*z*/, MatrixRef<S> /*f*/, int /*node*/, ReadContext& /*read*/) {}

  /// The two parts of F(z) of one copy, remembering the point.
  virtual void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& read) = 0;

  /// f += scale · J v.
  virtual void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) = 0;

  /// f += Jᵀ u.
  virtual void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) = 0;

  /// Adds scale · ⟨u, ∂F/∂θ⟩ for every weight of the term to the sink, and scale · (∂F/∂input)ᵀ u to input_gradient (rows,
  /// inputs), unless that is empty: nobody asks for it. One copy.
  virtual void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> input_gradient,
                          ReadContext& read) = 0;

  /// accumulate() and f += Jᵀ u at once, for those who want both of the same u.
  virtual void pull(ConstMatrixRef<S> u, S scale, MatrixRef<S> f, GradientSink<S>& sink, MatrixRef<S> input_gradient,
                    ReadContext& read) {
    accumulate(u, scale, sink, input_gradient, read);
    vjp(u, f, Part::all, read);
  }

  /// Exchanges what derivatives and correlation need of the remembered point with what is kept under a number, which at first is
  /// nothing. Only of terms with keeps_points().
  virtual void exchange_point(std::size_t /*number*/) {}

  /// Energy of the conservative part, −∂E/∂z = F; empty where it has none.
  virtual std::optional<double> energy(ConstMatrixRef<S> /*z*/, const ReadContext& /*read*/) { return std::nullopt; }

  /// Adds −scale · ∂E/∂θ at z (one copy) for every weight of the conservative part to the sink. false: it cannot.
  virtual bool accumulate_energy_gradient(ConstMatrixRef<S> /*z*/, S /*scale*/, GradientSink<S>& /*sink*/,
                                          ReadContext& /*read*/) {
    return false;
  }

  /// The same of several copies side by side, −Σ_k scales[k] ∂E/∂θ(z_k), where the copies can be added up before they are correlated:
  /// numbers that are driven by what is clamped. false: nothing is added, ask for one copy after the other.
  virtual bool accumulate_energy_contrast(ConstMatrixRef<S> /*z*/, std::span<const S> /*scales*/,
                                          GradientSink<S>& /*sink*/, ReadContext& /*read*/) {
    return false;
  }

  /// The laws of the nudged phase at v = z − z₀, J at the linearised point. Terms that share reads between the parts override
  /// them; tests hold every override against these.
  ///     corrected_force: f += F(z) − (J_n − J_nᵀ) v          transposed_force: f += F_c + J_nᵀ v
  /// where F_c is F_c(z), or its change since z₀ where the arrays are driven by the difference.
  virtual void corrected_force(ConstMatrixRef<S> z, ConstMatrixRef<S> v, MatrixRef<S> f, ReadContext& read) {
    force(z, f, Part::all, read);
    jvp(v, S(-1), f, Part::nonconservative, read);
    vjp(v, f, Part::nonconservative, read);
  }
  virtual void transposed_force(ConstMatrixRef<S> z, ConstMatrixRef<S> v, NudgedDrive drive, MatrixRef<S> f,
                                ReadContext& read) {
    if (drive == NudgedDrive::difference) {
      conservative_change(v, f, read);
    } else {
      force(z, f, Part::conservative, read);
    }
    vjp(v, f, Part::nonconservative, read);
  }

  /// f += F_c(z₀ + v) − F_c(z₀), with the arrays driven by v alone. Only of terms with takes_difference(); those without a
  /// conservative part have nothing to add.
  virtual void conservative_change(ConstMatrixRef<S> /*v*/, MatrixRef<S> /*f*/, ReadContext& /*read*/) {}
};

/// One term of the force of a Circuit, between its nodes. Holds weights only (linear maps, digital or devices); what one
/// thread needs to evaluate it is a TermSystem.
template <class S>
class Term {
 public:
  virtual ~Term() = default;

  virtual std::string_view name() const = 0;

  /// Whether it has a part that is minus the gradient of an energy, and one that is not.
  virtual bool has(Part part) const = 0;

  /// Nodes that it reads (kInput: what is clamped), and nodes that it acts on, by number.
  static constexpr int kInput = -1;
  virtual std::vector<int> sources() const = 0;
  virtual std::vector<int> targets() const = 0;

  /// Whether its conservative part, if it has one, can be driven by a difference (TermSystem::conservative_change).
  virtual bool takes_difference() const { return !has(Part::conservative); }

  /// Adds −∂F_i/∂z_i of this term for every unit i to load (1, cols), where that is the same in every state and no unit of a
  /// node acts on another of it: what it loads the units with (Dynamics::loads). false: not such a term, nothing is added.
  virtual bool add_load(Matrix<S>& /*load*/) const { return false; }

  /// Whether its force is the same in every state and every read, as that of what is clamped through numbers: then it is formed
  /// once per example, and force() of the system is not called again for it.
  virtual bool constant() const { return false; }

  /// Whether its force is d − load ∘ z + p(z) in every read: TermSystem::add_drive, the load of add_load(), and products with what
  /// other nodes hold, TermSystem::add_products. The circuit then forms the first two of all terms at once, and force() and
  /// node_force() of the system are not called.
  virtual bool splits() const { return false; }

  /// Dynamics::balance() of the node whose columns these are, of a term that bends the force of single units (its add_load() adds
  /// nothing). false: it does not act on that node so, nothing is changed.
  virtual bool balance(MatrixRef<S> /*z*/, ConstMatrixRef<S> /*f*/, const Matrix<S>& /*inverse*/,
                       Columns /*columns*/) const {
    return false;
  }

  /// Whether any of its reads has fresh noise.
  virtual bool noisy() const { return false; }

  /// Whether linearize() of its systems gives the force as force() does (all reads are plain products) and what it remembers can
  /// be put aside (TermSystem::exchange_point).
  virtual bool keeps_points() const { return false; }

  /// Working memory for states of `rows` rows, at most max_copies of them side by side. The term must outlive it.
  virtual std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const = 0;
};

}  // namespace nudge
