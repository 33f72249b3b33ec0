// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "circuits/rules/column_transfer.hpp"
#include "circuits/rules/rule_kinds.hpp"

namespace nudge {

/// Transfers through a buffer whose fast columns j have signs c_j (Rasch, Carta, Fagbohungbe and Gokmen, Nat. Commun. 15:7133
/// (2024), doi:10.1038/s41467-024-51221-z): A += c f δ/s and H += c λ s (A − R), s the schedule of the learning rate. A is
/// measured from R; an error of R adds to H with both signs. A subclass decides when signs flip, and the value of R.
template <class S>
class ChoppedTransfer : public UpdateRule<S> {
 public:
  explicit ChoppedTransfer(const CrossbarSpec& spec)
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
    Crossbar<S>& slow = arrays.slow();
    send_chopped<S>(update, static_cast<S>(spec_.fast_gain) / update.schedule, &signs_, arrays.fast());
    const auto read = transfer_.after_update(arrays.fast(), arrays.seed);
    if (!read) return;
    const S rate = static_cast<S>(spec_.rate) * update.schedule;
    for (Index k = 0; k < read->count(); ++k) {
      const Index column = read->column(k, slow.outputs());
      const Vector held = read->held.row(k).transpose();
      Vector moved = held;
      if (reference_.size() > 0) moved -= reference_.col(column);
      buffer_.sum().col(column) += rate * signs_(0, column) * moved;
      after_read(column, held, arrays);
    }
    if (buffer_.take(slow.weight_per_pulse(), read->first, read->count(), counts_)) slow.pulse(counts_);
  }

  std::vector<StateArray<S>> state() override {
    std::vector<StateArray<S>> all = {
        {"buffer", "1", "change of each weight that is on its way from the fast array to the slow one", &buffer_.sum()},
        {"chopper", "1", "sign of each column of the fast array", &signs_}};
    append_state(all);
    transfer_.append_state(all);
    return all;
  }
  void restored(const RuleArrays<S>& arrays) override { transfer_.restored(arrays.all.front()->outputs()); }
  std::vector<MapReading> readings() const override {
    std::vector<MapReading> all;
    transfer_.append_readings(all);
    return all;
  }

 protected:
  using Vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;
  /// Takes note of a column that was read as `held`; decides if its sign flips.
  virtual void after_read(Index column, const Vector& held, RuleArrays<S>& arrays) = 0;
  virtual void append_state(std::vector<StateArray<S>>& /*all*/) {}

  RuleSpec spec_;
  Matrix<S> signs_;
  Matrix<S> reference_;  ///< R (inputs, outputs); empty: 0

 private:
  ColumnTransfer<S> transfer_;
  PulseBuffer<S> buffer_;
  Matrix<S> counts_;
};

}  // namespace nudge
