// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "training/learning/gradient.hpp"
#include "training/tapes/example_tape.hpp"

namespace nudge {

/// Runs examples on tapes, in parallel over a fixed number of chunks, each with a tape of its own that is recorded at
/// its first use. Sums are taken in the order of the examples within a chunk and of the chunks: the same bits for any
/// number of threads.
template <class S>
class TapeBatch {
 public:
  using Record = std::function<std::unique_ptr<ExampleTape<S>>()>;

  /// `record` is called from several threads; the parameters it binds must outlive this.
  TapeBatch(Record record, std::span<const Field> fields, int threads);

  /// Mean loss of the examples of a batch (at least one), and its gradient. They are numbered from `first` on.
  double gradient(const Batch& batch, std::uint64_t first, Gradient<S>& total);

  /// Runs every example of held-out batches, numbered through; visit(i, tape) after example i, from several threads.
  using Visit = std::function<void(std::size_t i, ExampleTape<S>& tape)>;
  void run(std::span<const Batch> batches, const Visit& visit);

 private:
  /// body(chunk, thread, begin, end).
  using Body = std::function<void(std::size_t, std::size_t, std::size_t, std::size_t)>;
  void for_chunks(std::size_t examples, const Body& body);
  ExampleTape<S>& loaded(std::size_t thread, const Batch& batch, Index b, const ExampleId& id);

  Record record_;
  int threads_;
  std::vector<std::unique_ptr<ExampleTape<S>>>
      tapes_;                           ///< one per thread, whose cache holds it from example to example
  std::vector<Gradient<S>> gradients_;  ///< one per chunk
};

}  // namespace nudge
