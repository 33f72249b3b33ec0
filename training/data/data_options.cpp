// SPDX-License-Identifier: Apache-2.0
#include "training/data/data_options.hpp"

#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "training/data/labelled_data.hpp"
#include "training/data/named_data.hpp"
#include "training/data/samples.hpp"
#include "training/data/task.hpp"

namespace nudge {

ParamTable task_rows() {
  using param::choice, param::formerly;
  std::vector<std::string> tasks;
  for (const TaskKind& kind : task_kinds()) tasks.push_back(kind.name);
  return {formerly({"experiment.tasks"},
                   choice("task.kind", "characters", tasks,
                          "What is learned. characters: the next character of data.text. classification: the class "
                          "of a sample of data.file. regression: real values of a sample of data.file. "
                          "in_context_recall to memorization: drawn sequences of the MAD suite (Poli et al., "
                          "arXiv:2403.17844), scored by accuracy. argmax: the largest value of every channel. "
                          "forecasting: the next values of a series (series.*). latent: sequences with a hidden "
                          "position and noise."))};
}

const Section<DataOptions>& data_section() {
  using param::choice, param::formerly, param::integer, param::integers, param::path, param::real, param::text,
      param::zero_is;
  static const Section<DataOptions> section = {
      field(formerly({"experiment.examples"},
                     integer("task.examples", "3200", between(1, 100000000),
                             "Number of different training sequences of a MAD task; each epoch has them in another "
                             "order.")),
            &DataOptions::examples),
      field(zero_is("published",
                    integer("task.vocabulary", "0", between(0, 65536),
                            "Number of different tokens of a MAD task, an even number from 8 (noisy_recall: from "
                            "24, 16 of them noise). published: that of the published baseline, 16 (noisy_recall 32, "
                            "memorization 256).")),
            &DataOptions::vocabulary),
      field(param::texts(
                "task.references", "auto", {"auto", "off", "chance", "majority", "mean", "linear"},
                "Trivial models that a run on samples is compared with: \"auto\", \"off\", or a list. auto: chance, "
                "majority and linear for classification, mean and linear for regression or a forecast. The linear "
                "model takes at most a tenth of the run or a second of a core, on fewer samples if needed. It is kept "
                "for the next run on the same data (NUDGE_CACHE)."),
            &DataOptions::references),
      field(path("data.text", "",
                 "UTF-8 text file to learn, relative to the working directory; empty: the text that ships with the "
                 "project."),
            &DataOptions::text),
      field(
          path("data.file", "",
               "Samples to learn: CSV, IDX (MNIST as distributed), NPZ, HDF5, .ts, or a data frame of R (.rda, .rds); "
               "the "
               "first bytes decide the format, .gz and .xz are unpacked. Or the name of a set with its published test "
               "split: " +
                   named_data_help() +
                   ". Empty: the 1797 handwritten digits of 8 x 8 pixels that ship with nudge (as regression: "
                   "their labels as numbers)."),
          &DataOptions::file),
      field(path("data.folder", "",
                 "Folder with the files of a set that data.file names; empty: where Debian's package puts them."),
            &DataOptions::folder),
      field(text("data.features", "",
                 "NPZ, HDF5: array of the features, samples along its first dimension; empty: features. R: the data "
                 "frame; "
                 "empty: the only one."),
            &DataOptions::features),
      field(text("data.labels", "",
                 "Labels of classification (whole numbers from 0 on) or values of regression. CSV: name of the "
                 "column, for regression a list \"a,b\"; empty: the first column. R: a name, or a list. IDX: the file "
                 "of labels. NPZ, HDF5: the array; empty: labels."),
            &DataOptions::labels),
      field(path("data.test_file", "",
                 "Samples of a predefined test split, as in MNIST; it replaces data.test_fraction. Empty: split off "
                 "data.file."),
            &DataOptions::test_file),
      field(text("data.test_features", "", "data.features of data.test_file; empty: the same."),
            &DataOptions::test_features),
      field(text("data.test_labels", "", "data.labels of data.test_file; empty: the same. IDX: its file of labels."),
            &DataOptions::test_labels),
      field(integers("data.shape", "[]", at_least(1),
                     "Shape of a sample's features for networks that want one: [height, width] or [channels, height, "
                     "width]; empty: as the file says (CSV: one dimension)."),
            &DataOptions::shape),
      field(zero_is("auto", integer("data.classes", "auto", between(0, kMostClasses),
                                    "Number of classes; auto: the largest label of data.file + 1, an error if fewer "
                                    "than a quarter of them have a sample. A larger label is an error.")),
            &DataOptions::classes),
      field(choice("data.scaling", "unit", scaling_names(),
                   "Scaling of the features, fitted to the training split. unit: one range for all, from 0 to 1 "
                   "(pictures). unit_each: each feature from 0 to 1. standard: each with mean 0 and standard "
                   "deviation 1. channel: each channel of pictures so. none: as in the file."),
            &DataOptions::scaling),
      field(choice("data.value_scaling", "none", scaling_names(), "The same for the values of regression."),
            &DataOptions::value_scaling),
      field(
          param::texts("data.augment", "off", {},
                       "List of random changes of pictures in training, another one in each epoch. crop 4: shifted by "
                       "up to 4 pixels, with a frame of zeros. flip: mirrored left and right, every second one "
                       "on average. Validation and test splits are left as they are."),
          &DataOptions::augment),
      field(real("data.validation_fraction", "0.05", strictly_between(0, 1),
                 "Share of the data kept for choices (rates, recipes, stopping). Text: contiguous, before the test "
                 "split; each split needs model.tokens + 1 characters. Samples: drawn at random by data.split_seed, "
                 "stratified by class, from the samples outside the test split."),
            &DataOptions::validation_fraction),
      field(real("data.test_fraction", "0.05", from_below(0, 1),
                 "Share of the data that no choice sees; it is read once, at the end of a training. Text: its end. "
                 "Samples: drawn at random by data.test_seed, stratified by class. 0: none."),
            &DataOptions::test_fraction),
      field(integer("data.test_seed", "0", at_least(0),
                    "Seed of the test split of samples, which is drawn first. Runs of every seed and "
                    "data.split_seed, also in the tuning of `nudge compare`, leave the same samples unread."),
            &DataOptions::test_seed),
      field(zero_is("seed", integer("data.split_seed", "0", at_least(DataOptions::by_seed),
                                    "Seed of the split of the other samples into training and validation. A number: "
                                    "runs of different seeds learn the same samples. seed: the seed of the run, as "
                                    "`nudge compare` does unless the key is set.")),
            &DataOptions::split_seed),
      field(integer("data.frames", "1", between(1, 1000000),
                    "Frames that the features of a sample are, one after the other: a series. Each is the input of the "
                    "network for relaxation.free_steps/frames steps, so that its states follow a trajectory. For "
                    "relaxation.solver = euler or second_order, and estimator = bptt or echo."),
            &DataOptions::frames),
      field(zero_is("auto", integer("data.side_by_side", "auto", between(0, 4096),
                                    "Samples that settle side by side in the simulation, as rows of one state. The "
                                    "circuit sees one sample after the other, so this changes the speed, and which "
                                    "random numbers the reads of a sample take. With relaxation.tolerance they stop "
                                    "together. auto: the largest divisor of "
                                    "train.batch up to 16.")),
            &DataOptions::side_by_side),
      field(zero_is("all", integer("data.validation_samples", "all", at_least(0),
                                   "Samples of the validation split that are scored during training, the first of "
                                   "its random order. The test split is always scored whole.")),
            &DataOptions::validation_samples)};
  return section;
}

void expect_beside(const std::string& key, const std::string& value, const std::string& other,
                   const std::string& there) {
  if (value.empty() || !there.empty()) return;
  throw UserError(fmt::format("{} = \"{}\" describes {}, which is empty. Set it too", key, value, other));
}

namespace {

/// Chooses the test file's own name of an array, or the training file's.
const std::string& first_of(const std::string& own, const std::string& otherwise) {
  return own.empty() ? otherwise : own;
}

/// Checks that a set called by its name is not also described.
void expect_only_named(const DataOptions& d) {
  if (d.features.empty() && d.labels.empty() && d.test_file.empty()) return;
  throw UserError(
      fmt::format("data.file = \"{}\" includes labels and a test split. Leave data.features, data.labels and "
                  "data.test_file empty",
                  d.file));
}

}  // namespace

SampleOptions sample_options(const Config& config) {
  const DataOptions d = data_options(config);
  expect_beside("data.features", d.features, "data.file", d.file);
  expect_beside("data.labels", d.labels, "data.file", d.file);
  expect_beside("data.test_file", d.test_file, "data.file", d.file);
  expect_beside("data.test_features", d.test_features, "data.test_file", d.test_file);
  expect_beside("data.test_labels", d.test_labels, "data.test_file", d.test_file);
  SampleOptions o;
  o.named = named_data(d.file);
  o.folder = d.folder;
  if (o.named != nullptr) expect_only_named(d);
  if (o.named == nullptr && !d.folder.empty()) {
    throw UserError(
        fmt::format("data.folder = \"{}\" is read only where data.file names a set: {}", d.folder, named_data_help()));
  }
  o.source = {d.file, d.features, d.labels};
  o.test_source = {d.test_file, first_of(d.test_features, d.features), first_of(d.test_labels, d.labels),
                   "data.test_features", "data.test_labels"};
  const bool same_file = !o.source.path.empty() && o.source.path == o.test_source.path;
  if (same_file && o.source.features == o.test_source.features) {
    throw UserError(
        "data.test_file is data.file, so the test would use the training samples. Name other arrays in "
        "data.test_features and data.test_labels, or another file");
  }
  o.shape = d.shape;
  o.classes = d.classes;
  o.scaling = d.scaling;
  o.value_scaling = d.value_scaling;
  o.validation = {d.validation_fraction,
                  d.split_seed == DataOptions::by_seed ? run_seed(config) : static_cast<std::uint64_t>(d.split_seed)};
  o.test = {d.test_fraction, static_cast<std::uint64_t>(d.test_seed)};
  return o;
}

namespace {

void note_classes(const SampleParts& parts, std::vector<std::string>& notes) {
  std::vector<Index> counts(static_cast<std::size_t>(parts.classes), 0);
  for (const int label : parts.training.labels) ++counts[static_cast<std::size_t>(label)];
  constexpr std::size_t kNamed = 5;
  std::string names;
  std::size_t empty = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) continue;
    if (++empty <= kNamed) names += fmt::format("{}{}", names.empty() ? "" : ", ", k);
  }
  if (empty > 0) {
    notes.push_back(fmt::format("{} of {} classes have no training sample ({}{}), so they cannot be learnt", empty,
                                counts.size(), names, empty > kNamed ? ", ..." : ""));
  }
  if (empty + 1 == counts.size()) {
    notes.emplace_back("all training samples are of one class: there is nothing to classify");
  }
}

void note_features(const SampleParts& parts, std::vector<std::string>& notes) {
  const Matrix<float>& x = parts.training.features;
  if (x.rows() < 2) return;
  // Row by row, as they lie in memory.
  Eigen::Array<bool, 1, Eigen::Dynamic> varies = Eigen::Array<bool, 1, Eigen::Dynamic>::Constant(x.cols(), false);
  for (Index i = 1; i < x.rows(); ++i) varies = varies || x.row(i).array() != x.row(0).array();
  const Index constant = x.cols() - varies.count();
  if (constant == 0) return;
  notes.push_back(fmt::format("{} of {} features are constant in the training split (unused){}", constant, x.cols(),
                              constant == x.cols() ? ": there is nothing to learn from" : ""));
}

}  // namespace

std::vector<std::string> sample_notes(const SampleParts& parts) {
  std::vector<std::string> notes;
  if (!parts.training.labels.empty()) note_classes(parts, notes);
  note_features(parts, notes);
  return notes;
}

}  // namespace nudge
