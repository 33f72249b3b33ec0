// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "mixers/mixer.hpp"
#include "training/data/batches.hpp"
#include "training/data/generated_task.hpp"

namespace nudge {

/// Names the random numbers that a model draws for an example: its part and its number in it.
struct ExampleId {
  Split split = Split::training;
  std::uint64_t number = 0;
};

/// A model applied to one example, recorded once and run again for each example of a batch: load(), then tape().run().
template <class S>
class ExampleTape {
 public:
  ExampleTape() = default;
  ExampleTape(const ExampleTape&) = delete;
  ExampleTape& operator=(const ExampleTape&) = delete;
  virtual ~ExampleTape() = default;

  /// Puts example b of a batch into the leaves; needs the same shapes for every example.
  virtual void load(const Batch& batch, Index b, const ExampleId& id) = 0;

  Tape<S>& tape() { return tape_; }
  const std::vector<Value<S>>& parameters() const { return parameters_; }  ///< in the order of the model's fields
  double loss() const { return static_cast<double>(loss_.matrix()(0, 0)); }
  Value<S> loss_value() const { return loss_; }

 protected:
  /// Puts the parameters on the tape.
  NamedValues<S> bind(const std::vector<Field>& fields, const std::vector<Matrix<S>>& parameters) {
    NamedValues<S> named;
    for (std::size_t k = 0; k < fields.size(); ++k) {
      parameters_.push_back(tape_.parameter(parameters[k]));
      named.add(fields[k].name, parameters_.back());
    }
    return named;
  }
  void set_loss(Value<S> loss) { loss_ = loss; }

 private:
  Tape<S> tape_;
  std::vector<Value<S>> parameters_;
  Value<S> loss_;
};

}  // namespace nudge
