// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

#include "training/gradcheck/gradcheck.hpp"

namespace nudge {

/// The HDF5 file of a gradient check: the report with the record of the run, begun at `started` (now_utc()), that took so many seconds.
H5Document gradcheck_document(const GradcheckReport& report, const Config& config, const std::string& started,
                              double seconds);

/// Writes it to a path where there is nothing. UserError when it cannot be written.
void write_gradcheck_file(const GradcheckReport& report, const Config& config, const std::string& started,
                          double seconds, const std::filesystem::path& path);

/// {"rows": [one per estimator and group], "diagnostics": {…}, "finite": …}, as training/data/scores_json.hpp.
nlohmann::json json_of(const GradcheckReport& report);

}  // namespace nudge
