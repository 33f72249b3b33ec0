// SPDX-License-Identifier: Apache-2.0
// Chopped TTv2 (Rasch, Carta, Fagbohungbe and Gokmen, Nat. Commun. 15:7133 (2024), doi:10.1038/s41467-024-51221-z): the sign of a
// column flips with probability p after it was read; no symmetry point need be known.
// AGAD (Rasch, Carta, Fagbohungbe and Gokmen, Nat. Commun. 15:7133 (2024), doi:10.1038/s41467-024-51221-z): chopped transfers
// with a reference that is found on the way. The sign of a column flips after every `period` reads of it, and a running mean M of what was
// read of A (weight min(1, 5/period): that of IBM aihwkit 1.1.0) becomes R at the flip: where A stood is what it is measured from.
#include <algorithm>
#include <vector>

#include "circuits/kept_state.hpp"
#include "circuits/rules/column_transfer.hpp"
#include "circuits/rules/rule_kinds.hpp"
#include "sim/base/rng.hpp"

namespace nudge {

/// Transfers through a buffer whose fast columns j have signs c_j (Rasch, Carta, Fagbohungbe and Gokmen, Nat. Commun. 15:7133
/// (2024), doi:10.1038/s41467-024-51221-z): A += c f δ/s and H += c λ s (A − R), s the schedule of the learning rate. A is
/// measured from R; an error of R adds to H with both signs. A subclass decides when signs flip, and the value of R.
template <class S>
class ChoppedTransfer : public TransferRule<S> {
 public:
  explicit ChoppedTransfer(const CrossbarSpec& spec)
      : TransferRule<S>(spec), buffer_(spec.rule.threshold, spec.rule.momentum) {}

  void begin(RuleArrays<S>& arrays) override {
    const Crossbar<S>& slow = arrays.slow();
    buffer_.begin(slow.inputs(), slow.outputs());
    signs_.setOnes(1, slow.outputs());
    this->transfer_.begin();
  }

  void learn(const WeightUpdate<S>& update, RuleArrays<S>& arrays) override {
    Crossbar<S>& slow = arrays.slow();
    const auto read = this->take(update, &signs_, arrays);
    if (!read) return;
    for (Index k = 0; k < read->count(); ++k) {
      const Index column = read->column(k, slow.outputs());
      const Vector held = read->held.row(k).transpose();
      Vector moved = held;
      if (reference_.size() > 0) moved -= reference_.col(column);
      buffer_.sum().col(column) += this->rate(update) * signs_(0, column) * moved;
      after_read(column, held, arrays);
    }
    if (buffer_.take(slow.weight_per_pulse(), read->first, read->count(), counts_)) slow.pulse(counts_);
  }

  std::vector<StateArray<S>> state() override {
    std::vector<StateArray<S>> all = {
        {"buffer", "1", "change of each weight in transfer from the fast array to the slow one", &buffer_.sum()},
        {"chopper", "1", "sign of each column of the fast array", &signs_}};
    append_state(all);
    this->transfer_.append_state(all);
    return all;
  }

 protected:
  using Vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;
  /// Takes note of a column that was read as `held`; decides if its sign flips.
  virtual void after_read(Index column, const Vector& held, RuleArrays<S>& arrays) = 0;
  virtual void append_state(std::vector<StateArray<S>>& /*all*/) {}

  Matrix<S> signs_;
  Matrix<S> reference_;  ///< R (inputs, outputs); empty: 0

 private:
  PulseBuffer<S> buffer_;
  Matrix<S> counts_;
};

namespace {

// Coins beside those of the order of pulses (DeviceArray::pulse_both), whose lanes are numbers of chunks.
constexpr std::uint32_t chopper_lane = 0xffffffff;

template <class S>
class ChoppedTtv2 final : public ChoppedTransfer<S> {
 public:
  using ChoppedTransfer<S>::ChoppedTransfer;

