// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace nudge {

/// Cost of each combination of a sweep's values, means over its runs that ended well: energy of an example and of a
/// training step, latency, area, and the first result. UserError, naming the file: no point carries a cost.
std::string study_card_text(const std::filesystem::path& path);
/// {"points": [{"values": {KEY: value}, "runs", "inference_energy_J", "step_energy_J", "latency_s", "area_m2", RESULT}]}
nlohmann::json study_card_json(const std::filesystem::path& path);

}  // namespace nudge
