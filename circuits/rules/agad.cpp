// SPDX-License-Identifier: Apache-2.0
// AGAD (Rasch, Carta, Fagbohungbe and Gokmen, Nat. Commun. 15:7133 (2024), doi:10.1038/s41467-024-51221-z): chopped transfers
// with a reference that is found on the way. The sign c_j of a column flips after every `period` reads of it; between flips
// A += c f δ/s, H += c λ s (A − R), and a running mean M of what was read of A (weight min(1, 5/period): that of IBM aihwkit 1.1.0)
// becomes R at the flip: where A stood is what it is measured from.
#include <algorithm>

#include "circuits/restored_count.hpp"
#include "circuits/rules/column_transfer.hpp"
#include "circuits/rules/pulse_buffer.hpp"
#include "circuits/rules/rule_kinds.hpp"

namespace nudge {
namespace {

template <class S>
class Agad final : public UpdateRule<S> {
 public:
  explicit Agad(const CrossbarSpec& spec)
      : spec_(spec.rule),
        transfer_(spec, static_cast<std::uint64_t>(spec.rule.every)),
        buffer_(spec.rule.threshold, spec.rule.momentum) {}

  void begin(RuleArrays<S>& arrays) override {
    const Crossbar<S>& slow = arrays.slow();
    buffer_.begin(slow.inputs(), slow.outputs());
    signs_.setOnes(1, slow.outputs());
    reads_.setZero(1, slow.outputs());
    mean_.setZero(slow.inputs(), slow.outputs());
    reference_ = mean_;
    transfer_.begin();
  }

  void learn(const WeightUpdate<S>& update, RuleArrays<S>& arrays) override {
    Crossbar<S>& slow = arrays.slow();
    send_chopped<S>(update, static_cast<S>(spec_.fast_gain) / update.schedule, &signs_, arrays.fast());
    const auto read = transfer_.after_update(arrays.fast(), arrays.seed);
    if (!read) return;
    const S rate = static_cast<S>(spec_.rate) * update.schedule;
    const S weight = static_cast<S>(std::min(1.0, 5.0 / spec_.chopper_period));
    for (Index k = 0; k < read->count(); ++k) {
      const Index column = read->column(k, slow.outputs());
      const auto held = read->held.row(k).transpose();
      buffer_.sum().col(column) += rate * signs_(0, column) * (held - reference_.col(column));
      mean_.col(column) += weight * (held - mean_.col(column));
      if ((reads_(0, column) += S(1)) < static_cast<S>(spec_.chopper_period)) continue;
      reads_(0, column) = 0;
      signs_(0, column) = -signs_(0, column);
      reference_.col(column) = mean_.col(column);
    }
    if (buffer_.take(slow.weight_per_pulse(), read->first, read->count(), counts_)) slow.pulse(counts_);
  }

  std::vector<StateArray<S>> state() override {
    std::vector<StateArray<S>> all = {
        {"buffer", "1", "change of each weight that is on its way from the fast array to the slow one", &buffer_.sum()},
        {"chopper", "1", "sign of each column of the fast array", &signs_},
        {"chopper_reads", "1", "reads of each column since its sign changed", &reads_},
        {"running_mean", "1", "running mean of what was read of the fast array", &mean_},
        {"reference", "1", "what the fast array is measured from", &reference_}};
    transfer_.append_state(all);
    return all;
  }
  void restored(const RuleArrays<S>& arrays) override {
    transfer_.restored(arrays.all.front()->outputs());
    for (Index j = 0; j < reads_.cols(); ++j) {
      restored_count(static_cast<double>(reads_(0, j)), spec_.chopper_period,
                     "reads of a column since its sign changed");
    }
  }
  std::vector<MapReading> readings() const override {
    std::vector<MapReading> all;
    transfer_.append_readings(all);
    return all;
  }

 private:
  RuleSpec spec_;
  ColumnTransfer<S> transfer_;
  PulseBuffer<S> buffer_;
  Matrix<S> signs_, reads_, mean_, reference_;
  Matrix<S> counts_;
};

}  // namespace

RuleKind agad_rule() {
  return {
      .update = UpdateScheme::agad,
      .name = "agad",
      .summary = "chopped transfers that are measured from where the fast array stood when the sign changed",
      .source = "Rasch et al., Nat. Commun. 15:7133 (2024), doi:10.1038/s41467-024-51221-z",
      .keys = {"crossbar.transfer_every", "crossbar.transfer_columns", "crossbar.transfer_rate", "crossbar.fast_gain",
               "crossbar.fast_update", "crossbar.threshold", "crossbar.buffer_momentum", "crossbar.chopper_period"},
      .make_float = make_rule<float, Agad>,
      .make_double = make_rule<double, Agad>,
      .arrays = [](const RuleSpec&) { return 2; },
      .numbers = [](const RuleSpec&) { return 3.0; }};
}

}  // namespace nudge
