// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "circuits/crossbar/crossbar.hpp"
#include "sim/base/member.hpp"

namespace nudge {

/// Arrays that hold one matrix for a rule to write, W = C + Σ share_k (A_k − zero_k). Learning ends up in the first, C; the
/// last takes the changes that training asks for. A single array is both.
template <class S>
struct RuleArrays {
  std::vector<std::unique_ptr<Crossbar<S>>> all;
  std::vector<S> share;         ///< weight of each array in reads; 1 for the first
  std::vector<Matrix<S>> zero;  ///< weights of each array at rest, as the digital side knows them; empty: 0
  std::uint64_t seed = 0;

  Crossbar<S>& slow() { return *all.front(); }
  Crossbar<S>& fast() { return *all.back(); }
  bool alone() const { return all.size() == 1; }
};

/// Rule by which the changes that training asks for reach the arrays of a matrix. One object per matrix, which keeps gathered
/// changes. Every change of a device goes through the arrays, which count pulses, reads and wear.
template <class S>
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  /// Begins after the arrays have been programmed: C to the weights, the others to 0.
  virtual void begin(RuleArrays<S>& arrays) = 0;

  /// Takes the change of one step of training.
  virtual void learn(const WeightUpdate<S>& update, RuleArrays<S>& arrays) = 0;

  /// Gathered changes, for checkpoints; after writing into them call restored().
  virtual std::vector<StateArray<S>> state() = 0;
  virtual void restored(const RuleArrays<S>& /*arrays*/) {}

  /// Readings of the rule's own costs.
  virtual std::vector<MapReading> readings() const { return {}; }
};

/// Registered rule: a value of crossbar.update, the options it reads, and how it is made.
struct RuleKind {
  UpdateScheme update;
  std::string name;
  std::string summary;
  std::string source;
  std::vector<Member<RuleSpec>> options;  ///< options of RuleSpec that it reads
  std::unique_ptr<UpdateRule<float>> (*make_float)(const CrossbarSpec& spec);
  std::unique_ptr<UpdateRule<double>> (*make_double)(const CrossbarSpec& spec);
  /// Number of arrays that hold a matrix.
  int (*arrays)(const RuleSpec& spec);
  /// Number of values that the digital side keeps per weight, beside the optimizer's own.
  double (*numbers)(const RuleSpec& spec);
  /// Weight of array k > 0 in reads; null: only the first array is read.
  double (*share)(const RuleSpec& spec, int array) = nullptr;
  /// True if the rule needs devices that alternating pulses leave at a symmetry point.
  bool symmetric = false;
  /// True if the rule sends up pulses alone, to either device of a pair that starts at the lower bound.
  bool one_sided = false;
};

/// All rules.
const std::vector<RuleKind>& rule_kinds();

/// Rule of a scheme or of a name; null: the scheme is the array's own (pulses, write_verify, coincidence, none).
const RuleKind* find_rule(UpdateScheme update);
const RuleKind* find_rule(const std::string& name);

/// Number of arrays that hold a matrix: 1, or more with some rules.
int arrays_per_matrix(const CrossbarSpec& spec);

/// Throws UserError if the devices lack what the rule needs.
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

/// Makes a rule from a spec, for make_float and make_double of rules that need only the spec.
template <class S, template <class> class Rule>
std::unique_ptr<UpdateRule<S>> make_rule(const CrossbarSpec& spec) {
  return std::make_unique<Rule<S>>(spec);
}

}  // namespace nudge
