// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "sim/base/parallel.hpp"
#include "sim/base/ranks.hpp"
#include "training/batch/batch_ranks.hpp"

namespace nudge {

/// The examples of a batch in at most kChunks contiguous chunks, the same for every number of threads and of ranks: within a chunk they are
/// summed in their order, and the chunks in theirs.
class BatchChunks {
 public:
  BatchChunks(Index examples, bool over_ranks)
      : examples_(examples),
        count_(std::min(kChunks, examples)),
        mine_(over_ranks ? own_part(count_, this_rank(), rank_count()) : OwnPart{0, count_}) {}

  Index count() const { return count_; }  ///< of all ranks
  const OwnPart& mine() const { return mine_; }

  /// body(chunk, k, thread, begin, end) for each chunk of this rank, the k-th of its own, with its examples [begin, end).
  template <class Body>
  void for_each(int threads, const Body& body) const {
    parallel_for(mine_.count(), threads, [&](Index k, int thread) {
      const Index chunk = mine_.begin + k;
      body(chunk, k, thread, first_of_chunk(chunk, count_, examples_), first_of_chunk(chunk + 1, count_, examples_));
    });
  }

 private:
  Index examples_, count_;
  OwnPart mine_;
};

}  // namespace nudge
