// SPDX-License-Identifier: Apache-2.0
// Chopped TTv2 (Rasch, Carta, Fagbohungbe and Gokmen, Nat. Commun. 15:7133 (2024), doi:10.1038/s41467-024-51221-z): each column
// j of the fast array has a sign c_j, A += c f δ/s and H += c λ s A, which flips with probability p after the column was read:
// an offset of A adds to H with both signs, so that no symmetry point need be known.
#include "circuits/rules/column_transfer.hpp"
#include "circuits/rules/pulse_buffer.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

// Coins beside those of the order of pulses (DeviceArray::pulse_both), whose lanes are numbers of chunks.
constexpr std::uint32_t chopper_lane = 0xffffffff;

template <class S>
class ChoppedTtv2 final : public UpdateRule<S> {
 public:
  explicit ChoppedTtv2(const CrossbarSpec& spec)
      : spec_(spec.rule),
        transfer_(spec, static_cast<std::uint64_t>(spec.rule.every)),
        buffer_(spec.rule.threshold, spec.rule.momentum) {}

  void begin(RuleArrays<S>& arrays) override {
    const Crossbar<S>& slow = arrays.slow();
    buffer_.begin(slow.inputs(), slow.outputs());
    signs_.setOnes(1, slow.outputs());
    transfer_.begin();
  }

  void learn(const WeightUpdate<S>& update, RuleArrays<S>& arrays) override {
    Crossbar<S>&slow = arrays.slow(), &fast = arrays.fast();
    send_chopped<S>(update, static_cast<S>(spec_.fast_gain) / update.schedule, &signs_, fast);
    const auto read = transfer_.after_update(fast, arrays.seed);
    if (!read) return;
    const S rate = static_cast<S>(spec_.rate) * update.schedule;
    const RngKey key{arrays.seed, Purpose::pulse_order, fast.plus().identity().entity};
    for (Index k = 0; k < read->count(); ++k) {
      const Index column = read->column(k, slow.outputs());
      buffer_.sum().col(column) += rate * signs_(0, column) * read->held.row(k).transpose();
      // Every update has a number of its own among the writes of the fast array.
      const std::uint64_t bits =
          random_bits(key, fast.writes().operations, chopper_lane, static_cast<std::uint32_t>(column));
      if (static_cast<double>(bits >> 11U) * 0x1p-53 < spec_.chopper) signs_(0, column) = -signs_(0, column);
    }
    if (buffer_.take(slow.weight_per_pulse(), read->first, read->count(), counts_)) slow.pulse(counts_);
  }

  std::vector<StateArray<S>> state() override {
    std::vector<StateArray<S>> all = {
        {"buffer", "1", "change of each weight that is on its way from the fast array to the slow one", &buffer_.sum()},
        {"chopper", "1", "sign of each column of the fast array", &signs_}};
    transfer_.append_state(all);
    return all;
  }
  void restored(const RuleArrays<S>& arrays) override { transfer_.restored(arrays.all.front()->outputs()); }
  std::vector<MapReading> readings() const override {
    std::vector<MapReading> all;
    transfer_.append_readings(all);
    return all;
  }

 private:
  RuleSpec spec_;
  ColumnTransfer<S> transfer_;
  PulseBuffer<S> buffer_;
  Matrix<S> signs_;
  Matrix<S> counts_;
};

}  // namespace

RuleKind c_ttv2_rule() {
  return {.update = UpdateScheme::c_ttv2,
          .name = "c_ttv2",
          .summary = "TTv2 whose fast columns change their signs at random: no symmetry point need be known",
          .source = "Rasch et al., Nat. Commun. 15:7133 (2024), doi:10.1038/s41467-024-51221-z",
          .keys = {"crossbar.transfer_every", "crossbar.transfer_columns", "crossbar.transfer_rate",
                   "crossbar.fast_gain", "crossbar.fast_update", "crossbar.threshold", "crossbar.buffer_momentum",
                   "crossbar.chopper_probability"},
          .make_float = make_rule<float, ChoppedTtv2>,
          .make_double = make_rule<double, ChoppedTtv2>,
          .arrays = [](const RuleSpec&) { return 2; },
          .numbers = [](const RuleSpec&) { return 1.0; }};
}

}  // namespace nudge
