// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/circuit_spec.hpp"
#include "circuits/crossbar/mapping_spec.hpp"
#include "circuits/crossbar/periphery_spec.hpp"
#include "circuits/crossbar/stuck_map.hpp"
#include "circuits/programming/programming_spec.hpp"
#include "circuits/rules/rule_spec.hpp"
#include "circuits/token_spec.hpp"
#include "circuits/wires/tiled_array.hpp"
#include "devices/device_spec.hpp"

namespace nudge {

/// One crossbar: the devices, how weights become conductances, the wires between them, and the circuits at its edges.
struct CrossbarSpec {
  DeviceSpec device;
  MappingSpec mapping = {};
  WireSpec wires = {};                   ///< of both arrays of the pair; all zero: ideal
  TileSpec tiles = {};                   ///< how large arrays are cut
  WriteBias bias = WriteBias::isolated;  ///< crossbar_spec() tells it, with the tiles, to the device
  PeripherySpec periphery = {};
  ProgrammingSpec programming = {};
  RuleSpec rule = {};  ///< of rules that programming.update names
  CircuitSpec circuit = {};
  TokenSpec tokens = {};  ///< what make_linear_map makes of one matrix
  StuckMap stuck = {};    ///< what a measurement says of single devices
  int threads = 1;        ///< for programming and updates; reads belong to the thread that calls them

  /// Throws UserError naming the field, its value and the rule.
  void validate() const;
};

}  // namespace nudge
