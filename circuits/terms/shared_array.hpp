// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/terms/force_term.hpp"
#include "circuits/terms/term.hpp"

namespace nudge {

/// Force terms that read one node through one shared array, driven once: h = z W, each term its columns. Weights that share an
/// input are one product and one array; +β and −β share the cached point; a law of the nudged phase drives the array once each
/// way for all of its parts. The founding note's block is one of these, of attention and Hopfield memory.
template <class S>
class SharedArray final : public Term<S> {
 public:
  /// The node is columns `at` of the state, number `node`. Terms take consecutive columns of the array in the order given;
  /// terms of one kind (conservative or not) must stand together, so that a part is one range of columns. The array's width is
  /// the sum of the terms' columns. `parameter`: its number in the network.
  SharedArray(int node, Columns at, std::vector<std::unique_ptr<ForceTerm<S>>> terms, int parameter,
              const LinearMap<S>& input);

  struct Placed {
    const ForceTerm<S>* term;
    Columns columns;
    ForceTermTraits<S> traits;
  };

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

  Columns at() const { return at_; }
  const std::vector<Placed>& terms() const { return placed_; }
  const LinearMap<S>& input() const { return *input_; }
  int parameter() const { return parameter_; }
  /// What term number `term` remembers of the linearised point, in a system of this array.
  static const TermPoint& point(const TermSystem<S>& system, std::size_t term);

 private:
  class System;
  /// Whether it is so of any of the maps that it reads.
  template <class Is>
  bool any_map(Is is) const;

  int node_;
  Columns at_;
  std::vector<std::unique_ptr<ForceTerm<S>>> owned_;
  std::vector<Placed> placed_;
  int parameter_;
  const LinearMap<S>* input_;
};

}  // namespace nudge
