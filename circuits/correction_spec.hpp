// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/crossbar/converter.hpp"

namespace nudge {

/// Imperfections of the path that carries J v and Jᵀ v of the non-conservative terms in the nudged phase. All zero: ideal.
struct CorrectionSpec {
  double gain_error = 0;   ///< γ, common to all nodes and to both directions of the read
  double gain_spread = 0;  ///< standard deviation of the static gain error of each node
  double offset = 0;       ///< standard deviation of the static offset of each node, in units of the force
  double noise = 0;        ///< fresh noise per √τ, of the rms of what the path carries in one read
  double delay = 0;        ///< in τ; rounded to whole steps of the relaxation
  ConverterSpec converter = {};

  bool ideal() const {
    return gain_error == 0 && gain_spread == 0 && offset == 0 && noise == 0 && delay == 0 && converter.ideal();
  }
  /// Throws UserError naming the key, its value and the rule.
  void validate() const;
};

}  // namespace nudge
