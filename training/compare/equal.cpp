// SPDX-License-Identifier: Apache-2.0
#include "training/compare/equal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "training/config/config_table.hpp"
#include "training/config/train_options.hpp"
#include "training/sweep/point_cost.hpp"

namespace nudge {
namespace {

bool sets_steps(const std::string& setting) {
  return setting.substr(0, setting.find('=')).find("train.steps") != std::string::npos;
}

void expect_free_steps(const ConfigSource& source, const CompareProtocol& protocol) {
  const char* problem =
      "(must not be set beside compare.equal = energy, which chooses it; the config's own is that of the first method)";
  for (const GridAxis& axis : protocol.axes) {
    if (axis.key == "train.steps")
      throw UserError(fmt::format("{}: compare.grid.train.steps {}", source.name, problem));
  }
  for (const Entrant& entrant : protocol.entrants) {
    if (std::any_of(entrant.settings.begin(), entrant.settings.end(), sets_steps))
      throw UserError(fmt::format("{}: compare.entrants: train.steps of {} {}", source.name, entrant.name, problem));
  }
}

}  // namespace

void equalise(const ConfigSource& source, CompareProtocol& protocol) {
  if (protocol.base.text("compare.equal") != "energy") return;
  expect_free_steps(source, protocol);
  const auto steps = static_cast<double>(train_options(protocol.base).rate.steps);
  double first = 0;
  for (std::size_t e = 0; e < protocol.entrants.size(); ++e) {
    Entrant& entrant = protocol.entrants[e];
    ConfigSource own = source;
    own.settings.insert(own.settings.end(), entrant.settings.begin(), entrant.settings.end());
    const Combination& point = protocol.combinations[e].front();
    own.settings.insert(own.settings.end(), point.begin(), point.end());
    own.settings.push_back(fmt::format("seed={}", protocol.test_seeds.front()));
    const double energy = measured_cost(parse_program_config(own.name, own.text, own.settings), "step_energy");
    if (!(energy > 0)) {
      throw UserError(fmt::format(
          "{}: compare.equal = energy: the energy of {} is not known, as of digital weights. Give it devices "
          "(device.preset), or compare at equal steps",
          source.name, entrant.name));
    }
    if (e == 0) first = energy;
    const auto count = std::max(std::llround(steps * first / energy), 1LL);
    entrant.settings.push_back(fmt::format("train.steps={}", count));
    protocol.equal +=
        fmt::format("{}{} {} steps of {:.3g} J", e == 0 ? "all methods take the energy of the first: " : ", ",
                    entrant.name, count, energy);
  }
}

}  // namespace nudge
