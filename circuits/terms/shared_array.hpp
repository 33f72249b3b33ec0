// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "circuits/terms/layer_energy.hpp"
#include "circuits/terms/term.hpp"

namespace nudge {

/// Array through which several terms read one node: h = z W, driven once, each term with its columns. Weights that share an
/// input are one product and one array. +β and −β share the cached point. A law of the nudged phase drives the array once
/// each way for all its parts. The founding note's block is a SharedArray of attention and Hopfield memory.
///
/// It is a change of variables. Its terms belong to a circuit whose state is x = [z | h]: node kState is z (C columns), node
/// kProjections is h. The terms read h alone. Each acts on z, through weights of its own, or on its columns of h. The latter
/// are the drive g that the array sends back through the same devices. With F_x = [f | g] the force is
///     F(z) = f + g Wᵀ,      J v = J_x [v | v W] likewise,      Jᵀ u = (J_xᵀ [u | u W]) · [1 | Wᵀ],
/// and the gradient of W one outer product, z₀ᵀ (J_xᵀ u)_h, for every term, and uᵀ g₀ for terms that return.
template <class S>
class SharedArray final : public Term<S> {
 public:
  static constexpr int kState = 0, kProjections = 1;

  /// Makes the array on columns `at` of the state, node number `node`. `parameter`: the array's number in the network.
  SharedArray(int node, Columns at, int parameter, const LinearMap<S>& input);

  /// Places one more term, T(its columns of x, arguments...), on the next `width` columns of the array; the last term ends
  /// where the array ends. Terms of one kind (conservative or not) must stand together, so that a part is one range of columns.
  template <class T, class... Arguments>
  SharedArray& place(Index width, Arguments&&... arguments) {
    place({width_, width},
          std::make_unique<T>(Columns{at_.count + width_, width}, std::forward<Arguments>(arguments)...));
    return *this;
  }

  struct Placed {
    std::unique_ptr<Term<S>> term;
    Columns columns;  ///< columns of the array
    TermTraits traits;
    bool returns;  ///< true if it acts on its columns of h, not on z
    bool in(Part part) const { return traits.has(part); }
  };

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

  Columns at() const { return at_; }
  const std::vector<Placed>& terms() const { return placed_; }
  const LinearMap<S>& input() const { return *input_; }
  int parameter() const { return parameter_; }
  /// System of term number `term` in a system of this array.
  static const TermSystem<S>& system(const TermSystem<S>& array, std::size_t term);

 private:
  class System;
  void place(Columns columns, std::unique_ptr<Term<S>> term);

  int node_;
  Columns at_;
  Index width_ = 0;
  std::vector<Placed> placed_;
  int parameter_;
  const LinearMap<S>* input_;
};

}  // namespace nudge
