// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "mixers/mixer.hpp"
#include "sim/base/measured.hpp"
#include "training/data/batches.hpp"
#include "training/data/generated_task.hpp"

namespace nudge {

/// Names the random numbers that a model draws for an example: its part and its number in it.
struct ExampleId {
  Split split = Split::training;
  std::uint64_t number = 0;
};

/// Model applied to one example, recorded once and run again for each example of a batch: load(), then tape().run().
template <class S>
class ExampleTape {
 public:
  ExampleTape() = default;
  ExampleTape(const ExampleTape&) = delete;
  ExampleTape& operator=(const ExampleTape&) = delete;
  virtual ~ExampleTape() = default;

  /// Puts example b of a batch into the leaves; needs the same shapes for every example.
  virtual void load(const Batch& batch, Index b, const ExampleId& id) = 0;
  /// Values for the example that has run; the first measures of the kind (TapeKind::measures) are their means.
  virtual std::vector<double> measured() const { return {}; }

  Tape<S>& tape() { return tape_; }
  /// Parameters in the order of the model's fields.
  const std::vector<Value<S>>& parameters() const { return parameters_; }
  /// Training loss: the cost, and what a model adds to it.
  Value<S> loss_value() const { return loss_; }
  double loss() const { return number(loss_); }
  /// Mean cost over the rows of the example that count.
  double cost() const { return number(cost_); }
  /// Output (T, classes or values), as the metric of a task takes it.
  const Matrix<S>& output() const { return output_.matrix(); }

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
  void set_results(Value<S> output, Value<S> cost, Value<S> loss) {
    output_ = output;
    cost_ = cost;
    loss_ = loss;
  }

 private:
  static double number(Value<S> value) { return static_cast<double>(value.matrix()(0, 0)); }

  Tape<S> tape_;
  std::vector<Value<S>> parameters_;
  Value<S> output_, cost_, loss_;
};

/// Network that continues a text.
class TextWriter {
 public:
  virtual ~TextWriter() = default;
  /// Returns the logits of the character after a text that is not empty; `number` names the draws of this read.
  virtual std::vector<double> next(const std::vector<int>& text, std::uint64_t number) = 0;
};

struct WriterOptions {
  std::vector<int> prompt;
  Index added = 0;  ///< number of characters that will be asked for
  /// Take the latents of the prompt from the encoder, not from the prior; for a model with latents.
  bool prefill = false;
  std::uint64_t seed = 1;
};

/// Picks the logits of a text's last row in a window of `rows` from the logits of all rows.
template <class S>
std::vector<double> last_logits(const Matrix<S>& logits, const std::vector<int>& text) {
  const Index row = std::min<Index>(logits.rows(), static_cast<Index>(text.size())) - 1;
  std::vector<double> last(static_cast<std::size_t>(logits.cols()));
  for (Index i = 0; i < logits.cols(); ++i) last[static_cast<std::size_t>(i)] = static_cast<double>(logits(row, i));
  return last;
}

/// Network that is a computation on a tape and no circuit: it learns by backprop through it.
template <class S>
class TapeModel {
 public:
  using Parameters = std::vector<Matrix<S>>;
  virtual ~TapeModel() = default;

  /// Parameters with their initial values.
  virtual std::vector<Field> fields() const = 0;
  /// Records the model on one example; the parameters, in the order of fields(), outlive the tape. Called from several
  /// threads.
  virtual std::unique_ptr<ExampleTape<S>> record(const Parameters& parameters) const = 0;
  /// Makes a writer with the model; the parameters outlive it. null: the model has no text.
  virtual std::unique_ptr<TextWriter> writer(const Parameters& /*parameters*/, const WriterOptions& /*options*/) const {
    return nullptr;
  }
  /// Measures of the model itself, which follow the measures of examples. NaN for a measure that is taken only of the
  /// finished model.
  virtual std::vector<double> measured(const Parameters& /*parameters*/, bool /*finished*/) const { return {}; }
};

}  // namespace nudge
