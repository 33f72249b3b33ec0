// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "circuits/circuit_spec.hpp"
#include "circuits/crossbar/periphery_spec.hpp"
#include "circuits/programming/programming_spec.hpp"
#include "circuits/rules/rule_spec.hpp"
#include "circuits/wires/tiled_array.hpp"
#include "devices/device_spec.hpp"
#include "sim/base/matrix.hpp"
#include "sim/config/section.hpp"

namespace nudge {

/// Way of holding one weight by devices.
enum class MappingKind {
  differential,      ///< w = (G⁺ − G⁻)/k: two devices per weight
  reference_column,  ///< w = (G − G_ref)/k: one device per weight, one reference device per row
  offset,            ///< w = (G − G_middle)/k: one device per weight, the middle taken off digitally
  one_sided,   ///< w = (G⁺ − G⁻)/k: two devices per weight that start at the bottom of the window and only go up
  reset_only,  ///< w = (G⁺ − G⁻)/k: two devices per weight that start at the top of the window and only go down
  single,      ///< w = G/k: the conductance itself; of networks whose weights are conductances, w ≥ g_min/k > 0
};

/// True of pairs whose devices move one way only while they learn: crossbar.update = one_sided.
constexpr bool moves_one_way(MappingKind kind) {
  return kind == MappingKind::one_sided || kind == MappingKind::reset_only;
}

/// Treatment of the scale between weights and conductances by program().
enum class ScalePolicy {
  keep,    ///< the scale of construction stays: weights beyond w_max are clipped by the devices
  renew,   ///< every programming chooses w_max = headroom · max|W| anew
  column,  ///< every column has a digital factor of its own (ColumnScaledMap), chosen at construction and kept
};

/// Scale by which weights become conductances.
struct MappingSpec {
  double headroom = 2;  ///< w_max over the largest |weight| at construction: room to learn; ≥ 1
  double w_max = 0;     ///< largest weight the window can hold; 0: headroom · max|W| (1 when all weights are 0)
  ScalePolicy scale = ScalePolicy::keep;
  MappingKind kind = MappingKind::differential;

  /// Throws UserError naming the field, its value and the rule.
  void validate() const;
};

/// Stuck devices of one array, with their measured conductances: they stay there for good, whatever is written.
struct StuckMap {
  std::vector<std::string> files = {};  ///< files for all arrays, as device.stuck_map names them
  /// Conductances of stuck devices in the two arrays of a crossbar (Mapping): siemens, NaN where a device is free; null: all are free.
  std::shared_ptr<const Matrix<double>> first_S = nullptr, second_S = nullptr;
};

/// Memory of this machine; 0 when the system does not tell.
double physical_memory_bytes();

/// Bytes that a crossbar of rows x cols weights keeps: conductance, two bounds and two pulse sizes of every device, and the
/// effective weights. Programming takes as much again as a part of these.
double array_memory_bytes(Index rows, Index cols, MappingKind kind, std::size_t scalar_bytes);

/// Throws UserError if `copies` arrays exceed `available` bytes (0: unknown, no check).
void check_array_memory(Index rows, Index cols, MappingKind kind, std::size_t scalar_bytes, double available,
                        Index copies = 1);

/// Spec of one crossbar: the devices, how weights become conductances, the wires between them, and the circuits at its edges.
struct CrossbarSpec {
  DeviceSpec device;
  MappingSpec mapping = {};
  WireSpec wires = {};                   ///< wires of both arrays of the pair; all zero: ideal
  TileSpec tiles = {};                   ///< size at which large arrays are cut
  WriteBias bias = WriteBias::isolated;  ///< write scheme; crossbar_spec() passes it to the device, with the tiles
  PeripherySpec periphery = {};
  ProgrammingSpec programming = {};
  RuleSpec rule = {};  ///< options of the rules that programming.update names
  CircuitSpec circuit = {};
  TokenSpec tokens = {};  ///< tokens: make_linear_map then makes more of one matrix
  StuckMap stuck = {};    ///< measured conductances of stuck devices
  int threads = 1;        ///< threads for programming and updates; reads belong to the thread that calls them

  /// Throws UserError naming the field, its value and the rule.
  void validate() const;
};

/// The sections [crossbar], how devices become weights, and [circuit].
const Section<CrossbarSpec>& crossbar_section();

/// The crossbar of a configuration over a table that holds device_param_rows() and crossbar_section().
CrossbarSpec crossbar_spec(const Config& config);

}  // namespace nudge
