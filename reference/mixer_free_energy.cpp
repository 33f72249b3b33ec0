// SPDX-License-Identifier: Apache-2.0
// Cases of the Free Energy Mixer: sizes come from the shapes of the weights, the rest from attributes.
#include <fmt/format.h>

#include "mixers/fem/free_energy_mixer.hpp"
#include "mixers/ops/operations.hpp"
#include "mixers/ops/reads.hpp"
#include "reference/case_kind.hpp"
#include "reference/tape_case.hpp"

namespace nudge {
namespace {

void read_conditioner(const H5Reader& file, MixerOptions& options) {
  const std::string where = file.text_attribute("tdc");
  if (where == "none") return;
  if (where != "pre" && where != "post") {
    file.fail("attribute tdc", fmt::format("\"{}\" (must be none, pre or post)", where));
  }
  options.of<FreeEnergyOptions>().modulation = where == "pre" ? Modulation::before : Modulation::after;
  options.of<FreeEnergyOptions>().hidden = matrix_shape(file, "params/tdc_Wf")[1];
  options.of<FreeEnergyOptions>().hidden_scale = finite_real(file, "tdc_norm_scale");
}

/// Name of the registered mixer for the prior in the attribute.
std::string mixer_of(const H5Reader& file) {
  const std::string prior = file.text_attribute("prior");
  for (const char* known : {"softmax", "gla", "aft", "lrnn", "ssmlti", "ssmsel"}) {
    if (prior == known) return "fem_" + prior;
  }
  file.fail("attribute prior", fmt::format("\"{}\" (must be softmax, gla, aft, lrnn, ssmlti or ssmsel)", prior));
}

std::vector<CaseDataset> composite(const H5Reader& file) {
  const std::string mixer = mixer_of(file);
  MixerOptions o;
  o.observe = true;
  o.width = matrix_shape(file, "params/W_v")[0];
  o.of<FreeEnergyOptions>().values = matrix_shape(file, "params/W_v")[1];
  o.heads = positive_size(file, "H");
  o.of<FreeEnergyOptions>().gate_groups = positive_size(file, "g_groups");
  if (mixer == "fem_softmax" || mixer == "fem_gla")
    o.of<FreeEnergyOptions>().keys = matrix_shape(file, "params/W_q")[1];
  if (mixer == "fem_gla" || mixer == "fem_lrnn")
    o.of<FreeEnergyOptions>().decays = matrix_shape(file, "params/W_dec")[1];
  if (mixer == "fem_gla" || file.has_attribute("eps")) o.of<FreeEnergyOptions>().epsilon = positive_real(file, "eps");
  if (mixer == "fem_aft") o.of<FreeEnergyOptions>().groups = matrix_shape(file, "params/W_k")[1];
  if (mixer == "fem_ssmlti" || mixer == "fem_ssmsel")
    o.of<FreeEnergyOptions>().states = matrix_shape(file, "params/ssm_A")[1];
  o.rope = flag_of(file, "rope");
  check_sizes(file, {{"D", o.width}, {"d", o.of<FreeEnergyOptions>().values}});
  read_conditioner(file, o);
  return compute_mixer_case(file, mixer, o);
}

std::vector<CaseDataset> conditioner_alone(const H5Reader& file) {
  MixerOptions o;
  o.observe = true;
  o.width = matrix_shape(file, "params/tdc_Wf")[0];
  o.of<FreeEnergyOptions>().hidden = matrix_shape(file, "params/tdc_Wf")[1];
  o.of<FreeEnergyOptions>().conditioned = matrix_shape(file, "params/tdc_Wc")[1];
  o.of<FreeEnergyOptions>().hidden_scale = finite_real(file, "norm_scale");
  return compute_mixer_case(file, "tdc", o);
}

/// Computes the gated read alone, from given scores (B, G, T, T).
std::vector<CaseDataset> read_alone(const H5Reader& file) {
  const H5Shape values = file.shape("inputs/v");
  const auto sizes = TapeCase::sizes(file, "inputs/v", 3);
  const Index tokens = sizes.tokens;
  const Index width = values[2];
  const Index groups = positive_size(file, "groups");
  const Index gate_groups = positive_size(file, "g_groups");
  for (const auto& [name, count] : {std::pair("groups", groups), std::pair("g_groups", gate_groups)}) {
    if (width % count != 0) {
      file.fail(std::string("attribute ") + name, fmt::format("{} (must divide the {} channels of v)", count, width));
    }
  }
  TapeCase task(file, sizes.batch);
  for (const char* name : {"v", "lam_raw", "g_raw"}) task.input(name, values, tokens);
  task.input("scores", {sizes.batch, groups, tokens, tokens}, groups * tokens);
  task.parameter("xb", {width});
  task.output("y", values);
  const Mask mask = read_mask(file, tokens, tokens);
  return task.compute([&](TapeCase::Call& call) {
    const Value<double> beta = inverse_temperature(call.parameters["xb"], "params/xb");
    const Index m = width / groups;
    std::vector<Value<double>> means;
    std::vector<Value<double>> energies;
    for (Index g = 0; g < groups; ++g) {
      const auto both = free_energy_read(rows(call.inputs["scores"], g * tokens, tokens),
                                         columns(call.inputs["v"], g * m, m), columns(beta, g * m, m), mask);
      means.push_back(columns(both, 0, m));
      energies.push_back(columns(both, m, m));
    }
    const Branches<double> branches{join_columns(means), join_columns(energies)};
    const auto lambda = apply(Function::sigmoid, call.inputs["lam_raw"]);
    const auto gate = outer_gate(call.inputs["g_raw"], gate_groups);
    call.outputs = {gated_read(branches, &lambda, &gate)};
    call.observed.add("mu", branches.mean);
    call.observed.add("Fmax", branches.free_energy);
    call.observed.add("lam", lambda);
    call.observed.add("g", gate);
  });
}

}  // namespace

std::vector<CaseKind> free_energy_case_kinds() {
  std::vector<CaseKind> kinds = {{"fem_read", read_alone}, {"tdc", conditioner_alone}};
  for (const char* name :
       {"fem_softmax", "fem_softmaxwin", "fem_gla", "fem_aft", "fem_lrnn", "fem_ssmlti", "fem_ssmsel", "fem_tdc"}) {
    kinds.push_back({name, composite});
  }
  return kinds;
}

}  // namespace nudge
