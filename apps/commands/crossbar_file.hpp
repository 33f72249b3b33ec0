// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/commands/array_facts.hpp"
#include "circuits/wires/device_read.hpp"
#include "sim/io/h5_document.hpp"

namespace nudge {

/// What the devices of an array see of a read with all rows at the read voltage.
struct ArrayRead {
  std::string name;
  DeviceRead positive;
  DeviceRead negative;  ///< the second array of pairs, or the reference column; of no size where there is none
};

/// Solves one read of both arrays, tile by tile.
ArrayRead array_read(const std::string& name, const Crossbar<double>& array, const CrossbarSpec& spec);

/// The groups of a file of kind crossbar (docs/file_format.md): `arrays`, a row per array; `ir_drop/<array>`, maps; and
/// `current/<array>`, over the columns.
void write_crossbar(H5Document& file, const std::vector<ArrayFacts>& facts, const std::vector<ArrayRead>& reads);

}  // namespace nudge
