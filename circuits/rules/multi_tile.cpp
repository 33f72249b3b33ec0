// SPDX-License-Identifier: Apache-2.0
// Residual learning on several arrays (Li et al., arXiv:2510.02516): W = Σ γ^k W_k, each array with a timescale of its own. Where
// devices have few states, array k adds digits of size γ^k to the weight.
#include <cmath>

#include "circuits/rules/column_transfer.hpp"

namespace nudge {

RuleKind multi_tile_rule() {
  RuleKind kind = residual_rule();
  kind.update = UpdateScheme::multi_tile;
  kind.name = "multi_tile";
  kind.summary =
      "crossbar.residual_tiles arrays that are read together, the k-th with share^k and a timescale of its own";
  kind.source = "Li et al., arXiv:2510.02516";
  kind.options.insert(kind.options.end(), {&RuleSpec::arrays, &RuleSpec::timescale});
  kind.arrays = [](const RuleSpec& spec) { return spec.arrays; };
  kind.numbers = [](const RuleSpec& spec) { return (spec.arrays - 1) * (spec.zero_shift > 0 ? 2.0 : 1.0); };
  kind.share = [](const RuleSpec& spec, int array) { return std::pow(spec.share, array); };
  return kind;
}

}  // namespace nudge
