// SPDX-License-Identifier: Apache-2.0
#include "training/batch/tape_batch.hpp"

#include <utility>

#include "sim/base/errors.hpp"
#include "training/batch/batch_ranks.hpp"

namespace nudge {

template <class S>
TapeBatch<S>::TapeBatch(Record record, std::span<const Field> fields, int threads, bool over_ranks)
    : record_(std::move(record)),
      threads_(threads),
      over_ranks_(over_ranks),
      tapes_(static_cast<std::size_t>(thread_count(threads))) {
  for (const Field& field : fields) shapes_.push_back({field.rows(), field.cols()});
}

template <class S>
ExampleTape<S>& TapeBatch<S>::loaded(int thread, const Batch& batch, Index b, const ExampleId& id) {
  auto& tape = tapes_[static_cast<std::size_t>(thread)];
  if (!tape) tape = record_();
  tape->load(batch, b, id);
  tape->tape().run();
  return *tape;
}

/// Computes the loss of an example and adds its gradient to the cotangents of the thread's tape.
template <class S>
double TapeBatch<S>::learn(int thread, const Batch& batch, Index b, std::uint64_t number, Leaves clear) {
  ExampleTape<S>& one = loaded(thread, batch, b, {Split::training, number});
  one.tape().clear_cotangents(clear);
  one.tape().add_cotangent(one.loss_value(), Matrix<S>::Constant(1, 1, S(1) / static_cast<S>(batch.sequences)));
  one.tape().pull_back(Leaves::parameters);
  return one.loss();
}

template <class S>
double TapeBatch<S>::gradient(const Batch& batch, std::uint64_t first, Gradient<S>& total) {
  NUDGE_EXPECT(batch.sequences > 0);
  const BatchChunks chunks(batch.sequences, over_ranks_);
  if (static_cast<Index>(gradients_.size()) != chunks.mine().count()) {
    gradients_.assign(static_cast<std::size_t>(chunks.mine().count()), Gradient<S>(shapes_));
  }
  std::vector<double> losses(static_cast<std::size_t>(batch.sequences));
  chunks.for_each(threads_, [&](Index /*chunk*/, Index k, int thread, Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      losses[static_cast<std::size_t>(b)] = learn(thread, batch, b, first + static_cast<std::uint64_t>(b),
                                                  b == begin ? Leaves::none : Leaves::parameters);
    }
    ExampleTape<S>& tape = *tapes_[static_cast<std::size_t>(thread)];
    const auto& parameters = tape.parameters();
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      tape.tape().take_cotangent(parameters[p], gradients_[static_cast<std::size_t>(k)].matrices()[p]);
    }
  });
  if (over_ranks_) {
    sum_over_ranks<S>(gradients_, std::vector<char>(shapes_.size(), 1), chunks.count(), total);
    exchange_examples(losses, chunks.count());
  } else {
    sum_gradients<S>(gradients_, total, threads_);
  }
  double sum = 0;
  for (const double loss : losses) sum += loss;
  return sum / static_cast<double>(batch.sequences);
}

template <class S>
void TapeBatch<S>::run(const Batch& batch, std::uint64_t first, const Visit& visit) {
  parallel_for(batch.sequences, threads_, [&](Index b, int thread) {
    visit(b, loaded(thread, batch, b, {Split::test, first + static_cast<std::uint64_t>(b)}));
  });
}

NUDGE_BOTH_PRECISIONS_OF(TapeBatch)

}  // namespace nudge
