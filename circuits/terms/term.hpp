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

/// Drive of the arrays of the conservative terms in the transposed form of the nudged phase.
enum class NudgedDrive {
  state,       ///< z: the circuit simply keeps relaxing
  difference,  ///< v = z − z* alone; the products of z* are stored. Converters then range over v, not over z
};

/// A term of a circuit's force as one thread evaluates it for one example. It has working memory and remembers the point where the
/// force was last linearised. States, forces and directions have the shape of the whole circuit, (k·rows, cols) for k copies stacked by
/// rows. A term reads the columns of its own nodes and adds to them.
///
/// A training step calls the hooks in the order of their numbers. It calls 1 and 2 once per example, 3 in every step of the free phase
/// and 4 at z*. Then it calls 5 to 7 in every step of the nudged phase and 8 for the gradient. 9 to 11 serve other estimators.
template <class S>
class TermSystem {
 public:
  virtual ~TermSystem() = default;

  // ---- Must have ----

  /// 3. Adds F(z) of the chosen part to f. If `node` is a node's number, forces on other nodes may be left out. If `store` is assign,
  /// f = F(z) in the columns of that node. Only terms that assign (TermTraits) are asked to: the first term spares a pass
  /// (bench/hopfield_epoch).
  virtual void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int node, Store store, ReadContext& read) = 0;

  /// 4. Adds the two parts of F(z) of one copy and remembers the point.
  virtual void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& read) = 0;

  /// 6. Adds scale · J v to f, J at the remembered point.
  virtual void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) = 0;

  /// 7. Adds Jᵀ u to f.
  virtual void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) = 0;

  /// 8. Correlates, one copy: adds scale · ⟨u, ∂F/∂θ⟩ for every weight of the term to the sink. Also adds scale · (∂F/∂input)ᵀ u to
  /// input_gradient (rows, inputs) and Jᵀ u to f, unless these are empty. f may be u. A term without weights is a WeightlessSystem,
  /// which has this hook.
  virtual void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> input_gradient,
                          MatrixRef<S> f, ReadContext& read) = 0;

  // ---- Has a default ----

  /// 1. Begins an example. `input` (rows, inputs) clamps the circuit; it lives and stays as it is until the next bind().
  virtual void bind(const Matrix<S>& /*input*/) {}

  /// 10. Energy E of the conservative part, −∂E/∂z = F. Default: no energy.
  virtual std::optional<double> energy(ConstMatrixRef<S> /*z*/, const ReadContext& /*read*/) { return std::nullopt; }

  /// 11. Adds −Σ_k scales[k] ∂E/∂θ(z_k) for every weight of the conservative part to the sink; z holds the z_k side by side. The
  /// default returns false: the term cannot.
  virtual bool accumulate_energy_gradient(ConstMatrixRef<S> /*z*/, std::span<const S> /*scales*/,
                                          GradientSink<S>& /*sink*/, ReadContext& /*read*/) {
    return false;
  }

  // ---- Speed-up ----

  /// 2. Adds the affine part of the force once for the example, if F(z) = d − D ∘ z + p(z) with d (rows, cols) and D (1, cols)
  /// constant. d goes to drive and, if the term is conservative, D to load. force(), linearize() and law() then add p alone until the
  /// next bind(). The circuit forms d − D ∘ z once for all terms (bench/resistive_epoch, hopfield_epoch). Derivatives stay whole. The
  /// default adds nothing and returns false.
  virtual bool add_affine_part(MatrixRef<S> /*drive*/, MatrixRef<S> /*load*/, ReadContext& /*read*/) { return false; }

  /// 5. Adds the force of the nudged phase at v = z − z₀ to f, with J at the remembered point z₀ (NudgedForm). Its conservative part is
  /// F_c(z). Where the difference drives the arrays it is F_c(z₀ + v) − F_c(z₀): a conservative term that takes the difference must
  /// override the hook. A term whose parts share reads overrides the rest as well. Tests compare every override with this default.
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

  /// 9. Swaps the remembered point with slot `number`, which is empty at first. Called only if the term keeps points.
  virtual void swap_point(std::size_t /*number*/) {}
};

/// A TermSystem of a term without weights: it has nothing to correlate. Its vjp() must allow that f is u.
template <class S>
class WeightlessSystem : public TermSystem<S> {
 public:
  void accumulate(ConstMatrixRef<S> u, S /*scale*/, GradientSink<S>& /*sink*/, MatrixRef<S> /*input_gradient*/,
                  MatrixRef<S> f, ReadContext& read) override {
    if (f.size() > 0) this->vjp(u, f, Part::all, read);
  }
  bool accumulate_energy_gradient(ConstMatrixRef<S> /*z*/, std::span<const S> /*scales*/, GradientSink<S>& /*sink*/,
                                  ReadContext& /*read*/) override {
    return true;
  }
};

/// Facts of a term that its circuit goes by.
struct TermTraits {
  std::string_view name = {};
  bool conservative = false;      ///< a part is minus the gradient of an energy,
  bool nonconservative = false;   ///< a part is not minus the gradient of an energy
  std::vector<int> sources = {};  ///< nodes that the term reads, by number (Term::kInput: what clamps the circuit), and
  std::vector<int> targets = {};  ///< nodes that it acts on
  bool takes_difference = true;   ///< a difference of states can drive its conservative part (TermSystem::law)
  bool assigns = false;           ///< TermSystem::force() can write the force of one node instead of adding it
  bool noisy = false;             ///< a read of the term has fresh noise
  /// linearize() gives the same force as force(): all reads are plain products. TermSystem::swap_point() can put the remembered
  /// point aside.
  bool keeps_points = false;

  bool has(Part part) const {
    return part == Part::all || (part == Part::conservative ? conservative : nonconservative);
  }
};

/// One term of the force of a Circuit, between its nodes. Holds weights only (linear maps, digital or devices); a TermSystem evaluates
/// it for one thread.
template <class S>
class Term {
 public:
  virtual ~Term() = default;

  static constexpr int kInput = -1;

  // ---- Must have ----

  /// 1. Facts of the term. All but `noisy` stay the same for as long as the term lives.
  virtual TermTraits traits() const = 0;

  /// 2. Working memory for states of `rows` rows, at most max_copies of them side by side. The term must outlive it.
  virtual std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const = 0;

  // ---- Speed-up: exact steps of coordinate descent ----

  /// 3. Adds D_i = −∂F_i/∂z_i of this term for every unit i to load (1, cols). D must be the same in every state, and no unit of a
  /// node may act on another unit of it (Layered::loads). The default adds nothing and returns false.
  virtual bool add_load(MatrixRef<S> /*load*/) const { return false; }

  /// 4. Solves the units of one node exactly (Layered::solve_node), if the term bends the force of single units; its add_load() adds
  /// nothing. The default leaves z alone and returns false: the term does not act on these columns in this way.
  virtual bool solve_node(MatrixRef<S> /*z*/, ConstMatrixRef<S> /*f*/, const Matrix<S>& /*inverse*/,
                          Columns /*columns*/) const {
    return false;
  }
};

}  // namespace nudge
