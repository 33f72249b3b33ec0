// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

namespace nudge {

/// Names of the files of one export, made of what an HDF5 file calls things and of nothing that a file system, a shell or a terminal takes for
/// more than a name: "/" becomes ".", control characters, bytes that are not UTF-8, \ and % become %1B as in addresses, as
/// does a dot in front; names of more than 200 bytes are cut and end with the hash of the whole. Two that would be alike
/// (also but for capitals) get a number: "a.b.csv", "a.b~2.csv".
class FileNames {
 public:
  std::string take(const std::string& path, const std::string& ending);

 private:
  std::set<std::string> taken_;  ///< in small letters
};

}  // namespace nudge
