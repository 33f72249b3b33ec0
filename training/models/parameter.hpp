// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/base/matrix.hpp"
#include "training/learning/gradient.hpp"

namespace nudge {

/// A parameter of a network as a whole: its name in files, its shape, whether devices may hold it, and whether weight decay
/// acts on it.
struct Parameter {
  std::string name;
  ParameterShape shape;
  bool on_devices = false;
  bool decays = true;
  /// Conductances: never below 0, and each is one device of its own (MappingKind::single), all on one scale.
  bool conductance = false;
  /// A table: a read chooses rows of it, by a drive of 1 on one line.
  bool table = false;
  double products = 1;      ///< that its correlation adds up for one sample: the positions of a kernel
  double leak = 0;          ///< share of it that is lost in every step that is accepted: charge that leaks off a gate
  double leak_periods = 0;  ///< the same by the phases in which it falls by e; 0: by its share alone
};

/// A table of (rows, cols) numbers or devices: of symbols, of positions. Weight decay leaves it alone.
inline Parameter table_parameter(const char* name, ParameterShape shape, bool on_devices) {
  return {name, shape, on_devices, false, false, true};
}

/// A named part of a parameter, the unit of gradient tables: W_q is columns [0, C) of the input array of the block.
struct ParameterGroup {
  std::string name;
  int parameter;
  Columns columns;
  bool readout = false;  ///< outside the equilibrium: learns directly whatever the estimator
};

}  // namespace nudge
