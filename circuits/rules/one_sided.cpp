// SPDX-License-Identifier: Apache-2.0
// One-sided pairs: devices go up only where it learns, G⁺ for a rising weight and G⁻ for a falling one, from the lower bound on
// (MappingKind::one_sided), so that the window holds twice the range of a pair around its middle. Every `refresh_every`
// updates both devices of all pairs are read; where the larger is above refresh_high and the smaller above refresh_low of
// the window the pair is written anew by write–verify to the same weight with its smaller device at the bottom, which is
// what sends down pulses. MappingKind::reset_only is the mirror image: devices begin at the upper bound and only go down, G⁻ for a
// rising weight; places in the window count from the top. As IBM aihwkit 1.1.0 (OneSidedUnitCell) does for devices that cannot be depressed step by step.
#include "circuits/kept_state.hpp"
#include "circuits/rules/rule_kinds.hpp"

namespace nudge {
namespace {

constexpr double updates_range = 1 << 20;

template <class S>
class OneSided final : public UpdateRule<S> {
 public:
  explicit OneSided(const CrossbarSpec& spec) : spec_(spec.rule), counters_(Matrix<S>::Zero(1, 2)) {}

  void begin(RuleArrays<S>& /*arrays*/) override { counters_(0, 0) = 0; }

  void learn(const WeightUpdate<S>& update, RuleArrays<S>& arrays) override {
    Crossbar<S>& array = arrays.slow();
    array.apply(update);
    if ((counters_(0, 0) += S(1)) < static_cast<S>(spec_.refresh_every)) return;
    counters_(0, 0) = 0;
    counters_(0, 1) += static_cast<S>(array.refresh_pairs(spec_.refresh_high, spec_.refresh_low));
  }

  std::vector<StateArray<S>> state() override {
    return {
        {"refresh_counters", "1", "updates since the last search for pairs to refresh, pairs refreshed", &counters_}};
  }
  void restored(const RuleArrays<S>& /*arrays*/) override {
    restored_count(static_cast<double>(counters_(0, 0)), updates_range, "updates since the last refresh");
  }
  std::vector<MapReading> readings() const override {
    return {{"refreshed", "1", "pairs refreshed since the start", static_cast<double>(counters_(0, 1))}};
  }

 private:
  RuleSpec spec_;
  Matrix<S> counters_;
};

}  // namespace

RuleKind one_sided_rule() {
  return {
      .update = UpdateScheme::one_sided,
      .name = "one_sided",
      .summary =
          "pairs whose devices only get pulses of one direction (crossbar.mapping), refreshed where both have moved",
      .source = "OneSidedUnitCell of IBM aihwkit 1.1.0",
      .options = {&RuleSpec::refresh_every, &RuleSpec::refresh_high, &RuleSpec::refresh_low},
      .make_float = make_rule<float, OneSided>,
      .make_double = make_rule<double, OneSided>,
      .arrays = [](const RuleSpec&) { return 1; },
      .numbers = [](const RuleSpec&) { return 0.0; },
      .one_sided = true};
}

}  // namespace nudge
