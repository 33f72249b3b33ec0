// SPDX-License-Identifier: Apache-2.0
// Tiki-Taka (TTv1: Gokmen and Haensch, Front. Neurosci. 14:103 (2020), doi:10.3389/fnins.2020.00103): the fast array A takes
// every update at a constant rate, A += f δ/s, s the schedule of the learning rate; devices whose up and down pulses differ
// pull it towards its symmetry point A₀, so that A − A₀ follows a decaying mean of the gradient. Every `every` updates the
// next `columns` columns of A are read and C is asked for λ s (A − A₀) on them by pulses. At the optimum the mean gradient
// is zero, so that A rests at A₀ and C rests where the loss is lowest, wherever its own symmetry point lies.
//
// The schedule acts on the transfer, as in IBM aihwkit 1.1.0 (its chopped class; by default its transfers carry the current
// learning rate): on the fast array it would drown the gradient in the noise of the devices as the rate falls.
// What A₀ is wrong by is transferred at every step: C drifts until the gradient balances it.
#include "circuits/rules/column_transfer.hpp"

namespace nudge {
namespace {

template <class S>
class TikiTaka final : public TransferRule<S> {
 public:
  using TransferRule<S>::TransferRule;

  void begin(RuleArrays<S>& arrays) override {
    arrays.zero.back() = find_symmetry_point(arrays.fast(), this->spec_.zero_shift);
    this->transfer_.begin();
  }

  void learn(const WeightUpdate<S>& update, RuleArrays<S>& arrays) override {
    const auto read = this->take(update, nullptr, arrays);
    if (!read) return;
    Crossbar<S>& slow = arrays.slow();
    Matrix<S> delta = Matrix<S>::Zero(slow.inputs(), slow.outputs());
    read->add_to(delta, this->rate(update), arrays.zero.back());
    slow.apply_update(delta);
  }
};

}  // namespace

RuleKind tiki_taka_rule() {
  return {.update = UpdateScheme::tiki_taka,
          .name = "tiki_taka",
          .summary =
              "a fast array accumulates the gradient around its symmetry point, and its columns are "
              "transferred",
          .source = "Gokmen and Haensch, Front. Neurosci. 14:103 (2020), doi:10.3389/fnins.2020.00103",
          .options = {&RuleSpec::every, &RuleSpec::columns, &RuleSpec::rate, &RuleSpec::fast_gain,
                      &RuleSpec::coincidence, &RuleSpec::zero_shift},
          .make_float = make_rule<float, TikiTaka>,
          .make_double = make_rule<double, TikiTaka>,
          .arrays = [](const RuleSpec&) { return 2; },
          .numbers = [](const RuleSpec& spec) { return spec.zero_shift > 0 ? 1.0 : 0.0; },
          .symmetric = true};
}

}  // namespace nudge
