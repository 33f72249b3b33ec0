// SPDX-License-Identifier: Apache-2.0
#include "training/config/learnt_netlist.hpp"

#include <fmt/format.h>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "devices/device_config.hpp"
#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/config/assembly.hpp"
#include "training/config/stored_config.hpp"
#include "training/models/netlist/netlist_plan.hpp"
#include "training/models/registry.hpp"
#include "training/models/weight_file.hpp"

namespace nudge {
namespace {

std::vector<std::size_t> elements_of(const std::vector<ElementRow>& rows) {
  std::vector<std::size_t> all;
  for (const ElementRow& row : rows) all.insert(all.end(), row.elements.begin(), row.elements.end());
  return all;
}

}  // namespace

LearntNetlist learnt_netlist(const std::filesystem::path& run, const std::string& file) {
  const Config config = stored_program_config(H5Reader(run));
  if (network_kind(config).name != "netlist") {
    throw UserError(fmt::format("{}: network.kind = {} (must be netlist)", run.string(), network_kind(config).name));
  }
  const auto plan = netlist_plan_alone(config, file);
  const auto network =
      make_network<double>(config, plan, Weights::configured);  // whose arrays say what a number stands for
  std::vector<Matrix<double>> began, weights;
  std::vector<double> unit_heat_J;
  for (int p = 0; p < network->parameters(); ++p) {
    began.push_back(network->map(p).weights());
    unit_heat_J.push_back(network->map(p).traits().unit_heat_J);
  }
  weights = began;
  read_weights(run.string(), *plan, weights);
  return {plan->with_values(began, unit_heat_J),
          plan->with_values(weights, unit_heat_J),
          elements_of(plan->ports().learned),
          elements_of(plan->ports().inputs),
          plan->equations().outputs(),
          plan->ports().inputs,
          on_devices(config) ? std::optional(crossbar_spec(config).device) : std::nullopt,
          config};
}

}  // namespace nudge
