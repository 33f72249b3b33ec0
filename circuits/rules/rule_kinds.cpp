// SPDX-License-Identifier: Apache-2.0
#include "circuits/rules/rule_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "circuits/rules/symmetry_point.hpp"
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
        fmt::format("crossbar.update = {} (must be another rule for device.model = {}): its fast array has to relax to "
                    "a symmetry point between up and down pulses, which devices have not whose steps do not change "
                    "along the window; accumulate, c_ttv2 and "
                    "agad need none",
                    kind->name, spec.device.model));
  }
  const bool pairs = spec.mapping.kind == MappingKind::one_sided;
  if (kind != nullptr && kind->one_sided && !pairs) {
    throw UserError(fmt::format(
        "crossbar.update = {} (must be another rule unless crossbar.mapping = one_sided): weights rise by up pulses of "
        "one device and fall by those of the other, from the bottom of the window on",
        kind->name));
  }
  const bool raises = kind != nullptr && kind->one_sided;
  const UpdateScheme update = spec.programming.update;
  if (!pairs || raises || update == UpdateScheme::write_verify || update == UpdateScheme::none) return;
  throw UserError(
      "crossbar.mapping = one_sided (must be differential unless crossbar.update = one_sided, write_verify or none): "
      "other updates lower one device of a pair while they raise the other, and it stands at the bottom");
}

std::vector<std::string> rules_reading(const Member<RuleSpec>& option) {
  std::vector<std::string> names;
  for (const RuleKind& kind : rule_kinds()) {
    const auto reads = [&](const Member<RuleSpec>& own) { return own.holds(option); };
    if (std::any_of(kind.options.begin(), kind.options.end(), reads)) names.push_back(kind.name);
  }
  return names;
}

}  // namespace nudge
