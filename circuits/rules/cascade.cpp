// SPDX-License-Identifier: Apache-2.0
// Tiki-Taka with a digital buffer (TTv2: Gokmen, Front. Artif. Intell. 4:699148 (2021), doi:10.3389/frai.2021.699148): what is
// transferred gathers in a number per weight, H += λ s (A − A₀), and C gets whole pulses when they are due.
// Residual learning (Wu et al., NeurIPS 2025: training on analog hardware as a bilevel problem): TTv2 whose fast array counts,
// W = C + γ (P − P₀): it learns what C leaves undone while C learns what it holds.
// Residual learning on several arrays (Li et al., arXiv:2510.02516): W = Σ γ^k W_k, each array with a timescale of its own. Where
// devices have few states, array k adds digits of size γ^k to the weight.
#include "circuits/rules/column_transfer.hpp"

#include <cmath>

namespace nudge {
namespace {

/// Cascade of arrays A_K−1, …, A_1, A_0 = C with a buffer of numbers between neighbours. The last takes every update, A_K−1
/// += f δ/s. Every T_k updates columns of A_k are read, H_k += λ s (A_k − zero_k), and array k − 1 gets the pulses that are
/// due (PulseBuffer), T_k = every · timescale^(K−1−k). The rules differ in the weight of A_k in reads (RuleArrays::share):
/// ttv2 (K = 2, none), residual (K = 2, γ), multi_tile (γ^k).
template <class S>
class Cascade final : public UpdateRule<S> {
 public:
  explicit Cascade(const CrossbarSpec& spec) : spec_(spec.rule) {
    const int arrays = arrays_per_matrix(spec);
    for (int k = 1; k < arrays; ++k) {
      std::uint64_t every = static_cast<std::uint64_t>(spec_.every);
      for (int finer = k + 1; finer < arrays; ++finer) every *= static_cast<std::uint64_t>(spec_.timescale);
      names_.push_back(arrays == 2 ? "" : "tile" + std::to_string(k) + "_");
      transfers_.emplace_back(spec, every, names_.back());
      buffers_.emplace_back(spec_.threshold, spec_.momentum);
    }
  }

  void begin(RuleArrays<S>& arrays) override {
    for (std::size_t k = 1; k < arrays.all.size(); ++k) {
      Crossbar<S>& array = *arrays.all[k];
      arrays.zero[k] = find_symmetry_point(array, spec_.zero_shift);
      buffers_[k - 1].begin(array.inputs(), array.outputs());
      transfers_[k - 1].begin();
    }
  }
  void learn(const WeightUpdate<S>& update, RuleArrays<S>& arrays) override {
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
  std::vector<StateArray<S>> state() override {
    std::vector<StateArray<S>> all;
    for (std::size_t k = 0; k < buffers_.size(); ++k) {
      all.push_back({names_[k] + "buffer", "1", "change of each weight in transfer from a fast array to a slower one",
                     &buffers_[k].sum()});
      transfers_[k].append_state(all);
    }
    return all;
  }
  void restored(const RuleArrays<S>& arrays) override {
    for (ColumnTransfer<S>& one : transfers_) one.restored(arrays.all.front()->outputs());
  }
  std::vector<MapReading> readings() const override {
    std::vector<MapReading> all;
    for (const ColumnTransfer<S>& one : transfers_) one.append_readings(all);
    return all;
  }

 private:
  RuleSpec spec_;
  std::vector<ColumnTransfer<S>> transfers_;  ///< [k − 1]: transfer of array k to array k − 1
  std::vector<PulseBuffer<S>> buffers_;
  std::vector<std::string> names_;
  Matrix<S> counts_;
};

}  // namespace

RuleKind ttv2_rule() {
  return {.update = UpdateScheme::ttv2,
          .name = "ttv2",
          .summary = "Tiki-Taka with a digital buffer between its arrays",
          .source = "Gokmen, Front. Artif. Intell. 4:699148 (2021), doi:10.3389/frai.2021.699148",
          .options = {&RuleSpec::every, &RuleSpec::columns, &RuleSpec::rate, &RuleSpec::fast_gain,
                      &RuleSpec::coincidence, &RuleSpec::zero_shift, &RuleSpec::threshold, &RuleSpec::momentum},
          .make_float = make_rule<float, Cascade>,
          .make_double = make_rule<double, Cascade>,
          .arrays = [](const RuleSpec&) { return 2; },
          .numbers = [](const RuleSpec& spec) { return spec.zero_shift > 0 ? 2.0 : 1.0; },
          .symmetric = true};
}

RuleKind residual_rule() {
  RuleKind kind = ttv2_rule();
  kind.update = UpdateScheme::residual;
  kind.name = "residual";
  kind.summary =
      "two arrays that are read together; the second has the weight crossbar.residual_share and learns the residual "
      "of the first";
  kind.source = "residual learning (NeurIPS 2025); buffered as ttv2";
  kind.options.emplace_back(&RuleSpec::share);
  kind.share = [](const RuleSpec& spec, int) { return spec.share; };
  return kind;
}

RuleKind multi_tile_rule() {
  RuleKind kind = residual_rule();
  kind.update = UpdateScheme::multi_tile;
  kind.name = "multi_tile";
  kind.summary =
      "crossbar.residual_tiles arrays that are read together; the k-th has the weight share^k and its own timescale";
  kind.source = "Li et al., arXiv:2510.02516";
  kind.options.insert(kind.options.end(), {&RuleSpec::arrays, &RuleSpec::timescale});
  kind.arrays = [](const RuleSpec& spec) { return spec.arrays; };
  kind.numbers = [](const RuleSpec& spec) { return (spec.arrays - 1) * (spec.zero_shift > 0 ? 2.0 : 1.0); };
  kind.share = [](const RuleSpec& spec, int array) { return std::pow(spec.share, array); };
  return kind;
}

}  // namespace nudge
