// SPDX-License-Identifier: Apache-2.0
#include "circuits/rules/column_transfer.hpp"

namespace nudge {

template <class S>
Cascade<S>::Cascade(const CrossbarSpec& spec) : spec_(spec.rule) {
  const int arrays = arrays_per_matrix(spec);
  for (int k = 1; k < arrays; ++k) {
    std::uint64_t every = static_cast<std::uint64_t>(spec_.every);
    for (int finer = k + 1; finer < arrays; ++finer) every *= static_cast<std::uint64_t>(spec_.timescale);
    names_.push_back(arrays == 2 ? "" : "tile" + std::to_string(k) + "_");
    transfers_.emplace_back(spec, every, names_.back());
    buffers_.emplace_back(spec_.threshold, spec_.momentum);
  }
}

template <class S>
void Cascade<S>::begin(RuleArrays<S>& arrays) {
  for (std::size_t k = 1; k < arrays.all.size(); ++k) {
    Crossbar<S>& array = *arrays.all[k];
    arrays.zero[k] = find_symmetry_point(array, spec_.zero_shift);
    buffers_[k - 1].begin(array.inputs(), array.outputs());
    transfers_[k - 1].begin();
  }
}

template <class S>
void Cascade<S>::learn(const WeightUpdate<S>& update, RuleArrays<S>& arrays) {
  send_chopped<S>(update, static_cast<S>(spec_.fast_gain) / update.schedule, nullptr, arrays.fast());
  const S rate = static_cast<S>(spec_.rate) * update.schedule;
  for (std::size_t k = arrays.all.size() - 1; k > 0; --k) {
    const auto read = transfers_[k - 1].after_update(*arrays.all[k], arrays.seed);
    if (!read) continue;
    Crossbar<S>& coarser = *arrays.all[k - 1];
    read->add_to(buffers_[k - 1].sum(), rate, arrays.zero[k]);
    if (buffers_[k - 1].take(coarser.weight_per_pulse(), read->first, read->count(), counts_)) coarser.pulse(counts_);
  }
}

template <class S>
std::vector<StateArray<S>> Cascade<S>::state() {
  std::vector<StateArray<S>> all;
  for (std::size_t k = 0; k < buffers_.size(); ++k) {
    all.push_back({names_[k] + "buffer", "1",
                   "change of each weight that is on its way from a fast array to a slower one", &buffers_[k].sum()});
    transfers_[k].append_state(all);
  }
  return all;
}

template <class S>
void Cascade<S>::restored(const RuleArrays<S>& arrays) {
  for (ColumnTransfer<S>& one : transfers_) one.restored(arrays.all.front()->outputs());
}

template <class S>
std::vector<MapReading> Cascade<S>::readings() const {
  std::vector<MapReading> all;
  for (const ColumnTransfer<S>& one : transfers_) one.append_readings(all);
  return all;
}

NUDGE_BOTH_PRECISIONS_OF(Cascade)

}  // namespace nudge
