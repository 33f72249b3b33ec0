// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "circuits/linear_map.hpp"
#include "circuits/terms/convolution.hpp"
#include "circuits/terms/node_activation.hpp"
#include "circuits/terms/term.hpp"

namespace nudge {

/// Weights of a link from a layer of `inputs` units to one of `outputs`. The map holds its matrix M (inputs, outputs) or, of
/// a convolution, the matrix of its kernels (patch, maps).
template <class S>
struct LinkWeights {
  int parameter = 0;  ///< number of the parameter in the network
  const LinearMap<S>* map = nullptr;
  std::optional<Convolution> convolution = std::nullopt;

  Index inputs() const { return convolution ? convolution->inputs() : map->inputs(); }
  Index outputs() const { return convolution ? convolution->outputs() : map->outputs(); }
};

/// Reader of a link's matrix M through the map that holds its weights, with the derivatives and correlations of LinearMap. It is
/// driven by x of its inputs, or y of its outputs. Reads are added unless told otherwise. One per thread: it has the patches' memory.
///
/// A convolution that pools by the maximum chooses places in every forward read, and in choose(). Transposed reads go to the places
/// last chosen, derivatives to those that were held.
template <class S>
class LinkReader {
 public:
  explicit LinkReader(const LinkWeights<S>& weights) : weights_(weights) {
    if (!weights.convolution) return;
    places_ = chooses() ? weights.convolution->unpooled() : *weights.convolution;
    patches_.emplace(places_);
  }

  /// True if places must be chosen before a transposed read.
  bool chooses() const { return weights_.convolution && weights_.convolution->maximum; }
  /// Chooses places by a forward read of this drive.
  void choose(ConstMatrixRef<S> drive, ReadContext& context);
  /// Holds the places last chosen, of the linearised point.
  void hold() { held_ = chosen_; }

  /// Reads out += drive M (forward) or drive Mᵀ (transposed).
  void read(ReadDirection way, ConstMatrixRef<S> drive, MatrixRef<S> out, ReadContext& context,
            Store store = Store::add);
  /// Adds the derivative D v or Dᵀ v of a read at the drive x₀ to out.
  void derivative(ReadDirection way, Derivative which, ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> out,
                  ReadContext& context);
  /// Adds scale · ⟨u, ∂read/∂weights⟩ of a read at x₀ to the sink, u at its outputs. Places: those that are held, or where `chosen`
  /// is a row, those last chosen from that row on.
  void correlate(ReadDirection way, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, S scale, GradientSink<S>& sink,
                 ReadContext& context, std::optional<Index> chosen = std::nullopt);

 private:
  /// Values that drive or are sensed at one side of M, at every position.
  struct Side {
    Matrix<S> driven, point;
  };

  /// Places that the reads under way go to.
  struct Goal {
    const Chosen* chosen;
    Index first = 0;
  };

  const Convolution& shape() const { return places_; }
  Columns all() const { return weights_.map->all_columns(); }
  MatrixRef<S> space(Index n, ReadDirection driving, Matrix<S>& memory);
  MatrixRef<S> spread(ReadDirection driving, ConstMatrixRef<S> x, Matrix<S>& memory, Goal goal);
  MatrixRef<S> point(ReadDirection way, ConstMatrixRef<S> x0);
  Side& side(ReadDirection driving) { return driving == ReadDirection::forward ? inputs_ : outputs_; }
  template <class Read>
  void at_positions(ReadDirection way, ConstMatrixRef<S> drive, MatrixRef<S> out, Store store, Goal goal, Read read);

  LinkWeights<S> weights_;
  Convolution places_;  ///< where an array is read
  Chosen chosen_, held_;
  std::optional<Patches<S>> patches_;  ///< patches of a convolution
  Side inputs_, outputs_;
};

/// Direction in which a link acts.
enum class LinkWay {
  both,      ///< reciprocal, conservative: read forward onto `to` and transposed onto `from`
  forward,   ///< onto `to` only; not conservative
  backward,  ///< onto `from` only, by transposed reads; not conservative
};

/// Link between two nodes of a layered Hopfield network, one row per sample (Scellier & Bengio 2017, arXiv:1602.05179):
///     E = −r_a M r_bᵀ,   r = ρ(s)
///     F_b += ρ'(s_b) ⊙ (r_a M),   F_a += ρ'(s_a) ⊙ (r_b Mᵀ)
/// M is the matrix of its weights, one map read both ways. It is dense or of a convolution with pooling
/// (circuits/terms/convolution.hpp). `from` may be the clamped input of the circuit, r_a = ρ(x). Then only `to` moves, and the link
/// is conservative whatever comes back to the input. Digital weights of a clamped link are read once per example: the product does
/// not change, and under the identity the force does not either.
///
/// An array that is driven at both ends at once (MapTraits::residue) gives each node a part of its own drive back. In energy, E +=
/// ½ Σ δ_b r_b² + ½ Σ δ_a r_a². The currents G (r_a − r_b) make its heat.
template <class S>
class BilinearLink final : public Term<S> {
 public:
  /// Makes a link. From kInput the way is both, or forward for a link of a network whose other links are not conservative.
  BilinearLink(const LinkEnd& from, const LinkEnd& to, const LinkWeights<S>& weights, LinkWay way = LinkWay::both);

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

  const LinkWeights<S>& weights() const { return weights_; }

 private:
  class System;
  bool has(Part part) const { return part == Part::all || (part == Part::conservative) == (way_ == LinkWay::both); }
  /// True if numbers hold the weights of a clamped link: its product is the same in every read of an example.
  bool cached() const;
  /// True if its reads are the force themselves.
  bool assigns() const {
    return !clamped() && residue() == nullptr && (!drives_to() || to_.activation == NodeActivation::identity) &&
           (!drives_from() || from_.activation == NodeActivation::identity);
  }
  bool clamped() const { return from_.node == Term<S>::kInput; }
  bool drives_to() const { return way_ != LinkWay::backward; }
  bool drives_from() const { return way_ != LinkWay::forward && !clamped(); }
  /// Rest of the lines' own loads, if the link drives both ends of its array; else null.
  const WeightSums<S>* residue() const {
    return drives_to() && drives_from() ? weights_.map->traits().residue : nullptr;
  }

  LinkEnd from_, to_;
  LinkWeights<S> weights_;
  LinkWay way_;
};

}  // namespace nudge
