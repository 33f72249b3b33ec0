// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "training/learning/gradient.hpp"
#include "training/models/tapes/tape_model.hpp"

namespace nudge {

/// Model on tapes applied to batches, parallel over their examples. Every thread has a tape of its own. Gradients are
/// summed over a fixed number of chunks in a fixed order, so the bits depend neither on the threads nor on the ranks.
template <class S>
class TapeBatch {
 public:
  using Record = std::function<std::unique_ptr<ExampleTape<S>>()>;

  /// Calls `record` from several threads; the parameters that it binds must outlive this object. over_ranks: every rank
  /// computes its chunks of a gradient (batch_ranks.hpp).
  TapeBatch(Record record, std::span<const Field> fields, int threads, bool over_ranks = false);

  /// Returns the mean loss of the examples of a batch (at least one), numbered from `first` on, and sets `total` to its
  /// gradient.
  double gradient(const Batch& batch, std::uint64_t first, Gradient<S>& total);

  /// Runs every example of a held-out batch, numbered from `first` on. Calls visit(b, tape) after example b, from
  /// several threads.
  using Visit = std::function<void(Index b, ExampleTape<S>& tape)>;
  void run(const Batch& batch, std::uint64_t first, const Visit& visit);

 private:
  ExampleTape<S>& loaded(int thread, const Batch& batch, Index b, const ExampleId& id);
  double learn(int thread, const Batch& batch, Index b, std::uint64_t number, Leaves clear);

  Record record_;
  std::vector<ParameterShape> shapes_;
  int threads_;
  bool over_ranks_;
  /// Tapes, one per thread, whose cache holds it from example to example.
  std::vector<std::unique_ptr<ExampleTape<S>>> tapes_;
  std::vector<Gradient<S>> gradients_;  ///< gradients, one per chunk of this rank
};

}  // namespace nudge
