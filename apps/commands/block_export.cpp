// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/block_export.hpp"

#include <fmt/format.h>

#include <span>

#include "apps/streams.hpp"
#include "circuits/crossbar/crossbar_config.hpp"
#include "circuits/spice/block_netlist.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "sim/io/atomic_file.hpp"
#include "training/config/setup.hpp"
#include "training/data/characters.hpp"
#include "training/models/block/block_config.hpp"
#include "training/models/resistive/resistive_export.hpp"
#include "training/models/transformer/transformer_netlist.hpp"

namespace nudge {
namespace {

/// Terms of all behavioural sources (chosen: a netlist of a few megabytes; ngspice is for small blocks).
constexpr double most_terms = 5e4;

void check(const Config& config, const ModelShape& shape) {
  if (!shape.mixer.is_fused() || shape.memory_arrays != 1) {
    throw UserError(
        "crossbar: --block exports the fused attention and a memory on one array (leave model.mixer and "
        "model.memory_arrays at their defaults)");
  }
  const Index columns = (shape.coupling ? 5 : 4) * shape.channels + shape.memories;
  const double terms = static_cast<double>(shape.tokens * shape.channels * columns);
  if (terms <= most_terms) return;
  throw UserError(
      fmt::format("crossbar: --block: {:g} source terms, T C (4 C + M), 5 C with a coupling (must be <= {:g}): make "
                  "model.tokens = {}, "
                  "model.channels = {} and model.memories = {} smaller",
                  terms, most_terms, config.as_text("model.tokens"), config.as_text("model.channels"),
                  config.as_text("model.memories")));
}

void export_transformer(const Config& config, const TextDataset& data, const std::filesystem::path& path) {
  const auto plan = network_plan(config, character_sizes(config, data.vocabulary_size()));
  if (netlist_terms(*plan) > most_terms) {
    throw UserError(fmt::format(
        "crossbar: --block: {:g} source terms (must be <= {:g}): make model.tokens, model.channels, model.memories, "
        "transformer.layers or transformer.loops smaller",
        netlist_terms(*plan), most_terms));
  }
  if (!crossbar_spec(config).device.curve.linear()) {
    throw UserError("crossbar: --block: of a transformer only linear devices are exported (device.iv_sinh = 0)");
  }
  const auto network = make_network<double>(config, plan, Weights::configured);
  const CircuitSpec circuit = crossbar_spec(config).circuit;
  TransformerNetlist spec;
  spec.input.resize(network->rows(), network->circuit().inputs());
  network->embed(data.training().first(static_cast<std::size_t>(network->rows())), spec.input);
  spec.start.resize(network->rows(), network->cols());
  network->start(spec.input, spec.start);
  spec.time_constant_s = circuit.time_constant_s;
  spec.capacitance_F = circuit.node_capacitance_F;
  spec.stop_s = (20 + 4.0 * static_cast<double>(network->circuit().nodes().size())) * circuit.time_constant_s;
  spec.print_step_s = 0.01 * circuit.time_constant_s;
  const std::string text = transformer_netlist(*network, spec, path.filename().string() + ".data");
  write_atomically(path, std::as_bytes(std::span(text)), Overwrite::must_not_exist);
}

void export_network_of_resistors(const Config& config, const std::filesystem::path& path) {
  const auto task = make_task(config);
  const auto plan = network_plan(config, task->sizes());
  double resistors = 0;
  for (const Parameter& p : plan->parameters()) {
    if (p.conductance) resistors += static_cast<double>(p.shape.rows * p.shape.cols);
  }
  if (resistors > most_terms) {
    throw UserError(
        fmt::format("crossbar: --block: {:g} resistors (must be <= {:g}): make resistive.hidden = {} smaller",
                    resistors, most_terms, config.as_text("resistive.hidden")));
  }
  const auto network = make_network<double>(config, plan, Weights::configured);
  const Matrix<double> features = task->training(0).features.row(0).cast<double>();
  const ResistiveExport exported =
      export_resistive(*network, crossbar_spec(config).circuit, features, path.filename().string() + ".data");
  write_atomically(path, std::as_bytes(std::span(exported.netlist)), Overwrite::must_not_exist);
  say("{:g} resistors, {} of heat; Kirchhoff's law at the settled voltages of the simulation: worst net current "
      "{:.1e} of "
      "the largest\n",
      exported.resistors, format_quantity(exported.power_W, Unit::watt, 4), exported.kirchhoff);
}

}  // namespace

void export_block(const Config& config, const std::filesystem::path& path) {
  if (config.text("network.kind") == "resistive") return export_network_of_resistors(config, path);
  const TextDataset data = load_dataset(config);
  if (config.text("network.kind") == "transformer") return export_transformer(config, data, path);
  if (config.text("network.kind") != "block") {
    throw UserError(
        fmt::format("crossbar: --block: network.kind = {} is not exported (block, transformer and resistive are)",
                    config.text("network.kind")));
  }
  const ModelShape shape = model_shape(config, data.vocabulary_size());
  check(config, shape);
  const auto network = make_network<double>(config, block_plan(config, character_sizes(config, data.vocabulary_size())),
                                            Weights::configured);
  const CircuitSpec circuit = crossbar_spec(config).circuit;
  BlockNetlist spec;
  spec.drive.resize(shape.tokens, shape.channels);
  network->embed(data.training().first(static_cast<std::size_t>(shape.tokens)), spec.drive);
  spec.start = Matrix<double>::Zero(shape.tokens, shape.channels);
  spec.time_constant_s = circuit.time_constant_s;
  spec.capacitance_F = circuit.node_capacitance_F;
  spec.curve = crossbar_spec(config).device.curve;
  spec.read_voltage_V = circuit.read_voltage_V;
  spec.stop_s = 20 * circuit.time_constant_s;
  spec.print_step_s = 0.01 * circuit.time_constant_s;
  const std::string text = block_netlist(network->circuit(), shape.heads, network->map(BlockParameter::force), spec,
                                         path.filename().string() + ".data");
  write_atomically(path, std::as_bytes(std::span(text)), Overwrite::must_not_exist);
}

}  // namespace nudge
