// SPDX-License-Identifier: Apache-2.0
#include "training/train/device_notes.hpp"

#include <fmt/format.h>

#include <cmath>

#include "circuits/linear_map_factory.hpp"
#include "devices/device_config.hpp"
#include "devices/window_rule.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

constexpr double least_share = 0.01;

}  // namespace

std::vector<std::string> device_notes(const Config& config, double elapsed_s) {
  const DeviceSpec spec = device_spec(config);
  std::vector<std::string> notes;
  if (spec.model == digital_model || !std::isfinite(elapsed_s)) return notes;
  struct Effect {
    bool on;
    const char *name, *key;
    double time_s;
  };
  const RetentionSpec& r = spec.retention;
  for (const Effect& effect : {Effect{r.drifts(), "drift", "device.drift_start", r.drift_start_s},
                               Effect{r.decays(), "decay", "device.decay_start", r.decay_start_s},
                               Effect{r.leaks(), "leak", "device.leak_time", r.leak_time_s}}) {
    if (!effect.on || elapsed_s >= least_share * effect.time_s) continue;
    notes.push_back(fmt::format(
        "{} does not act in this run: the devices saw {} pass, {:.2g} % of {} = {}; train.step_time sets how "
        "long a step really takes (docs/devices.md gives values)",
        effect.name, format_quantity(elapsed_s, Unit::second, 3), 100 * elapsed_s / effect.time_s, effect.key,
        format_quantity(effect.time_s, Unit::second, 3)));
  }
  if (const std::string cut = cut_warning(spec); !cut.empty()) notes.push_back(cut);
  return notes;
}

}  // namespace nudge
