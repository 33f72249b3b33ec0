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

  /// Of a term whose force is d − load ∘ z + p(z) in every read of the example: adds d (rows, cols) and, of conservative terms, load
  /// (1, cols), which the circuit forms for all terms at once. From then on, until the next bind(), F(z) of force(), linearize() and
  /// law() is p(z) alone; derivatives stay whole. false: nothing is added. (bench/resistive_epoch, hopfield_epoch.)
  virtual bool hand_over(MatrixRef<S> /*drive*/, MatrixRef<S> /*load*/, ReadContext& /*read*/) { return false; }

  /// f += F(z) of the chosen part. Where a node is asked for, by its number, what acts on other nodes may be left out; of terms that
  /// assign (TermTraits) f = F(z) in the node's columns may be asked for: the first term spares a pass (bench/hopfield_epoch).
  virtual void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int node, Store store, ReadContext& read) = 0;

  /// The two parts of F(z) of one copy, remembering the point.
  virtual void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& read) = 0;

  /// f += scale · J v.
  virtual void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) = 0;

  /// f += Jᵀ u.
  virtual void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) = 0;

  /// Adds scale · ⟨u, ∂F/∂θ⟩ for every weight of the term to the sink, scale · (∂F/∂input)ᵀ u to input_gradient (rows, inputs) and
  /// Jᵀ u to f; the last two unless they are empty: nobody asks for them. One copy. f may be u.
  virtual void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> input_gradient,
                          MatrixRef<S> f, ReadContext& read) = 0;

  /// Exchanges what derivatives and correlation need of the remembered point with what is kept under a number, which at first is
  /// nothing. Only of terms that keep points.
  virtual void exchange_point(std::size_t /*number*/) {}

  /// Energy of the conservative part, −∂E/∂z = F; empty where it has none.
  virtual std::optional<double> energy(ConstMatrixRef<S> /*z*/, const ReadContext& /*read*/) { return std::nullopt; }

  /// Adds −Σ_k scales[k] ∂E/∂θ(z_k) for every weight of the conservative part to the sink, z_k of as many copies side by side.
  /// false: it cannot.
  virtual bool accumulate_energy_gradient(ConstMatrixRef<S> /*z*/, std::span<const S> /*scales*/,
                                          GradientSink<S>& /*sink*/, ReadContext& /*read*/) {
    return false;
  }

  /// f += a law of the nudged phase at v = z − z₀, J at the linearised point (NudgedForm); the conservative part is F_c(z), or,
  /// where the arrays are driven by the difference, F_c(z₀ + v) − F_c(z₀), which conservative terms that take the difference must
  /// give themselves. Terms that share reads between the parts override the rest as well; tests hold every override against this.
  virtual void law(NudgedForm form, ConstMatrixRef<S> z, ConstMatrixRef<S> v, NudgedDrive drive, MatrixRef<S> f,
                   ReadContext& read) {
    switch (form) {
      case NudgedForm::conservative: return force(z, f, Part::conservative, kAllNodes, Store::add, read);
      case NudgedForm::corrected:
        force(z, f, Part::all, kAllNodes, Store::add, read);
        jvp(v, S(-1), f, Part::nonconservative, read);
        break;
      case NudgedForm::transposed: law(NudgedForm::conservative, z, v, drive, f, read); break;
    }
    vjp(v, f, Part::nonconservative, read);
  }
};

/// What a circuit must know of a term.
struct TermTraits {
  std::string_view name = {};
  bool conservative = false;      ///< it has a part that is minus the gradient of an energy,
  bool nonconservative = false;   ///< and one that is not
  std::vector<int> sources = {};  ///< nodes that it reads (Term::kInput: what is clamped), and
  std::vector<int> targets = {};  ///< nodes that it acts on, by number
  bool takes_difference =
      true;              ///< its conservative part, if it has one, can be driven by a difference (TermSystem::law)
  bool assigns = false;  ///< it can write the force of one node instead of adding it
  bool noisy = false;    ///< any of its reads has fresh noise
  /// linearize() of its systems gives the force as force() does (all reads are plain products) and what it remembers can be put
  /// aside (TermSystem::exchange_point).
  bool keeps_points = false;

  bool has(Part part) const {
    return part == Part::all || (part == Part::conservative ? conservative : nonconservative);
  }
};

/// One term of the force of a Circuit, between its nodes. Holds weights only (linear maps, digital or devices); what one
/// thread needs to evaluate it is a TermSystem.
template <class S>
class Term {
 public:
  virtual ~Term() = default;

  static constexpr int kInput = -1;

  /// All but `noisy` is the same for as long as the term lives.
  virtual TermTraits traits() const = 0;

  /// Working memory for states of `rows` rows, at most max_copies of them side by side. The term must outlive it.
  virtual std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const = 0;

  /// Adds −∂F_i/∂z_i of this term for every unit i to load (1, cols), where that is the same in every state and no unit of a
  /// node acts on another of it: what it loads the units with (Layered::loads). false: not such a term, nothing is added.
  virtual bool add_load(MatrixRef<S> /*load*/) const { return false; }

  /// Layered::balance() of the node whose columns these are, of a term that bends the force of single units (its add_load() adds
  /// nothing). false: it does not act on that node so, nothing is changed.
  virtual bool balance(MatrixRef<S> /*z*/, ConstMatrixRef<S> /*f*/, const Matrix<S>& /*inverse*/,
                       Columns /*columns*/) const {
    return false;
  }
};

}  // namespace nudge
