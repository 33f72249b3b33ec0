// SPDX-License-Identifier: Apache-2.0
// AGAD (Rasch, Carta, Fagbohungbe and Gokmen, Nat. Commun. 15:7133 (2024), doi:10.1038/s41467-024-51221-z): chopped transfers
// with a reference that is found on the way. The sign of a column flips after every `period` reads of it, and a running mean M of what was
// read of A (weight min(1, 5/period): that of IBM aihwkit 1.1.0) becomes R at the flip: where A stood is what it is measured from.
#include <algorithm>

#include "circuits/kept_state.hpp"
#include "circuits/rules/chopped_transfer.hpp"
#include "circuits/rules/rule_kinds.hpp"

namespace nudge {
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
    all.push_back({"reference", "1", "what the fast array is measured from", &this->reference_});
  }

  Matrix<S> reads_, mean_;
};

}  // namespace

RuleKind agad_rule() {
  return {.update = UpdateScheme::agad,
          .name = "agad",
          .summary = "chopped transfers that are measured from where the fast array stood when the sign changed",
          .source = "Rasch et al., Nat. Commun. 15:7133 (2024), doi:10.1038/s41467-024-51221-z",
          .options = {&RuleSpec::every, &RuleSpec::columns, &RuleSpec::rate, &RuleSpec::fast_gain,
                      &RuleSpec::coincidence, &RuleSpec::threshold, &RuleSpec::momentum, &RuleSpec::chopper_period},
          .make_float = make_rule<float, Agad>,
          .make_double = make_rule<double, Agad>,
          .arrays = [](const RuleSpec&) { return 2; },
          .numbers = [](const RuleSpec&) { return 3.0; }};
}

}  // namespace nudge
