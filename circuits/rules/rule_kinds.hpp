// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "circuits/rules/update_rule.hpp"
#include "sim/base/member.hpp"

namespace nudge {

/// A registered rule: a value of crossbar.update, what it reads, and how it is made.
struct RuleKind {
  UpdateScheme update;
  std::string name;
  std::string summary;
  std::string source;
  std::vector<Member<RuleSpec>> options;  ///< what it reads of RuleSpec
  std::unique_ptr<UpdateRule<float>> (*make_float)(const CrossbarSpec& spec);
  std::unique_ptr<UpdateRule<double>> (*make_double)(const CrossbarSpec& spec);
  /// Arrays that hold a matrix.
  int (*arrays)(const RuleSpec& spec);
  /// Numbers that the digital side keeps per weight, beside those of the optimizer.
  double (*numbers)(const RuleSpec& spec);
  /// Weight of array k > 0 in what is read; null: only the first is.
  double (*share)(const RuleSpec& spec, int array) = nullptr;
  /// Whether it lives on devices that alternating pulses leave at a symmetry point.
  bool symmetric = false;
  /// Whether it sends up pulses alone, to either device of a pair that starts at the lower bound.
  bool one_sided = false;
};

/// All rules, one file each.
const std::vector<RuleKind>& rule_kinds();

/// Null: the scheme is the array's own (pulses, write_verify, coincidence, none).
const RuleKind* find_rule(UpdateScheme update);
const RuleKind* find_rule(const std::string& name);

/// Arrays that hold a matrix: 1 but for rules that have more.
int arrays_per_matrix(const CrossbarSpec& spec);

/// Throws UserError where the devices have not what the rule needs.
void check_rule(const CrossbarSpec& spec);

/// Names of the rules that read an option.
std::vector<std::string> rules_reading(const Member<RuleSpec>& option);

/// One function per rule: its entry of the list.
RuleKind accumulate_rule();
RuleKind tiki_taka_rule();
RuleKind ttv2_rule();
RuleKind c_ttv2_rule();
RuleKind agad_rule();
RuleKind residual_rule();
RuleKind multi_tile_rule();
RuleKind one_sided_rule();

/// make_float and make_double of a rule that is made of a spec.
template <class S, template <class> class Rule>
std::unique_ptr<UpdateRule<S>> make_rule(const CrossbarSpec& spec) {
  return std::make_unique<Rule<S>>(spec);
}

}  // namespace nudge
