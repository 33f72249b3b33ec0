// SPDX-License-Identifier: Apache-2.0
#include "circuits/rules/rule_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "circuits/rules/column_transfer.hpp"
#include "circuits/rules/rule_spec.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

const std::vector<RuleKind>& rule_kinds() {
  static const std::vector<RuleKind> all = {accumulate_rule(), tiki_taka_rule(), ttv2_rule(),       c_ttv2_rule(),
                                            agad_rule(),       residual_rule(),  multi_tile_rule(), one_sided_rule()};
  return all;
}

const RuleKind* find_rule(UpdateScheme update) {
  for (const RuleKind& kind : rule_kinds()) {
    if (kind.update == update) return &kind;
  }
  return nullptr;
}

const RuleKind* find_rule(const std::string& name) {
  for (const RuleKind& kind : rule_kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

int arrays_per_matrix(const CrossbarSpec& spec) {
  const RuleKind* kind = find_rule(spec.programming.update);
  return kind == nullptr ? 1 : kind->arrays(spec.rule);
}

void check_rule(const CrossbarSpec& spec) {
  const RuleKind* kind = find_rule(spec.programming.update);
  if (kind != nullptr && kind->symmetric && !has_symmetry_point(spec.device)) {
    throw UserError(
        fmt::format("crossbar.update = {} (must be another rule for device.model = {}): its fast array relaxes to a "
                    "symmetry point between up and down pulses. Devices with constant steps along the window have "
                    "no such point. Use accumulate, c_ttv2 or agad",
                    kind->name, spec.device.model));
  }
  const bool pairs = moves_one_way(spec.mapping.kind);
  if (kind != nullptr && kind->one_sided && !pairs) {
    throw UserError(fmt::format(
        "crossbar.update = {} (must be another rule unless crossbar.mapping = one_sided or reset_only): its "
        "pulses go one way. They raise weights in one device of a pair and lower them in the other",
        kind->name));
  }
  const bool raises = kind != nullptr && kind->one_sided;
  const UpdateScheme update = spec.programming.update;
  if (!pairs || raises || update == UpdateScheme::write_verify || update == UpdateScheme::none) return;
  const bool up = spec.mapping.kind == MappingKind::one_sided;
  throw UserError(
      fmt::format("crossbar.mapping = {} (must be differential unless crossbar.update = one_sided, write_verify or "
                  "none): other updates {} one device of a pair, which is already at the {} of the window",
                  up ? "one_sided" : "reset_only", up ? "lower" : "raise", up ? "bottom" : "top"));
}

std::vector<std::string> rules_reading(const Member<RuleSpec>& option) {
  std::vector<std::string> names;
  for (const RuleKind& kind : rule_kinds()) {
    const auto reads = [&](const Member<RuleSpec>& own) { return own.holds(option); };
    if (std::any_of(kind.options.begin(), kind.options.end(), reads)) names.push_back(kind.name);
  }
  return names;
}

namespace {

void expect_rule(bool holds, const char* key, double value, const char* rule) {
  if (!holds) throw UserError(fmt::format("crossbar.{} = {:g} (must be {})", key, value, rule));
}

}  // namespace

void RuleSpec::validate() const {
  expect_rule(threshold >= 1 && std::isfinite(threshold), "threshold", threshold,
              ">= 1 and finite: the smallest change of a device is one pulse");
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
