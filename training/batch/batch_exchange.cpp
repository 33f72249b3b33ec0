// SPDX-License-Identifier: Apache-2.0
// What the ranks tell each other of a batch that they compute together.
#include "sim/base/ranks.hpp"
#include "training/batch/batch_gradient.hpp"

namespace nudge {
namespace {

/// Exchanges the factors of one chunk, by parameter, with the other ranks.
template <class S>
void put_factors(RankBytes& bytes, const std::vector<std::vector<FactorPair<S>>>& chunk) {
  for (const std::vector<FactorPair<S>>& pairs : chunk) {
    bytes.put(pairs.size());
    for (const FactorPair<S>& pair : pairs) {
      bytes.put(pair.columns);
      bytes.put(pair.scale);
      bytes.put(pair.x);
      bytes.put(pair.y);
    }
  }
}

template <class S>
void take_factors_of(RankBytes& bytes, std::vector<std::vector<FactorPair<S>>>& chunk) {
  for (std::vector<FactorPair<S>>& pairs : chunk) {
    std::size_t count = 0;
    bytes.take(count);
    pairs.resize(count);
    for (FactorPair<S>& pair : pairs) {
      bytes.take(pair.columns);
      bytes.take(pair.scale);
      bytes.take(pair.x);
      bytes.take(pair.y);
    }
  }
}

}  // namespace

/// Gives all ranks the outcomes of all sequences and the factors of all chunks, as one process has them.
template <class S>
void BatchGradient<S>::exchange_outcomes(Index chunks, Outcomes& all) {
  const auto sequences = static_cast<Index>(all.reports.size());
  const auto each = [&](int rank, const auto& chunk_action, const auto& sequence_action) {
    const OwnPart part = own_part(chunks, rank, rank_count());
    for (Index k = part.begin; k < part.end; ++k) chunk_action(factors_[static_cast<std::size_t>(k)]);
    const Index end = first_of_chunk(part.end, chunks, sequences);
    for (Index b = first_of_chunk(part.begin, chunks, sequences); b < end; ++b) {
      sequence_action(static_cast<std::size_t>(b));
    }
  };
  const auto put = [&](RankBytes& bytes) {
    each(
        this_rank(), [&](const Factors& factors) { put_factors<S>(bytes, factors); },
        [&](std::size_t b) {
          bytes.put(all.reports[b]);
          bytes.put(all.growth[b]);
          bytes.put(all.energy[b]);
          bytes.put(all.meters[b]);
          if (!all.kept.empty()) bytes.put(all.kept[b]);
          if (!options_.all_states) return;
          bytes.put(states_[b]);
          bytes.put(adjoints_[b]);
        });
  };
  exchange(this_rank(), rank_count(), put, [&](RankBytes& bytes, int rank) {
    each(
        rank, [&](Factors& factors) { take_factors_of<S>(bytes, factors); },
        [&](std::size_t b) {
          bytes.take(all.reports[b]);
          bytes.take(all.growth[b]);
          bytes.take(all.energy[b]);
          bytes.take(all.meters[b]);
          if (!all.kept.empty()) bytes.take(all.kept[b]);
          if (!options_.all_states) return;
          bytes.take(states_[b]);
          bytes.take(adjoints_[b]);
        });
  });
}

template <class S>
void BatchGradient<S>::exchange_evaluations(std::vector<SequenceReport>& reports) {
  const auto each = [&](int rank, const auto& action) {
    const OwnPart part = own_part(static_cast<Index>(reports.size()), rank, rank_count());
    for (Index b = part.begin; b < part.end; ++b) {
      action(reports[static_cast<std::size_t>(b)], outputs_[static_cast<std::size_t>(b)]);
    }
  };
  const auto put = [&](RankBytes& bytes) {
    each(this_rank(), [&](const SequenceReport& report, const Matrix<S>& output) {
      bytes.put(report);
      bytes.put(output);
    });
  };
  exchange(this_rank(), rank_count(), put, [&](RankBytes& bytes, int rank) {
    each(rank, [&](SequenceReport& report, Matrix<S>& output) {
      bytes.take(report);
      bytes.take(output);
    });
  });
}

#define NUDGE_BATCH_EXCHANGE(S)                                        \
  template void BatchGradient<S>::exchange_outcomes(Index, Outcomes&); \
  template void BatchGradient<S>::exchange_evaluations(std::vector<SequenceReport>&);
NUDGE_BOTH_PRECISIONS(NUDGE_BATCH_EXCHANGE)

}  // namespace nudge
