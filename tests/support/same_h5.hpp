// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/io/h5_reader.hpp"

namespace nudge::test {

/// Lists the objects in which two HDF5 files differ, bit by bit: datasets but times (…/seconds), and root attributes
/// but those in `except`. Empty when the files are the same.
inline std::vector<std::string> differing_objects(const std::filesystem::path& first,
                                                  const std::filesystem::path& second,
                                                  const std::vector<std::string>& except = {"started", "wall_time_s"}) {
  const H5Reader a(first), b(second);
  std::vector<std::string> different;
  if (a.all_datasets() != b.all_datasets()) different.emplace_back("the list of datasets");
  const auto same_reals = [&](const std::string& name) {
    const auto x = a.reals<double>(name), y = b.reals<double>(name);  // float32 widens exactly
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0);
  };
  for (const std::string& name : a.all_datasets()) {
    if (!b.has(name) || name.ends_with("/seconds")) continue;
    bool same = a.type(name) == b.type(name) && a.shape(name) == b.shape(name);
    if (same && a.type(name) == H5Type::integer) {
      same = a.integers(name) == b.integers(name);
    } else if (same && a.type(name) == H5Type::text) {
      same = a.texts(name) == b.texts(name);
    } else if (same) {
      same = same_reals(name);
    }
    if (!same) different.push_back(name);
  }
  if (a.attributes() != b.attributes()) different.emplace_back("the list of root attributes");
  for (const std::string& name : a.attributes()) {
    bool skipped = false;
    for (const std::string& other : except) skipped = skipped || name == other;
    if (!skipped && b.has_attribute(name) && a.attribute(name) != b.attribute(name))
      different.push_back("attribute " + name);
  }
  return different;
}

}  // namespace nudge::test
