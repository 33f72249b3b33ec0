// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/lab_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"

namespace nudge {

std::vector<LabDevice> by_device(const std::vector<LabRecord>& records) {
  std::vector<LabDevice> devices;
  for (const LabRecord& record : records) {
    auto own =
        std::find_if(devices.begin(), devices.end(), [&](const LabDevice& d) { return d.name == record.device; });
    if (own == devices.end()) own = devices.insert(devices.end(), LabDevice{record.device, {}});
    own->cycles.push_back(record.pulses);
  }
  return devices;
}

DeviceFit fit_device(const LabDevice& device, const std::string& model, int points, LeakLaw leak,
                     const ToldNoise& noise) {
  try {
    return {device.name, fit_records(device.cycles, model, points, leak, noise)};
  } catch (const UserError& error) {
    throw UserError(device.name.empty() ? error.what() : fmt::format("device {}: {}", device.name, error.what()));
  }
}

double schwarz_of(const std::vector<DeviceFit>& each) {
  double sum = 0;
  for (const DeviceFit& one : each) sum += one.fit.likelihood.schwarz();
  return sum;
}

void share_noise(const std::vector<LabDevice>& devices, const std::string& model, int points,
                 std::vector<DeviceFit>& each) {
  const LeakLaw leak = each.front().fit.spec.retention.leaks() ? LeakLaw::exponential : LeakLaw::none;
  ToldNoise told;
  for (const auto& [kind, own] :
       {std::pair{&NoiseKind::floor, &ToldNoise::floor}, std::pair{&NoiseKind::read_share, &ToldNoise::read_share}}) {
    const auto has = [k = kind](const DeviceFit& one) { return one.fit.likelihood.kind.*k; };
    told.*own = has(each.front());
    if (std::all_of(each.begin(), each.end(), has) || std::none_of(each.begin(), each.end(), has)) continue;
    std::array<std::vector<DeviceFit>, 2> ways = {each, each};
    for (const bool with : {false, true}) {
      told.*own = with;
      parallel_for(static_cast<Index>(devices.size()), 0, [&](Index d, int) {
        const auto k = static_cast<std::size_t>(d);
        if (has(each[k]) != with) ways[with ? 1 : 0][k] = fit_device(devices[k], model, points, leak, told);
      });
    }
    const bool with = schwarz_of(ways[1]) < schwarz_of(ways[0]);
    told.*own = with;
    each = std::move(ways[with ? 1 : 0]);
  }
}

}  // namespace nudge
