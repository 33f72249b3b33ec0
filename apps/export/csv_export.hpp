// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace nudge {

/// CSV file of an export: its name and text.
struct CsvFile {
  std::string name, text;
};

/// Converts an HDF5 file of nudge to CSV (RFC 4180, shortest digits that give the same number back, empty for "not
/// measured"):
///  - columns that share their x axis (attribute x; otherwise columns of one group and length) in one file, named by the group,
///    `train.csv`, and by the axis where the group has several, `train.validation_step.csv`; the axis first;
///  - a matrix in a file of its own, `parameters.Wm.csv`, columns 0, 1, …; more dimensions: all but the last make the rows;
///  - `columns.csv`: file, column, unit and description of every column; `attributes.csv`; `config.toml`.
/// FileNames makes the names, csv_field() the text. Data that only --resume reads (/checkpoint, /underway) is left out.
/// UserError: not an HDF5 file, damaged.
std::vector<CsvFile> csv_of(const std::filesystem::path& file);

/// Writes the CSV files of an HDF5 file to a directory, made when missing; returns the paths. UserError, before
/// anything is written, if a file exists, even as a link: no link may lead out of the directory.
std::vector<std::filesystem::path> export_csv(const std::filesystem::path& file,
                                              const std::filesystem::path& directory);

/// Names of the files of one export, made from names in an HDF5 file. They hold nothing that a file system, a shell or
/// a terminal takes for more than a name. "/" becomes "."; control characters, bytes that are not UTF-8, \ and % become
/// %1B as in addresses, as does a dot in front. Names of more than 200 bytes are cut and end with the hash of the
/// whole. Two names that would be alike (also but for capitals) get a number: "a.b.csv", "a.b~2.csv".
class FileNames {
 public:
  std::string take(const std::string& path, const std::string& ending);

 private:
  std::set<std::string> taken_;  ///< names in small letters
};

}  // namespace nudge
