// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "circuits/terms/term.hpp"
#include "mixers/tape.hpp"

namespace nudge {

/// How a computation on a tape enters the force of a circuit: F_target += gain · (y(z_source) + identity · z_source). The source
/// is a node, or what clamps the circuit's input; y has the shape of the target.
struct TapePlace {
  int source = 0;  ///< Term::kInput: the input
  Columns source_columns;
  int target = 0;
  Columns target_columns;
  double gain = 1;
  double identity = 0;
};

/// A computation on a tape as a term between nodes, not conservative. One recording moves with the state, one stays at the
/// linearisation point; copies pass one after the other.
template <class S>
class TapeTerm final : public Term<S> {
 public:
  /// Records y from the source and the weights in their order.
  using Record = std::function<Value<S>(Tape<S>& tape, Value<S> source, const std::vector<Value<S>>& weights)>;
  struct Weight {
    int parameter;  ///< its number in the network
    const LinearMap<S>* map;
    /// Products read the map, digital or devices, and the derivatives are reads the other way. Else its matrix is taken as
    /// numbers, whatever the computation does with them.
    bool read = true;
  };

  /// Records Σ E (tokens, 1) of the term from the state of its target, the source and the weights (LayerEnergies).
  using RecordEnergy = std::function<Value<S>(Value<S> state, Value<S> source, const std::vector<Value<S>>& weights)>;

  /// The maps must outlive the term. No `energy`: it has none that holds all of its weights.
  TapeTerm(std::string name, const TapePlace& place, std::vector<Weight> weights, Record record,
           RecordEnergy energy = {});

  TermTraits traits() const override {
    return {.name = name_,
            .nonconservative = true,
            .sources = {place_.source},
            .targets = {place_.target},
            .noisy = noisy()};
  }
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

  const std::vector<Weight>& weights() const { return weights_; }

 private:
  class System;
  bool noisy() const;

  std::string name_;
  TapePlace place_;
  std::vector<Weight> weights_;
  Record record_;
  RecordEnergy energy_;
};

}  // namespace nudge
