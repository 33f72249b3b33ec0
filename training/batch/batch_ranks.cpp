// SPDX-License-Identifier: Apache-2.0
#include "training/batch/batch_ranks.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

bool shared = false;

}  // namespace

void share_batches() { shared = rank_count() > 1; }
bool batches_are_shared() { return shared; }
bool leads_batches() { return !shared || this_rank() == 0; }

bool agreed(bool decision) { return shared ? !any_rank(!decision) : decision; }

void expect_as_on_rank_0(const std::string& what, const std::string& value) {
  if (!shared) return;
  std::string first = value;
  broadcast(first);
  if (first == value) return;
  throw UserError(
      fmt::format("rank {}: {}: {}, on rank 0: {} (all ranks of a run need the same build and file system, and on "
                  "different processors product.kernel = \"portable\")",
                  this_rank(), what, value, first));
}

OwnPart own_part(Index n, int rank, int ranks) {
  const Index used = std::min<Index>(n, ranks);
  if (rank >= used) return {n, n};
  return {rank * n / used, (rank + 1) * n / used};
}

template <class S>
void sum_over_ranks(const std::vector<Gradient<S>>& own, const std::vector<char>& met, Index chunks,
                    Gradient<S>& total) {
  constexpr Index kPiece = 65536;  // 256 KiB of float: the sum of a piece travels while the next one is added
  const int me = this_rank(), last = static_cast<int>(std::min<Index>(chunks, rank_count())) - 1;
  using Entries = Eigen::Array<S, Eigen::Dynamic, 1>;
  total.begin();
  for (int p = 0; p < total.size(); ++p) {
    if (met[static_cast<std::size_t>(p)] != 0) total.meet(p);
  }
  for (int p = 0; p < total.size() && me <= last; ++p) {
    if (!total.met(p)) continue;
    for (Index begin = 0; begin < total[p].size(); begin += kPiece) {
      const Index count = std::min(kPiece, total[p].size() - begin);
      Eigen::Map<Entries> sum(total[p].data() + begin, count);
      const std::span<S> numbers(sum.data(), static_cast<std::size_t>(count));
      if (me > 0) receive_block(me - 1, std::as_writable_bytes(numbers));
      for (std::size_t c = 0; c < own.size(); ++c) {
        const Eigen::Map<const Entries> part(own[c][p].data() + begin, count);
        if (c == 0 && me == 0) {
          sum = part;
        } else {
          sum += part;
        }
      }
      if (me < last) send_block(me + 1, std::as_bytes(numbers));
    }
  }
  for (int p = 0; p < total.size(); ++p) {
    if (!total.met(p)) continue;
    broadcast_block(std::as_writable_bytes(std::span(total[p].data(), static_cast<std::size_t>(total[p].size()))),
                    last);
  }
}

void exchange_examples(std::vector<double>& values, Index chunks) {
  const auto examples = static_cast<Index>(values.size());
  const auto each = [&](int rank, const auto& action) {
    const OwnPart part = own_part(chunks, rank, rank_count());
    const Index end = first_of_chunk(part.end, chunks, examples);
    for (Index b = first_of_chunk(part.begin, chunks, examples); b < end; ++b) {
      action(values[static_cast<std::size_t>(b)]);
    }
  };
  const auto put = [&](RankBytes& bytes) { each(this_rank(), [&](double value) { bytes.put(value); }); };
  exchange(this_rank(), rank_count(), put,
           [&](RankBytes& bytes, int rank) { each(rank, [&](double& value) { bytes.take(value); }); });
}

void any_of_ranks(std::vector<char>& flags) {
  std::vector<char> all = flags;
  const auto put = [&](RankBytes& bytes) {
    for (const char flag : flags) bytes.put(flag);
  };
  exchange(this_rank(), rank_count(), put, [&](RankBytes& bytes, int) {
    for (char& flag : all) {
      char other = 0;
      bytes.take(other);
      if (other != 0) flag = 1;
    }
  });
  flags = std::move(all);
}

void RankBytes::send_from(int rank) {
  broadcast(bytes_, rank);
  at_ = 0;
}

void RankBytes::read(void* to, std::size_t size) {
  NUDGE_EXPECT(at_ + size <= bytes_.size());
  if (size > 0) std::memcpy(to, bytes_.data() + at_, size);
  at_ += size;
}

#define NUDGE_BATCH_RANKS(S) \
  template void sum_over_ranks<S>(const std::vector<Gradient<S>>&, const std::vector<char>&, Index, Gradient<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_BATCH_RANKS)

}  // namespace nudge
