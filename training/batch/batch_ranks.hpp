// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "circuits/linear_map.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/ranks.hpp"
#include "training/learning/gradient.hpp"

namespace nudge {

// One batch on several ranks (sim/base/ranks.hpp): every rank holds the whole model and computes contiguous chunks of the batch;
// after that all have the same sums, to the bits of one process (docs/how_to/run_on_a_cluster.md).

/// Shares the batches of this process with the other ranks from now on; all ranks do the same steps in the same order.
/// Points of a sweep are not shared: there every rank works for itself.
void share_batches();
bool batches_are_shared();

/// True on the process that writes files and prints: the only process, or rank 0.
bool leads_batches();

/// True if `decision` is true on all ranks: one rank that received a signal decides for all. All ranks call it at the
/// same place.
bool agreed(bool decision);

/// Throws UserError naming `what` when this rank has another value than rank 0. All ranks call it at the same place.
void expect_as_on_rank_0(const std::string& what, const std::string& value);

/// Share [begin, end) of this rank in n chunks or sequences: contiguous parts in the order of the ranks, as equal as
/// can be. With fewer items than ranks, the first ranks have one each.
struct OwnPart {
  Index begin = 0, end = 0;
  Index count() const { return end - begin; }
};
OwnPart own_part(Index n, int rank, int ranks);

/// First example of one of `chunks` contiguous chunks of a batch.
inline Index first_of_chunk(Index chunk, Index chunks, Index examples) { return chunk * examples / chunks; }

/// Sums total = ((c_0 + c_1) + c_2) + … over the chunks of all ranks, entry by entry: the bits of sum_gradients() in
/// one process. The sum travels from rank to rank in pieces, so that all add at the same time. `total` must have the
/// right shapes. Parameters with met = 0, the same on all ranks, have nothing in any chunk: they do not travel, and
/// total has not met them.
template <class S>
void sum_over_ranks(const std::vector<Gradient<S>>& own, const std::vector<char>& met, Index chunks,
                    Gradient<S>& total);

/// Sets values[i] of each example to the value on the rank that computed its chunk; `chunks` is the number of chunks of
/// all ranks.
void exchange_examples(std::vector<double>& values, Index chunks);

/// Sets flags[i] to 1 where any rank has 1.
void any_of_ranks(std::vector<char>& flags);

/// Buffer of bytes that one rank sends and the others read.
class RankBytes {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  template <class T>
  void take(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    read(&value, sizeof(T));
  }
  template <class S>
  void put(const Matrix<S>& m) {
    put(m.rows());
    put(m.cols());
    bytes_.append(reinterpret_cast<const char*>(m.data()), static_cast<std::size_t>(m.size()) * sizeof(S));
  }
  template <class S>
  void take(Matrix<S>& m) {
    Index rows = 0, cols = 0;
    take(rows);
    take(cols);
    m.resize(rows, cols);
    read(m.data(), static_cast<std::size_t>(m.size()) * sizeof(S));
  }
  /// Replaces the bytes of all ranks by the bytes of `rank`, to be taken from the front.
  void send_from(int rank);

 private:
  void read(void* to, std::size_t size);

  std::string bytes_;
  std::size_t at_ = 0;
};

/// Sends data from every rank to all others: a rank writes with put(bytes), the others read with take(bytes, rank).
template <class Put, class Take>
void exchange(int this_one, int ranks, const Put& put, const Take& take) {
  for (int rank = 0; rank < ranks; ++rank) {
    RankBytes bytes;
    if (rank == this_one) put(bytes);
    bytes.send_from(rank);
    if (rank != this_one) take(bytes, rank);
  }
}

/// Contiguous chunks of the examples of a batch, at most kChunks, the same for every number of threads and ranks. Sums
/// run over the examples of a chunk in order, then over the chunks in order.
class BatchChunks {
 public:
  BatchChunks(Index examples, bool over_ranks)
      : examples_(examples),
        count_(std::min(kChunks, examples)),
        mine_(over_ranks ? own_part(count_, this_rank(), rank_count()) : OwnPart{0, count_}) {}

  Index count() const { return count_; }  ///< chunks of all ranks
  const OwnPart& mine() const { return mine_; }

  /// Calls body(chunk, k, thread, begin, end) for each chunk of this rank, its k-th, with the examples [begin, end).
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
