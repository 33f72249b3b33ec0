// SPDX-License-Identifier: Apache-2.0
// Tiki-Taka with a digital buffer (TTv2: Gokmen, Front. Artif. Intell. 4:699148 (2021), doi:10.3389/frai.2021.699148): what is
// transferred gathers in a number per weight, H += λ s (A − A₀), and C gets whole pulses when they are due.
#include "circuits/rules/column_transfer.hpp"

namespace nudge {

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

}  // namespace nudge