 private:
  void after_read(Index column, const typename ChoppedTransfer<S>::Vector& /*held*/, RuleArrays<S>& arrays) override {
    // Every update has a number of its own among the writes of the fast array.
    const Crossbar<S>& fast = arrays.fast();
    const RngKey key{arrays.seed, Purpose::pulse_order, fast.plus().identity().entity};
    const std::uint64_t bits =
        random_bits(key, fast.writes().operations, chopper_lane, static_cast<std::uint32_t>(column));
    S& sign = this->signs_(0, column);
    if (static_cast<double>(bits >> 11U) * 0x1p-53 < this->spec_.chopper) sign = -sign;
  }
};

}  // namespace

RuleKind c_ttv2_rule() {
  return {.update = UpdateScheme::c_ttv2,
          .name = "c_ttv2",
          .summary = "TTv2 with random sign changes of fast columns; it needs no symmetry point",
          .source = "Rasch et al., Nat. Commun. 15:7133 (2024), doi:10.1038/s41467-024-51221-z",
          .options = {&RuleSpec::every, &RuleSpec::columns, &RuleSpec::rate, &RuleSpec::fast_gain,
                      &RuleSpec::coincidence, &RuleSpec::threshold, &RuleSpec::momentum, &RuleSpec::chopper},
          .make_float = make_rule<float, ChoppedTtv2>,
          .make_double = make_rule<double, ChoppedTtv2>,
          .arrays = [](const RuleSpec&) { return 2; },
          .numbers = [](const RuleSpec&) { return 1.0; }};
}

namespace {

template <class S>
class Agad final : public ChoppedTransfer<S> {
 public:
  using ChoppedTransfer<S>::ChoppedTransfer;

  void begin(RuleArrays<S>& arrays) override {
    ChoppedTransfer<S>::begin(arrays);
    reads_.setZero(1, arrays.slow().outputs());
    mean_.setZero(arrays.slow().inputs(), arrays.slow().outputs());
    this->reference_ = mean_;
  }

  void restored(const RuleArrays<S>& arrays) override {
    ChoppedTransfer<S>::restored(arrays);
    for (Index j = 0; j < reads_.cols(); ++j) {
      restored_count(static_cast<double>(reads_(0, j)), this->spec_.chopper_period,
                     "reads of a column since its sign changed");
    }
  }

 private:
  void after_read(Index column, const typename ChoppedTransfer<S>::Vector& held, RuleArrays<S>& /*arrays*/) override {
    const S weight = static_cast<S>(std::min(1.0, 5.0 / this->spec_.chopper_period));
    mean_.col(column) += weight * (held - mean_.col(column));
    if ((reads_(0, column) += S(1)) < static_cast<S>(this->spec_.chopper_period)) return;
    reads_(0, column) = 0;
    this->signs_(0, column) = -this->signs_(0, column);
    this->reference_.col(column) = mean_.col(column);
  }
  void append_state(std::vector<StateArray<S>>& all) override {
    all.push_back({"chopper_reads", "1", "reads of each column since its sign changed", &reads_});
    all.push_back({"running_mean", "1", "running mean of what was read of the fast array", &mean_});
    all.push_back({"reference", "1", "reference value of the fast array", &this->reference_});
  }

  Matrix<S> reads_, mean_;
};

}  // namespace

RuleKind agad_rule() {
  return {.update = UpdateScheme::agad,
          .name = "agad",
          .summary = "chopped transfers, measured from the state of the fast array when the sign changed",
          .source = "Rasch et al., Nat. Commun. 15:7133 (2024), doi:10.1038/s41467-024-51221-z",
          .options = {&RuleSpec::every, &RuleSpec::columns, &RuleSpec::rate, &RuleSpec::fast_gain,
                      &RuleSpec::coincidence, &RuleSpec::threshold, &RuleSpec::momentum, &RuleSpec::chopper_period},
          .make_float = make_rule<float, Agad>,
          .make_double = make_rule<double, Agad>,
          .arrays = [](const RuleSpec&) { return 2; },
          .numbers = [](const RuleSpec&) { return 3.0; }};
}

}  // namespace nudge
