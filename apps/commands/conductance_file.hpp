// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "devices/fit/long_table.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Numbers of one array, and what was read in their file.
struct ArrayFile {
  std::string name;       ///< start of messages
  Matrix<double> values;  ///< conductances in siemens, or weights
  TableLook look;
};

/// Reads a matrix, or a table with the columns row, column and a conductance (find_columns()). `unit` is that of a matrix; empty: the one in
/// the file (in a name, a line of units, or a title as "R (kOhm)"), else uS. A unit of resistance makes conductances of resistances. A column or
/// row that counts is left aside where names tell that it does. `columns` is a choice of find_columns().
///
/// UserError for units that contradict, places that are missing or occur twice, conductances below 0 or above 0.1 S, and matrices
/// below 1 nS whose unit nobody told: they are siemens. UserError for what is no device (a sum, a second array) too.
ArrayFile read_conductances(const std::string& path, const std::string& unit, const std::string& columns);

/// Reads weights in the same way: of either sign, without a unit, in a table in the column weight.
ArrayFile read_weights(const std::string& path, const std::string& columns);

}  // namespace nudge
