// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/config/config.hpp"
#include "training/sweep/sweep.hpp"

namespace nudge {

/// Range of an imperfection or a resource. A position u runs from 0, the best value, to 1, the worst.
struct SpecAxis {
  std::string name;               ///< key, or "beta (up)" of a key with a limit on both sides
  std::vector<std::string> keys;  ///< keys that have the value together; the first names it
  double best = 0, worst = 0;     ///< ends of the range, in SI units
  bool logarithmic = false;       ///< u is even in the logarithm; then a best value of 0 is followed by worst/1000
  bool whole = false;             ///< a whole number
  bool resource = false;          ///< costs energy, time or area: a design may choose it
  bool zero_is_best = false;      ///< 0 stands for "ideal"
  bool zero_is_worst = false;     ///< 0 stands for "uncut"
  Unit unit = Unit::none;
  double own = 0;  ///< value of the config

  /// Value at a position, of four digits, or whole.
  double value(double u) const;
  /// Position of a value, within [0, 1]; the ends for values beyond them.
  double position(double value) const;
  double own_position() const { return position(own); }
  /// True if the config has an ideal part in place of a value.
  bool own_is_ideal() const { return zero_is_best && own == 0; }

  std::vector<std::string> settings(double value) const;  ///< "KEY=value" of every key
  std::string text(double value) const;                   ///< value with its unit, of three digits
};

/// Axes of a config, and the keys that do not apply, with the reason.
struct SpecAxes {
  std::vector<SpecAxis> axes;
  std::vector<std::string> left_out;  ///< "KEY: why"
};

/// Axes of spec.keys, or of all known keys that apply: the config can have the worst value, and a training reads the
/// key. A worst value that breaks a rule of the config is moved towards the best one where the range is a default.
/// UserError, naming the key: spec.keys names a key without a range, or one that does not apply; spec.range is no range
/// of numbers.
SpecAxes spec_axes(const ConfigSource& source);

}  // namespace nudge
