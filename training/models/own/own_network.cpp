// SPDX-License-Identifier: Apache-2.0
#include "training/models/own/own_network.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "devices/own_device.hpp"
#include "sim/base/errors.hpp"
#include "training/models/model_options.hpp"

namespace nudge {
namespace {

LentNetwork::Plan& lent_plan() {
  static LentNetwork::Plan plan;
  return plan;
}

std::shared_ptr<const NetworkPlan> own_plan(const Config& config, const TaskSizes& task) {
  if (const std::string missing = own_network_missing(config); !missing.empty()) {
    throw UserError("network.kind = own: " + missing);
  }
  return lent_plan()(config, task);
}

}  // namespace

std::string own_network_missing(const Config& config) {
  if (lent_plan()) return "";
  return fmt::format(
      "the system \"{}\" is code of the program that ran it, which is not available here. Use Python: "
      "nudge.train(system, ...), nudge.resume(file, system=system)",
      own_section().read(config).system);
}

LentNetwork::LentNetwork(Plan plan) {
  if (lent_plan()) throw std::logic_error("a network is lent already");
  lent_plan() = std::move(plan);
}

LentNetwork::~LentNetwork() { lent_plan() = nullptr; }

const Section<OwnOptions>& own_section() {
  static const Section<OwnOptions> section = [] {
    Section<OwnOptions> all = {
        field(param::text("own.system", "",
                          "Name of the system of network.kind = own, which comes from the calling program (from "
                          "Python: nudge.train(system, ...)). That program sets this and the other keys of [own]."),
              &OwnOptions::system),
        field(param::text("own.estimator", "", "Name of the estimator of estimator = own."), &OwnOptions::estimator),
        field(param::text("own.cost", "", "Name of the cost of network.cost = own."), &OwnOptions::cost),
        field(
            param::text("own.system_code", "",
                        "Hash of the source of the system and versions of its libraries, which nudge.resume compares."),
            &OwnOptions::system_code),
        field(param::text("own.estimator_code", "", "The same of the estimator."), &OwnOptions::estimator_code),
        field(param::text("own.cost_code", "", "The same of the cost."), &OwnOptions::cost_code),
        field(param::text("own.device", "", "Name of the device of device.model = own."), &OwnOptions::device),
        field(param::text("own.device_code", "", "The same of the device."), &OwnOptions::device_code),
        field(param::real("own.leak", "0", at_least(0), "Leak L of all of its units, 1/tau; 0: unknown."),
              &OwnOptions::leak),
        field(
            param::flag("own.contrastive", "false", "Whether it gives the derivatives of an energy by its parameters."),
            &OwnOptions::contrastive),
        field(param::flag("own.solves", "false", "Whether its states are measured on a board, and not relaxed."),
              &OwnOptions::solves)};
    all.where(chosen("estimator", {"own"}), {&OwnOptions::estimator, &OwnOptions::estimator_code});
    all.where(chosen("network.cost", {"own"}), {&OwnOptions::cost, &OwnOptions::cost_code});
    all.where(chosen("device.model", {own_device_name}), {&OwnOptions::device, &OwnOptions::device_code});
    return all;
  }();
  return section;
}

NetworkKind own_network() {
  using O = OwnOptions;
  return {
      .name = "own",
      .summary = "a system of the calling program: forces written in Python",
      .plan = own_plan,
      .leak = [](const Config& config) { return NodeLeak{.constant = own_section().read(config).leak}; },
      .feed_forward = [](const Config&) { return false; },
      .states = [](const Config& config) { return StateFacts{.direct = own_section().read(config).solves}; },
      .couples_rows = false,
      .takes = Rows::features,
      .contrastive = [](const Config& config) { return own_section().read(config).contrastive; },
      .keys = with_weights(own_section().rows_of({&O::system, &O::system_code, &O::leak, &O::contrastive, &O::solves})),
      .not_local = "what a function does between its arrays is not known"};
}

}  // namespace nudge
