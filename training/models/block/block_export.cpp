// SPDX-License-Identifier: Apache-2.0
#include "training/models/block/block_export.hpp"

#include "circuits/spice/block_netlist.hpp"
#include "sim/base/errors.hpp"
#include "training/models/block/block_plan.hpp"

namespace nudge {
namespace {

double terms(const NetworkPlan& plan) {
  const ModelShape& shape = dynamic_cast<const BlockPlan&>(plan).shape();
  if (shape.attention.analog && (shape.attention.gain_spread > 0 || shape.attention.offset_spread > 0)) {
    throw UserError("attention.*: the multipliers that are exported are all alike (set them to 0)");
  }
  if (!shape.mixer.is_fused() || shape.memory_arrays != 1) {
    throw UserError(
        "crossbar: --block exports the fused attention and a memory on one array (leave model.mixer and "
        "model.memory_arrays at their defaults)");
  }
  const Index columns = (shape.coupling ? 5 : 4) * shape.channels + shape.memories;
  return static_cast<double>(shape.tokens * shape.channels * columns);
}

ExportedNetwork write(const Network<double>& network, const NetlistOptions& options) {
  BlockNetlist spec;
  spec.drive = options.clamp;
  spec.start = Matrix<double>::Zero(options.clamp.rows(), network.cols());
  spec.time_constant_s = options.circuit.time_constant_s;
  spec.capacitance_F = options.circuit.node_capacitance_F;
  spec.curve = options.curve;
  spec.read_voltage_V = options.circuit.read_voltage_V;
  spec.stop_s = 20 * options.circuit.time_constant_s;
  spec.print_step_s = 0.01 * options.circuit.time_constant_s;
  const Index heads = dynamic_cast<const BlockPlan&>(network.plan()).shape().heads;
  return {block_netlist(network.circuit(), heads, network.map(BlockParameter::output), spec, options.data_file), {}};
}

}  // namespace

NetlistExport block_export() { return {terms, {"model.tokens", "model.channels", "model.memories"}, write}; }

}  // namespace nudge
