// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nudge {

/// How one weight is held.
enum class MappingKind {
  differential,      ///< w = (G⁺ − G⁻)/k: two devices per weight
  reference_column,  ///< w = (G − G_ref)/k: one device per weight, one reference device per row
  offset,            ///< w = (G − G_middle)/k: one device per weight, the middle taken off digitally
  one_sided,  ///< w = (G⁺ − G⁻)/k: two devices per weight that start at the bottom of the window and only go up
  single,     ///< w = G/k: the conductance itself; of networks whose weights are conductances, w ≥ g_min/k > 0
};

/// What program() does with the scale between weights and conductances.
enum class ScalePolicy {
  keep,   ///< the scale of construction stays: weights beyond w_max are clipped by the devices
  renew,  ///< every programming chooses w_max = headroom · max|W| anew
};

/// How weights become conductances.
struct MappingSpec {
  double headroom = 2;  ///< w_max over the largest |weight| at construction: room to learn; ≥ 1
  double w_max = 0;     ///< largest weight the window can hold; 0: headroom · max|W| (1 when all weights are 0)
  ScalePolicy scale = ScalePolicy::keep;
  MappingKind kind = MappingKind::differential;

  /// Throws UserError naming the field, its value and the rule.
  void validate() const;
};

}  // namespace nudge
