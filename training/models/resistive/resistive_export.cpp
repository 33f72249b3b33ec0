// SPDX-License-Identifier: Apache-2.0
#include "training/models/resistive/resistive_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "circuits/energy.hpp"
#include "circuits/spice/exports.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "sim/settle.hpp"

namespace nudge {
namespace {

constexpr int kSweeps = 100000;
constexpr double kOnRatio = 1e12;  ///< on_ratio of ideal diodes in the netlist
/// Residual that counts as settled: rounding of sums of some hundred products, relative to the state.
constexpr double kSettled = 1e-13;

const ResistivePlan& resistive_of(const NetworkPlan& plan) {
  const auto* found = dynamic_cast<const ResistivePlan*>(&plan);
  if (found == nullptr) throw UserError(fmt::format("network.kind = {} is not a resistive network", plan.kind()));
  return *found;
}

/// Computes the settled state u (1, cols) of one sample.
Matrix<double> settled(const Network<double>& network, ConstMatrixRef<double> features) {
  CircuitDynamics<double> dynamics(network.circuit(), 1, 1);
  dynamics.bind(features, ReadContext{});
  Matrix<double> u = Matrix<double>::Zero(1, network.cols());
  SettleOptions options;
  options.solver = SettleSolver::coordinate;
  options.max_steps = kSweeps;
  options.tolerance = kSettled * network.circuit().largest_load();
  SettleWorkspace<double> scratch;
  settle<double>(dynamics, u, options, scratch);
  return u;
}

}  // namespace

ResistiveNetwork resistive_circuit(const Network<double>& network, const CircuitSpec& circuit) {
  const ResistivePlan& plan = resistive_of(network.plan());
  const ResistiveShape& shape = plan.shape();
  const auto siemens = [&](int parameter) -> Matrix<double> {
    const LinearMap<double>& map = network.map(parameter);
    return conductance_unit_S(map, circuit) * map.weights().cwiseMax(0.0);
  };
  std::vector<ResistiveLayer> layers;
  for (int l = 1; l <= shape.layers(); ++l) {
    ResistiveLayer layer{siemens(plan.link(l)), {}};
    if (shape.bias == ResistiveBias::rails) layer.bias = siemens(plan.bias(l));
    if (shape.bias == ResistiveBias::current) {
      // In units of the conductances of its layer, whose arrays share one scale.
      const Matrix<double>& g = network.map(plan.link(l)).weights();
      const double unit = g.maxCoeff() > 0 ? layer.conductance.maxCoeff() / g.maxCoeff() : clamp_conductance_S(circuit);
      layer.bias = (unit * circuit.read_voltage_V / plan.amplification(l)) * network.map(plan.bias(l)).weights();
    }
    layers.push_back(std::move(layer));
  }
  return ResistiveNetwork(std::move(layers), shape.gains, shape.bias, shape.rail * circuit.read_voltage_V);
}

ResistiveExport export_resistive(const Network<double>& network, const CircuitSpec& circuit,
                                 ConstMatrixRef<double> features, const std::string& data_file) {
  const ResistivePlan& plan = resistive_of(network.plan());
  const ResistiveShape& shape = plan.shape();
  if (!shape.diodes)
    throw UserError("resistive.diode = none cannot be exported: the netlist has a diode at every hidden node");
  const ResistiveNetwork net = resistive_circuit(network, circuit);
  const Matrix<double> volts = circuit.read_voltage_V * Matrix<double>(features);
  const Matrix<double> sources = shape.doubled ? doubled_input(volts) : volts;
  Matrix<double> v = circuit.read_voltage_V * settled(network, features);
  for (int l = 1; l <= shape.layers(); ++l) {
    v.middleCols(plan.columns(l).begin, plan.columns(l).count) /= plan.amplification(l);
  }
  ResistiveExport out;
  out.netlist = resistive_netlist(net, sources, {}, data_file, kOnRatio, shape.shockley);
  Matrix<double> current = resistive_currents(net, sources, v);
  for (Index l = 1; shape.shockley && l < net.depth(); ++l) {
    const auto [begin, count] = net.columns(l);
    for (Index j = 0; j < count; ++j) {
      current(0, begin + j) += shape.shockley->current_A(v(0, begin + j), j < net.nodes_above_zero(l) ? 1 : -1);
    }
  }
  double largest = 0;
  for (Index j = 0; j < v.cols(); ++j) {
    largest = std::max(largest, net.node_conductance()(0, j) * std::abs(v(0, j)));
    const bool held = !shape.shockley && j < net.columns(net.depth()).begin && v(0, j) == 0.0;
    if (!held) out.kirchhoff = std::max(out.kirchhoff, std::abs(current(0, j)));
  }
  if (largest > 0) out.kirchhoff /= largest;
  out.power_W = resistive_power(net, sources, v).resistors(0, 0);
  for (Index l = 1; l <= net.depth(); ++l) {
    out.resistors += static_cast<double>(net.layer(l).conductance.size());
    if (net.bias() == ResistiveBias::rails) out.resistors += static_cast<double>(net.layer(l).bias.size());
  }
  return out;
}

namespace {

double resistors(const NetworkPlan& plan) {
  double count = 0;
  for (const Parameter& p : plan.parameters()) {
    if (p.conductance) count += static_cast<double>(p.shape.rows * p.shape.cols);
  }
  return count;
}

ExportedNetwork write(const Network<double>& network, const NetlistOptions& options) {
  ResistiveExport exported = export_resistive(network, options.circuit, options.clamp.topRows(1), options.data_file);
  std::string note = fmt::format(
      "{:g} resistors, {} of heat; Kirchhoff's law at the settled voltages of the simulation: worst net current {:.1e} "
      "of the largest",
      exported.resistors, format_quantity(exported.power_W, Unit::watt, 4), exported.kirchhoff);
  return {std::move(exported.netlist), std::move(note)};
}

}  // namespace

NetlistExport resistive_netlist_export() { return {resistors, {"resistive.hidden"}, write}; }

}  // namespace nudge
