// SPDX-License-Identifier: Apache-2.0
// Residual learning (Wu et al., NeurIPS 2025: training on analog hardware as a bilevel problem): TTv2 whose fast array counts,
// W = C + γ (P − P₀): it learns what C leaves undone while C learns what it holds.
#include "circuits/rules/column_transfer.hpp"

namespace nudge {

RuleKind residual_rule() {
  RuleKind kind = ttv2_rule();
  kind.update = UpdateScheme::residual;
  kind.name = "residual";
  kind.summary =
      "two arrays that are read together, the second with crossbar.residual_share: it learns what the first leaves";
  kind.source = "residual learning (NeurIPS 2025); buffered as ttv2";
  kind.options.emplace_back(&RuleSpec::share);
  kind.share = [](const RuleSpec& spec, int) { return spec.share; };
  return kind;
}

}  // namespace nudge
