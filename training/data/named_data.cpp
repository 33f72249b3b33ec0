// SPDX-License-Identifier: Apache-2.0
#include "training/data/named_data.hpp"

#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
namespace {

namespace fs = std::filesystem;

/// The file, or the file packed as .gz.
fs::path plain_or_packed(const fs::path& file) {
  fs::path packed = file;
  packed += ".gz";
  return fs::exists(file) || !fs::exists(packed) ? file : packed;
}

LabelledData rows_of(const LabelledData& all, Index from, Index count) {
  LabelledData out;
  out.shape = all.shape;
  out.features = all.features.middleRows(from, count);
  if (all.values.size() > 0) out.values = all.values.middleRows(from, count);
  if (!all.labels.empty()) out.labels.assign(all.labels.begin() + from, all.labels.begin() + from + count);
  return out;
}

/// A data frame whose first rows are the published training split, and the others the test split.
PublishedData of_data_frame(const fs::path& file, const std::string& label, Index all_rows, Index training_rows,
                            Target target) {
  const LabelledData all = read_labelled_data({file, "", label}, target);
  const std::string name = data_name(file);
  if (all.count() != all_rows) {
    throw UserError(fmt::format("{}: has {} rows (the published set has {})", name, all.count(), all_rows));
  }
  return {rows_of(all, 0, training_rows), rows_of(all, training_rows, all_rows - training_rows), name, name};
}

/// Four files of IDX, as MNIST is distributed.
PublishedData of_idx(const fs::path& folder, Target target) {
  const auto part = [&](const char* begin) {
    const auto at = [&](const char* end) { return plain_or_packed(folder / (std::string(begin) + end)).string(); };
    return DataSource{at("-images-idx3-ubyte"), "", at("-labels-idx1-ubyte")};
  };
  const DataSource training = part("train"), test = part("t10k");
  return {read_labelled_data(training, target), read_labelled_data(test, target), data_name(training.path),
          data_name(test.path)};
}

/// Adds the rows of one file of CIFAR-10's binary version: a byte of the label, then 32 x 32 of red, of green, of blue.
void add_cifar(const fs::path& file, RawArray& pictures, RawArray& labels) {
  constexpr std::size_t kPicture = 3072;
  const std::string bytes = read_file_bytes(file, "data");
  if (bytes.empty() || bytes.size() % (kPicture + 1) != 0) {
    throw UserError(fmt::format("{}: has {} bytes (must be a multiple of {}: a label and 3 x 32 x 32 pixels each)",
                                data_name(file), bytes.size(), kPicture + 1));
  }
  for (std::size_t at = 0; at < bytes.size(); at += kPicture + 1) {
    labels.bytes += bytes[at];
    pictures.bytes.append(bytes, at + 1, kPicture);
  }
  labels.shape = {static_cast<Index>(labels.bytes.size())};
  pictures.shape = {labels.shape.front(), 3, 32, 32};
}

PublishedData of_cifar(const fs::path& folder, Target target) {
  RawArray pictures{data_name(folder), {}}, labels = pictures, test_pictures = pictures, test_labels = pictures;
  for (int n = 1; n <= 5; ++n) add_cifar(folder / fmt::format("data_batch_{}.bin", n), pictures, labels);
  add_cifar(folder / "test_batch.bin", test_pictures, test_labels);
  return {join_arrays(pictures, labels, target), join_arrays(test_pictures, test_labels, target), pictures.name,
          test_pictures.name};
}

constexpr const char *kMlbench = "r-cran-mlbench", *kMlbenchFolder = "/usr/lib/R/site-library/mlbench/data";

}  // namespace

const std::vector<NamedData>& named_data_sets() {
  // The splits of letter, satellite, shuttle and dna are those of the Statlog project (Michie, Spiegelhalter and Taylor,
  // Machine Learning, Neural and Statistical Classification, 1994, chapter 9); mlbench keeps the order of its files.
  static const std::vector<NamedData> all = {
      {"letter", "20,000 letters by 16 shape numbers, 26 classes (Frey and Slate, Machine Learning 6:161, 1991)", kMlbench,
       kMlbenchFolder, "LetterRecognition.rda",
       [](const fs::path& f, Target t) { return of_data_frame(f / "LetterRecognition.rda", "lettr", 20000, 16000, t); }},
      {"satellite", "6,435 fields by 36 bands, 6 classes (Statlog)", kMlbench, kMlbenchFolder, "Satellite.rda",
       [](const fs::path& f, Target t) { return of_data_frame(f / "Satellite.rda", "classes", 6435, 4435, t); }},
      {"shuttle", "58,000 rows of 9 sensors, 7 classes (Statlog)", kMlbench, kMlbenchFolder, "Shuttle.rda",
       [](const fs::path& f, Target t) { return of_data_frame(f / "Shuttle.rda", "Class", 58000, 43500, t); }},
      {"dna", "3,186 splice junctions by 180 bits, 3 classes (Statlog)", kMlbench, kMlbenchFolder, "DNA.rda",
       [](const fs::path& f, Target t) { return of_data_frame(f / "DNA.rda", "Class", 3186, 2000, t); }},
      {"fashion-mnist", "70,000 pictures of 28 x 28, 10 classes (Xiao, Rasul and Vollgraf, arXiv:1708.07747)",
       "dataset-fashion-mnist", "/usr/share/datasets/fashion-mnist", "train-images-idx3-ubyte", of_idx},
      {"mnist", "70,000 digits of 28 x 28 in the four files that MNIST is distributed as", "", "",
       "train-images-idx3-ubyte", of_idx},
      {"cifar-10", "60,000 pictures of 3 x 32 x 32, 10 classes, the binary version (Krizhevsky, 2009)", "", "",
       "data_batch_1.bin", of_cifar}};
  return all;
}

bool NamedData::is_here(const std::string& chosen) const {
  const std::string& at = chosen.empty() ? packaged : chosen;
  return !at.empty() && fs::exists(plain_or_packed(fs::path(at) / file));
}

fs::path NamedData::folder(const std::string& chosen) const {
  if (is_here(chosen)) return chosen.empty() ? packaged : chosen;
  if (!chosen.empty()) {
    throw UserError(fmt::format("data.folder = \"{}\": has no {}, which data.file = \"{}\" needs", chosen, file, name));
  }
  throw UserError(fmt::format("data.file = \"{}\": {}ame the folder that has {} in data.folder", name,
                              package.empty() ? "n" : fmt::format("install Debian's package {}, or n", package), file));
}

const NamedData* named_data(const std::string& file) {
  if (file.empty() || fs::exists(file)) return nullptr;
  for (const NamedData& one : named_data_sets()) {
    if (fs::path(file).filename() == one.name) return &one;
  }
  return nullptr;
}

std::string named_data_help() {
  std::string out;
  for (const NamedData& one : named_data_sets()) {
    out += fmt::format("{}\"{}\": {}{}", out.empty() ? "" : "; ", one.name, one.holds,
                       one.package.empty() ? "" : ", package " + one.package);
  }
  return out;
}

}  // namespace nudge
