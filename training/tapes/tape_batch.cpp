// SPDX-License-Identifier: Apache-2.0
#include "training/tapes/tape_batch.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"

namespace nudge {

template <class S>
TapeBatch<S>::TapeBatch(Record record, std::span<const Field> fields, int threads)
    : record_(std::move(record)), threads_(threads), tapes_(static_cast<std::size_t>(thread_count(threads))) {
  std::vector<ParameterShape> shapes;
  for (const Field& field : fields) shapes.push_back({field.rows(), field.cols()});
  gradients_.assign(kChunks, Gradient<S>(shapes));
}

template <class S>
void TapeBatch<S>::for_chunks(std::size_t examples, const Body& body) {
  const std::size_t chunks = std::min(examples, std::size_t{kChunks});
  parallel_for(static_cast<Index>(chunks), threads_, [&](Index c, int thread) {
    const auto chunk = static_cast<std::size_t>(c);
    body(chunk, static_cast<std::size_t>(thread), chunk * examples / chunks, (chunk + 1) * examples / chunks);
  });
}

template <class S>
ExampleTape<S>& TapeBatch<S>::loaded(std::size_t thread, const Batch& batch, Index b, const ExampleId& id) {
  auto& tape = tapes_[thread];
  if (!tape) tape = record_();
  tape->load(batch, b, id);
  tape->tape().run();
  return *tape;
}

template <class S>
double TapeBatch<S>::gradient(const Batch& batch, std::uint64_t first, Gradient<S>& total) {
  NUDGE_EXPECT(batch.sequences > 0);
  const auto examples = static_cast<std::size_t>(batch.sequences);
  const Matrix<S> share = Matrix<S>::Constant(1, 1, S(1) / static_cast<S>(examples));
  std::vector<double> losses(examples);
  for_chunks(examples, [&](std::size_t chunk, std::size_t thread, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      ExampleTape<S>& one = loaded(thread, batch, static_cast<Index>(i), {Split::training, first + i});
      losses[i] = one.loss();
      one.tape().clear_cotangents(i == begin ? Leaves::none : Leaves::parameters);
      one.tape().add_cotangent(one.loss_value(), share);
      one.tape().pull_back(Leaves::parameters);
    }
    const auto& parameters = tapes_[thread]->parameters();
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      tapes_[thread]->tape().take_cotangent(parameters[p], gradients_[chunk].matrices()[p]);
    }
  });
  const std::size_t chunks = std::min(examples, std::size_t{kChunks});
  sum_gradients<S>(std::span<const Gradient<S>>(gradients_).first(chunks), total, threads_);
  double sum = 0;
  for (const double loss : losses) sum += loss;
  return sum / static_cast<double>(examples);
}

template <class S>
void TapeBatch<S>::run(std::span<const Batch> batches, const Visit& visit) {
  std::vector<std::pair<const Batch*, Index>> examples;
  for (const Batch& batch : batches) {
    for (Index b = 0; b < batch.sequences; ++b) examples.emplace_back(&batch, b);
  }
  for_chunks(examples.size(), [&](std::size_t /*chunk*/, std::size_t thread, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      visit(i, loaded(thread, *examples[i].first, examples[i].second, {Split::test, i}));
    }
  });
}

template class TapeBatch<float>;
template class TapeBatch<double>;

}  // namespace nudge
