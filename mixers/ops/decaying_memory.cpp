// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/reads.hpp"

#include <algorithm>
#include <limits>

namespace nudge {
namespace {

/// Fills row with of_groups, then of_groups once per channel.
template <class S>
void spread(const S* of_groups, Index groups, Index channels, S* row) {
  std::copy_n(of_groups, groups, row);
  if (groups == channels) {
    std::copy_n(of_groups, groups, row + groups);
  } else if (channels > 0) {
    for (Index g = 0; g < groups; ++g)
      std::fill_n(row + groups + g * (channels / groups), channels / groups, of_groups[g]);
  }
}

}  // namespace

template <class S>
const S* per_channel(const S* of_groups, Index groups, Index channels, std::vector<S>& space) {
  if (groups == channels) return of_groups;
  space.resize(static_cast<std::size_t>(channels));
  const Index width = channels / groups;
  for (Index g = 0; g < groups; ++g) std::fill_n(space.data() + g * width, width, of_groups[g]);
  return space.data();
}

template <class S>
void add_channels(const S* of_channels, Index groups, Index channels, S* of_groups) {
  if (groups == channels) {
    for (Index c = 0; c < channels; ++c) of_groups[c] += of_channels[c];
    return;
  }
  const Index width = channels / groups;
  for (Index g = 0; g < groups; ++g) {
    S sum = 0;
    for (Index c = g * width; c < (g + 1) * width; ++c) sum += of_channels[c];
    of_groups[g] += sum;
  }
}

template <class S>
DecayingMemory<S>::DecayingMemory(Index cells, Index groups_, Index channels, bool tilted)
    : log_mass(Matrix<S>::Constant(cells, tilted ? groups_ + channels : groups_, -std::numeric_limits<S>::infinity())),
      low(Matrix<S>::Zero(log_mass.rows(), log_mass.cols())),
      mean(Matrix<S>::Zero(cells, channels)),
      groups(groups_) {}

template <class S>
void MemoryStep<S>::prepare(const DecayingMemory<S>& memory, const S* g, const S* log_b, const S* beta_v) {
  const Index cells = memory.log_mass.rows();
  const Index width = memory.log_mass.cols();
  const Index tilts = width - memory.groups;
  for (Matrix<S>* m : {&kept, &entered, &decay_, &token_, &gap_, &growth_}) m->resize(cells, width);
  for (Index n = 0; n < cells; ++n) {
    spread(g + n * memory.groups, memory.groups, tilts, decay_.row(n).data());
    S* const token = token_.row(n).data();
    spread(log_b + n * memory.groups, memory.groups, tilts, token);
    for (Index c = 0; c < tilts; ++c) token[memory.groups + c] += beta_v[c];
  }
  gap_ = (memory.log_mass - token_) + (memory.low + decay_);
  growth_ = (-gap_.array().abs()).exp();
  const S* const gap = gap_.data();
  const S* const e = growth_.data();
  S* const stays = kept.data();
  S* const enters = entered.data();
  for (Index i = 0; i < gap_.size(); ++i) {
    const S more = S(1) / (S(1) + e[i]);
    const S less = e[i] * more;
    stays[i] = gap[i] >= S(0) ? more : less;
    enters[i] = gap[i] >= S(0) ? less : more;
  }
  growth_ = growth_.array().log1p();
}

/// Takes the token in, log M ← log(e^(log M + g) + y). The part that the rounding of log M loses goes to `low` (Knuth's two-sum). After
/// 10⁵ tokens one more changes a log mass by 10⁻⁵, ten times the spacing of floats there, and without `low` a float memory ends 10⁻³ off.
template <class S>
void MemoryStep<S>::apply(const S* v, DecayingMemory<S>& memory) {
  S* const high = memory.log_mass.data();
  S* const low = memory.low.data();
  const S* const gap = gap_.data();
  const S* const token = token_.data();
  const S* const growth = growth_.data();
  const S* const decay = decay_.data();
  for (Index i = 0; i < gap_.size(); ++i) {
    const bool token_leads = gap[i] < S(0);
    const S base = token_leads ? token[i] : high[i];
    const S more = growth[i] + (token_leads ? S(0) : low[i] + decay[i]);
    high[i] = base + more;
    const S added = high[i] - base;
    low[i] = (base - (high[i] - added)) + (more - added);
  }
  const Index channels = memory.mean.cols();
  for (Index n = 0; n < memory.mean.rows(); ++n) {
    S* const mean = memory.mean.row(n).data();
    const S* const fresh = per_channel(entered.row(n).data(), memory.groups, channels, space_);
    for (Index c = 0; c < channels; ++c) mean[c] += fresh[c] * (v[c] - mean[c]);
  }
}

template <class S>
void MemoryShares<S>::set(const DecayingMemory<S>& memory, const S* log_a, const S* beta_v, const S* log_direct) {
  const Index count = memory.log_mass.rows();
  const Index groups = memory.groups;
  const Index width = memory.log_mass.cols();
  cells.resize(count, width);
  direct.resize(1, width);
  if (log_direct != nullptr) {
    spread(log_direct, groups, width - groups, direct.data());
    for (Index c = 0; c < width - groups; ++c) direct(0, groups + c) += beta_v[c];
  } else {
    direct.setConstant(-std::numeric_limits<S>::infinity());
  }
  for (Index n = 0; n < count; ++n) spread(log_a + n * groups, groups, width - groups, cells.row(n).data());
  cells += memory.log_mass;
  log_total = direct.cwiseMax(cells.colwise().maxCoeff());  // the greatest, for now
  cells.rowwise() -= log_total.row(0);
  cells = cells.array().exp();
  direct = log_direct != nullptr ? Matrix<S>((direct - log_total).array().exp()) : Matrix<S>::Zero(1, width);
  Matrix<S> sum = direct;
  for (Index n = 0; n < count; ++n) sum += cells.row(n);
  log_total.array() += sum.array().log();
  sum = sum.cwiseInverse();
  direct.array() *= sum.array();
  cells.array().rowwise() *= sum.row(0).array();
}

#define NUDGE_DECAYING_MEMORY(S)                                             \
  template const S* per_channel<S>(const S*, Index, Index, std::vector<S>&); \
  template void add_channels<S>(const S*, Index, Index, S*);                 \
  template struct DecayingMemory<S>;                                         \
  template class MemoryStep<S>;                                              \
  template struct MemoryShares<S>;
NUDGE_BOTH_PRECISIONS(NUDGE_DECAYING_MEMORY)

}  // namespace nudge
