// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace nudge {

enum class DescribeFormat { text, json };

/// Describes an HDF5 file of nudge: kind, provenance, essentials of the config, last losses and counts of every trained
/// trainee, number of events, rows or points, and each dataset with shape, unit and description. Files of another kind
/// (a reference case) are described by their attributes and datasets. UserError as H5Reader and load_run_file().
std::string describe_run_file(const std::filesystem::path& path, DescribeFormat format = DescribeFormat::text);

}  // namespace nudge
