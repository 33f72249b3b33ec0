// SPDX-License-Identifier: Apache-2.0
#include "circuits/rules/rule_spec.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

void expect_rule(bool holds, const char* key, double value, const char* rule) {
  if (!holds) throw UserError(fmt::format("crossbar.{} = {:g} (must be {})", key, value, rule));
}

}  // namespace

void RuleSpec::validate() const {
  expect_rule(threshold >= 1 && std::isfinite(threshold), "threshold", threshold,
              ">= 1 and finite: no device takes less than a pulse");
  expect_rule(every >= 1, "transfer_every", every, ">= 1 updates");
  expect_rule(columns >= 1, "transfer_columns", columns, ">= 1");
  expect_rule(rate > 0 && std::isfinite(rate), "transfer_rate", rate, "> 0 and finite");
  expect_rule(fast_gain > 0 && std::isfinite(fast_gain), "fast_gain", fast_gain, "> 0 and finite");
  expect_rule(zero_shift >= 0, "zero_shift_cycles", zero_shift, ">= 0");
  expect_rule(momentum >= 0 && momentum < 1, "buffer_momentum", momentum, "in [0, 1)");
  expect_rule(chopper > 0 && chopper <= 1, "chopper_probability", chopper, "> 0 and at most 1");
  expect_rule(chopper_period >= 1, "chopper_period", chopper_period, ">= 1 reads");
  expect_rule(share > 0 && share < 1, "residual_share", share, "> 0 and < 1");
  expect_rule(arrays >= 2 && arrays <= 4, "residual_tiles", arrays, "in [2, 4]");
  expect_rule(timescale >= 1, "timescale", timescale, ">= 1");
  expect_rule(refresh_high < 1 && refresh_low < refresh_high, "refresh_high", refresh_high,
              "< 1 and above crossbar.refresh_low");
  expect_rule(refresh_low > 0, "refresh_low", refresh_low, "> 0");
  expect_rule(refresh_every >= 1, "refresh_every", refresh_every, ">= 1 updates");
}

}  // namespace nudge
