// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "sim/config/config.hpp"
#include "sim/read_class.hpp"

namespace nudge {

/// How the reads of one class are made.
struct ReadRule {
  int reads = 1;  ///< 1: one read with its noise; n > 1: the mean of n of them; 0: ideal, without fresh noise
  bool ideal() const { return reads == 0; }
  bool operator==(const ReadRule&) const = default;
};

/// One rule per class of reads, and how long a read takes that belongs to no relaxation. The default is physical: every read
/// has its noise once. An ideal read is a statement about the model, not about the circuit: it is made, and counted in
/// time and energy, like a noisy one; only loss and monitor are then the experimenter's and cost nothing.
struct ReadPolicy {
  std::array<ReadRule, read_classes> rules = {};
  bool chopped = false;  ///< correlation reads are half the difference of a read and one of the opposite drive
  double time = 1;       ///< of one stored, anchor, correlation, loss or monitor read, in units of τ

  const ReadRule& of(ReadClass kind) const { return rules[static_cast<std::size_t>(kind)]; }
  ReadRule& of(ReadClass kind) { return rules[static_cast<std::size_t>(kind)]; }
  /// Without fresh noise in any class: references and exact numbers.
  static ReadPolicy all_ideal();
};

/// "free", "nudged", ...: the names of the classes, in their order; the keys of the section [reads].
const std::array<const char*, read_classes>& read_class_names();

/// "noisy", "ideal" or "mean N" (2 ≤ N ≤ 4096); the problem, naming the rule, or an empty text.
std::string parse_read_rule(const std::string& text, ReadRule& rule);

/// The section [reads], and its row of one class.
ParamTable read_policy_rows();
ParamRow read_policy_row(ReadClass kind);

/// Of a configuration whose rules hold.
ReadPolicy read_policy(const Config& config);

}  // namespace nudge
