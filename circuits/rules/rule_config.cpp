// SPDX-License-Identifier: Apache-2.0
#include "circuits/rules/rule_spec.hpp"

#include "circuits/rules/rule_kinds.hpp"

namespace nudge {
namespace {

const Choices<bool> fast_updates{{"pulses", false}, {"coincidence", true}};

Section<RuleSpec> transfer_section() {
  using param::integer;
  using param::named;
  using param::real;
  return {
      field(integer("crossbar.transfer_every", "1", between(1, 1000000),
                    "Rules with a fast array: updates between transfers from it."),
            &RuleSpec::every),
      field(integer("crossbar.transfer_columns", "1", between(1, 1000000),
                    "Rules with a fast array: columns transferred at a time, in turn."),
            &RuleSpec::columns),
      field(real("crossbar.transfer_rate", "0.02", above(0),
                 "Rules with a fast array: share of its content that a transfer requests from the slow array, times "
                 "the learning rate of the step relative to the largest.",
                 "chosen: lowest error of a linear regression on asymmetric soft bounds among 0.02, 0.1, 0.5"),
            &RuleSpec::rate),
      field(real("crossbar.fast_gain", "1", above(0),
                 "Rules with a fast array: an update d requests fast_gain * d from it at the largest learning rate."),
            &RuleSpec::fast_gain),
      field(named("crossbar.fast_update", "pulses",
                  "Rules with a fast array: its updates. pulses: the summed change. coincidence: pulse trains of "
                  "every sample (plain SGD only)."),
            fast_updates, &RuleSpec::coincidence),
      field(integer("crossbar.zero_shift_cycles", "8", between(0, 1000),
                    "Rules that measure a fast array from its symmetry point: cycles per level in the search for this "
                    "point; 0: the point is taken as 0.",
                    "idea: Kim et al., arXiv:1907.10228"),
            &RuleSpec::zero_shift),
      field(real("crossbar.buffer_momentum", "0", from_below(0, 1),
                 "Rules with a buffer: share of the sent value that it keeps."),
            &RuleSpec::momentum),
      field(real("crossbar.chopper_probability", "0.01", above_up_to(0, 1),
                 "c_ttv2: probability that the sign of a fast column changes after its read.",
                 "default of IBM aihwkit 1.1.0 for reram, capacitor and ecram; 0.001 for its finer devices"),
            &RuleSpec::chopper),
      field(integer("crossbar.chopper_period", "100", between(1, 1000000),
                    "agad: reads of a fast column between changes of its sign.",
                    "1 over the probability of IBM aihwkit 1.1.0's presets: 0.02 reram, 0.01 capacitor, 0.005 others"),
            &RuleSpec::chopper_period),
      field(param::formerly({"crossbar.fast_share"},
                            real("crossbar.residual_share", "0.1", strictly_between(0, 1),
                                 "residual, multi_tile: weight of an array in a read, relative to the array before it.",
                                 "chosen: a prototype on digits")),
            &RuleSpec::share),
      field(integer("crossbar.residual_tiles", "3", between(2, 4), "multi_tile: number of arrays per matrix."),
            &RuleSpec::arrays),
      field(integer("crossbar.timescale", "4", between(1, 1000),
                    "multi_tile: transfers out of an array per transfer out of the next coarser one.", "chosen"),
            &RuleSpec::timescale)};
}

}  // namespace

const Section<RuleSpec>& rule_section() {
  using param::flag;
  using param::integer;
  using param::real;
  static const auto section = [] {
    Section<RuleSpec> s = {
        field(real("crossbar.threshold", "1", at_least(1),
                   "Rules with an accumulator or a buffer: number of pulses that must be due before a device gets "
                   "any. With Adam at most the change of 4 learning rates, or one pulse.",
                   "measured on reram_*: beyond it the equilibrium diverges (docs/reference/update_rules.md)"),
              &RuleSpec::threshold),
        field(flag("crossbar.read_back", "false",
                   "accumulate: read each written device and keep the error in the accumulator."),
              &RuleSpec::read_back),
        field(flag("crossbar.random_start", "false",
                   "accumulate: accumulators start at random between minus and plus the threshold instead of at 0."),
              &RuleSpec::random_start),
        field(integer("crossbar.refresh_every", "10", between(1, 1000000),
                      "one_sided: updates between searches for pairs to refresh."),
              &RuleSpec::refresh_every),
        field(real("crossbar.refresh_high", "0.75", between(0, 1),
                   "one_sided: a pair is refreshed where one device is beyond this place in the window, from where it "
                   "began ...",
                   "default of IBM aihwkit 1.1.0"),
              &RuleSpec::refresh_high),
        field(real("crossbar.refresh_low", "0.25", between(0, 1), "... and the other beyond this.",
                   "default of IBM aihwkit 1.1.0"),
              &RuleSpec::refresh_low)};
    s.add(transfer_section());
    for (const OptionField<RuleSpec>& one : std::vector(s.fields())) {
      s.where(chosen("crossbar.update", rules_reading(one.member)), {one.member});
    }
    return s;
  }();
  return section;
}

}  // namespace nudge
