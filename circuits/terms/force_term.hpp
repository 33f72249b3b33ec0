// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "circuits/linear_map.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// Working memory of one term for one system, and what it remembers of the point where it was last linearised.
/// Made by the term, owned by the SharedArray's system of one thread; sized once for the largest number of copies.
class TermPoint {
 public:
  virtual ~TermPoint() = default;
};

/// A weight matrix that a term owns besides its columns of the shared input array, with its number in the model.
template <class S>
struct TermWeights {
  int parameter = -1;
  LinearMap<S>* map = nullptr;
};

/// What a shared array must know of a term.
template <class S>
struct ForceTermTraits {
  std::string_view name;
  bool conservative = false;
  Index input_columns = 0;
  /// The force (and jvp) come back through the input array (g) rather than directly (f). Of conservative terms alone.
  bool returns_through_input = false;
  bool vjp_reads_input = false;
  std::vector<TermWeights<S>> weights = {};  ///< the term's own
  bool in(Part part) const { return part == Part::all || conservative == (part == Part::conservative); }
};

/// One term of a SharedArray, written against projections so that it cannot know how weights are made.
///
/// The block drives its input array once: h = z W, and hands each term its columns. A term adds its force to f directly
/// (through weights of its own), or writes a drive g for its columns, which the block sends back through the same
/// devices: f += g Wᵀ. With x the drive of the rows, the same two routes serve the derivatives:
///     jvp:  dh = v W  → f += J v             vjp:  u, and hu = u W where the term asks for it  → g with f += g Wᵀ = Jᵀ u
/// so that the gradient of the input array is one outer product, z₀ᵀ g, for every term (and uᵀ g₀ for what returns).
/// All arrays are (k·T, ...) for k
/// copies of one sequence of T tokens; cached points have T rows and serve all copies.
template <class S>
class ForceTerm {
 public:
  virtual ~ForceTerm() = default;

  virtual ForceTermTraits<S> traits() const = 0;

  virtual std::unique_ptr<TermPoint> make_point(Index tokens, Index max_copies) const = 0;

  /// Adds the force at h to f or writes it as g. Of a term that is not conservative F(h) − J dh, J at the linearised point, unless dh is
  /// empty: what the corrected law of a nudged phase has of it, by one drive of the term's own weights.
  virtual void force(ConstMatrixRef<S> h, ConstMatrixRef<S> dh, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point,
                     ReadContext& read) const = 0;

  /// The force of one copy, remembering the point.
  virtual void linearize(ConstMatrixRef<S> h, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point,
                         ReadContext& read) const = 0;

  virtual void jvp(ConstMatrixRef<S> dh, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point, ReadContext& read) const = 0;

  /// Writes g. hu is only valid where the vjp reads the input.
  virtual void vjp(ConstMatrixRef<S> u, ConstMatrixRef<S> hu, MatrixRef<S> g, TermPoint& point,
                   ReadContext& read) const = 0;

  /// Adds the outer products of the term's own weights; those of the input array, z₀ᵀ g for the drive and uᵀ g₀ for what
  /// returns through it, are the block's. One copy.
  virtual void accumulate(ConstMatrixRef<S> /*u*/, S /*scale*/, TermPoint& /*point*/, GradientSink<S>& /*sink*/,
                          ReadContext& /*read*/) const {}

  /// Energy of a conservative term at the projections h.
  virtual std::optional<double> energy(ConstMatrixRef<S> /*h*/) const { return std::nullopt; }
};

}  // namespace nudge
