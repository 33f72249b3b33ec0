// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "training/data/labelled_data.hpp"

namespace nudge {

/// Samples with the test split under which others have published scores.
struct PublishedData {
  LabelledData training, test;
  std::string training_name, test_name;  ///< of the files, for messages
};

/// Data set that data.file calls by name.
struct NamedData {
  std::string name;
  std::string holds;     ///< size, classes and source, for the help
  std::string package;   ///< package that has it; empty: none
  std::string packaged;  ///< folder in which Debian's package puts it; empty: it is PyPI's package, to be unpacked
  int classes;           ///< number of classes, all of which its training split has
  std::string file;      ///< a file of it: the folder has the set if it has this one, ".gz" or ".bin" behind it or not
  PublishedData (*read)(const std::filesystem::path& folder, Target target);

  /// True if `file` is in the folder that data.folder names (`chosen`), or in the package's.
  bool is_here(const std::string& chosen) const;
  /// Folder of the files. UserError that says how to get them where they are not there.
  std::filesystem::path folder(const std::string& chosen) const;
};

const std::vector<NamedData>& named_data_sets();

/// The set that is called so; nullptr for all other values of data.file, and where a file of that name exists.
const NamedData* named_data(const std::string& file);

/// Help of data.file: "letter (20,000 rows …), …".
std::string named_data_help();

}  // namespace nudge
