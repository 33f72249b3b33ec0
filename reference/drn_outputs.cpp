// SPDX-License-Identifier: Apache-2.0
#include "reference/drn_outputs.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

// Tolerances of NETWORKS.md, section 2.5, for float64.
constexpr double kPoint = 1e-12;    // one evaluation, or a given number of sweeps
constexpr double kState = 1e-11;    // steady states
constexpr double kAdjoint = 1e-10;  // a linear solve there
constexpr double kNudged = 1e-9;    // divided by β
// Of section 1.6 for float32, in the same order.
constexpr double kNarrowPoint = 1e-5, kNarrowState = 1e-4, kNarrowGradient = 1e-3;

/// A contract that is checked in every build: what is written must be what NETWORKS.md defines.
void expect(bool holds, const std::string& what) {
  if (!holds) contract_violated(what.c_str(), __FILE__, __LINE__);
}

std::vector<DrnOutput> all_outputs() {
  std::vector<DrnOutput> all;
  const auto add = [&all](DrnShape shape, double tolerance, double narrow, std::initializer_list<const char*> names) {
    for (const char* name : names) all.push_back({name, shape, tolerance, narrow});
  };
  add(DrnShape::states, kPoint, kNarrowPoint, {"kcl_z0"});
  add(DrnShape::samples, kPoint, kNarrowPoint, {"energy_z0"});
  add(DrnShape::nodes, kPoint, kNarrowPoint, {"conductance"});
  add(DrnShape::states, kPoint, kNarrowPoint, {"jvp_z0_v"});
  add(DrnShape::states, kState, kNarrowState,
      {"v_star", "v_plus", "v_minus", "diode_current_star", "diode_current_plus", "diode_current_minus"});
  add(DrnShape::outputs, kState, kNarrowState, {"logits"});
  add(DrnShape::samples, kPoint, kNarrowState, {"energy_star"});
  add(DrnShape::samples, kState, kNarrowState, {"cost_star"});
  add(DrnShape::samples, kPoint, kNarrowState, {"power_resistors", "power_inputs", "power_amplifiers", "power_bias"});
  add(DrnShape::states, kPoint, kNarrowPoint, {"cd_1", "cd_2", "cd_3", "cd_plus", "cd_minus"});
  add(DrnShape::gradient, kNudged, kNarrowGradient,
      {"grad_ep_plus", "grad_ep_minus", "grad_ep_centered", "grad_cd_centered"});
  add(DrnShape::states, kAdjoint, kNarrowGradient, {"a_exact"});
  add(DrnShape::gradient, kAdjoint, kNarrowGradient, {"grad_exact"});
  return all;
}

}  // namespace

const std::vector<DrnOutput>& drn_outputs() {
  static const std::vector<DrnOutput> all = all_outputs();
  return all;
}

void DrnWriter::values(const std::string& name, const Matrix<double>& numbers) {
  const DrnOutput& output = claim(name);
  expect(output.shape != DrnShape::gradient, name + ": is a group of parameters");
  add(output, "out/" + name, shape_of(output), numbers);
}

void DrnWriter::gradient(const std::string& name, const std::vector<Matrix<double>>& parameters) {
  const DrnOutput& output = claim(name);
  const ResistiveNetwork& net = *problem_->network;
  const bool biased = net.bias() != ResistiveBias::none;
  expect(output.shape == DrnShape::gradient, name + ": is no group of parameters");
  expect(static_cast<Index>(parameters.size()) == (biased ? 2 : 1) * net.depth(), name + ": number of parameters");
  for (Index l = 1; l <= net.depth(); ++l) {
    const Matrix<double>& g = parameters[static_cast<std::size_t>(l - 1)];
    const auto& like = net.layer(l);
    expect(g.rows() == like.conductance.rows() && g.cols() == like.conductance.cols(), name + ": shape of a layer");
    add(output, "out/" + name + "/g" + std::to_string(l), {g.rows(), g.cols()}, g);
    if (!biased) continue;
    const Matrix<double>& bias = parameters[static_cast<std::size_t>(net.depth() + l - 1)];
    expect(bias.rows() == like.bias.rows() && bias.cols() == like.bias.cols(), name + ": shape of a bias");
    const H5Shape shape = net.bias() == ResistiveBias::rails ? H5Shape{2, bias.cols()} : H5Shape{bias.cols()};
    add(output, "out/" + name + "/" + drn_bias_name(net.bias(), l), shape, bias);
  }
}

std::vector<CaseDataset> DrnWriter::take() {
  std::vector<CaseDataset> all;
  for (const DrnOutput& output : drn_outputs()) {
    expect(found_.count(output.name) == 1, output.name + ": not computed");
    for (CaseDataset& each : found_[output.name]) all.push_back(std::move(each));
  }
  found_.clear();
  return all;
}

const DrnOutput& DrnWriter::claim(const std::string& name) const {
  const auto& all = drn_outputs();
  const auto found = std::find_if(all.begin(), all.end(), [&](const DrnOutput& each) { return each.name == name; });
  expect(found != all.end(), name + ": no dataset of this case");
  expect(found_.count(name) == 0, name + ": a second time");
  return *found;
}

H5Shape DrnWriter::shape_of(const DrnOutput& output) const {
  const ResistiveNetwork& net = *problem_->network;
  switch (output.shape) {
    case DrnShape::states: return {problem_->batch(), net.cols()};
    case DrnShape::nodes: return {net.cols()};
    case DrnShape::outputs: return {problem_->batch(), net.width(net.depth())};
    case DrnShape::samples: return {problem_->batch()};
    case DrnShape::gradient: break;
  }
  return {};
}

void DrnWriter::add(const DrnOutput& output, const std::string& name, const H5Shape& shape,
                    const Matrix<double>& numbers) {
  Index count = 1;
  for (const Index size : shape) count *= size;
  expect(numbers.size() == count, name + ": number of values");
  found_[output.name].push_back({name, shape, std::vector<double>(numbers.data(), numbers.data() + numbers.size()),
                                 problem_->float32 ? output.float32_tolerance : output.tolerance});
}

}  // namespace nudge
