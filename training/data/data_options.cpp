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
                          "What is learned. characters: the next character of data.text; classification: the class of "
                          "a sample, regression: real values of a sample, both of data.file; the others: sequences of "
                          "tokens that are drawn, of the MAD suite (Poli et al., arXiv:2403.17844), whose answers are "
                          "scored by their accuracy; argmax: the largest value of every channel; forecasting: what "
                          "follows in a series (series.*); latent: sequences with a hidden place and noise."))};
}

const Section<DataOptions>& data_section() {
  using param::choice, param::formerly, param::integer, param::integers, param::path, param::real, param::text,
      param::zero_is;
  static const Section<DataOptions> section = {
      field(formerly({"experiment.examples"},
                     integer("task.examples", "3200", between(1, 100000000),
                             "Different training sequences of a MAD task; each epoch has them in another order.")),
            &DataOptions::examples),
      field(zero_is("published",
                    integer("task.vocabulary", "0", between(0, 65536),
                            "Different tokens of a MAD task, an even number from 8 (noisy_recall: from 24, 16 of them "
                            "noise). 0: the published baseline, 16 (noisy_recall 32, memorization 256).")),
            &DataOptions::vocabulary),
      field(
          param::texts(
              "task.references", "auto", {"auto", "off", "chance", "majority", "mean", "linear"},
              "Trivial models that a run on samples is measured against, after its first checkpoint: \"auto\" (chance, "
              "majority and linear of a classification, mean and linear of a regression or forecast), \"off\", or a "
              "list of them. linear is fitted within a tenth of the run or a second of a core, whichever is more, to "
              "fewer samples where it has to be, and kept for the next run of the same data (NUDGE_CACHE)."),
          &DataOptions::references),
      field(path("data.text", "",
                 "UTF-8 text file to learn, relative to the working directory; empty: the text that ships with the "
                 "project."),
            &DataOptions::text),
      field(path("data.file", "",
                 "Samples to learn: CSV, IDX (MNIST as distributed), NPZ, HDF5, or a data frame of R (.rda, .rds); the "
                 "first bytes tell the format, .gz and .xz are unpacked. Or the name of a set with its published test "
                 "split: " +
                     named_data_help() +
                     ". Empty: the 1797 handwritten digits of 8 x 8 pixels that ship with the project (as regression: "
                     "their labels as numbers)."),
            &DataOptions::file),
      field(path("data.folder", "",
                 "Folder with the files of a set that data.file names; empty: where Debian's package puts them."),
            &DataOptions::folder),
      field(text("data.features", "",
                 "NPZ, HDF5: array of the features, samples along its first dimension; empty: features. R: the data frame; "
                 "empty: the only one."),
            &DataOptions::features),
      field(text("data.labels", "",
                 "Where the labels of classification (whole numbers from 0 on) or the values of regression are. CSV: "
                 "name of the column, for regression a list \"a,b\"; empty: the first column. R: the same, a name is "
                 "needed. IDX: the file of labels. "
                 "NPZ, HDF5: the array; empty: labels."),
            &DataOptions::labels),
      field(path("data.test_file", "",
                 "Samples of a predefined test part, as MNIST has; data.test_fraction is not used then. Empty: split "
                 "off data.file."),
            &DataOptions::test_file),
      field(text("data.test_features", "", "data.features of data.test_file; empty: the same."),
            &DataOptions::test_features),
      field(text("data.test_labels", "", "data.labels of data.test_file; empty: the same. IDX: its file of labels."),
            &DataOptions::test_labels),
      field(integers("data.shape", "[]", at_least(1),
                     "Shape of a sample's features for networks that want one: [height, width] or [channels, height, "
                     "width]; empty: as the file says (CSV: one dimension)."),
            &DataOptions::shape),
      field(zero_is("auto",
                    integer("data.classes", "auto", between(0, kMostClasses),
                            "Number of classes; auto: the largest label of data.file + 1. A label beyond is refused.")),
            &DataOptions::classes),
      field(choice("data.scaling", "unit", scaling_names(),
                   "Features, with numbers of the training part alone. unit: one range for all, its smallest becomes 0 "
                   "and its largest 1 (pictures); unit_each: each feature by itself; standard: each with mean 0 and "
                   "standard deviation 1; none: as in the file."),
            &DataOptions::scaling),
      field(choice("data.value_scaling", "none", scaling_names(), "The same for the values of regression."),
            &DataOptions::value_scaling),
      field(real("data.validation_fraction", "0.05", strictly_between(0, 1),
                 "Share kept from training for choices (rates, recipes, stopping). Text: contiguous, before the test "
                 "part, each part must hold model.tokens + 1 characters. Samples: drawn at random by data.split_seed, "
                 "of each class its share, from what the test part leaves."),
            &DataOptions::validation_fraction),
      field(real("data.test_fraction", "0.05", from_below(0, 1),
                 "Share that no choice sees: read once, when a training has ended. Text: its end; samples: drawn at "
                 "random by data.test_seed, of each class its share. 0: none."),
            &DataOptions::test_fraction),
      field(integer("data.test_seed", "0", at_least(0),
                    "Seed of the test part of samples, which is drawn first: runs of every seed and every "
                    "data.split_seed, the tuning of `nudge compare` included, leave the same samples unread."),
            &DataOptions::test_seed),
      field(zero_is("seed", integer("data.split_seed", "0", at_least(DataOptions::by_seed),
                                    "Seed of the split of the other samples into training and validation. A number: "
                                    "runs of different seeds learn the same ones. seed: that of the run, so that it "
                                    "changes with it; what `nudge compare` does unless the key is set.")),
            &DataOptions::split_seed),
      field(
          zero_is("auto", integer("data.side_by_side", "auto", between(0, 4096),
                                  "Samples that settle side by side in the simulation, as rows of one state: a matter "
                                  "of speed alone, the circuit sees one after the other. With relaxation.tolerance "
                                  "they stop together. auto: the largest divisor of train.batch up to 16.")),
          &DataOptions::side_by_side),
      field(zero_is("all", integer("data.validation_samples", "all", at_least(0),
                                   "Samples of the validation part that are scored during training, the first of its "
                                   "random order. The test part is always scored whole.")),
            &DataOptions::validation_samples)};
  return section;
}

namespace {

/// Checks a key that only means something beside another one.
void expect_beside(const std::string& key, const std::string& value, const std::string& other,
                   const std::string& there) {
  if (value.empty() || !there.empty()) return;
  throw UserError(fmt::format("{} = \"{}\" says something about {}, which is empty", key, value, other));
}

/// Chooses the test file's own name of an array, or the training file's.
const std::string& first_of(const std::string& own, const std::string& otherwise) {
  return own.empty() ? otherwise : own;
}

/// Checks that a set called by its name is not also described.
void expect_only_named(const DataOptions& d) {
  if (d.features.empty() && d.labels.empty() && d.test_file.empty()) return;
  throw UserError(
      fmt::format("data.file = \"{}\" has its labels and its test split (leave data.features, data.labels and "
                  "data.test_file empty)",
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
    throw UserError(fmt::format("data.folder = \"{}\" is read only where data.file names a set: {}", d.folder,
                                named_data_help()));
  }
  o.source = {d.file, d.features, d.labels};
  o.test_source = {d.test_file, first_of(d.test_features, d.features), first_of(d.test_labels, d.labels),
                   "data.test_features", "data.test_labels"};
  const bool same_file = !o.source.path.empty() && o.source.path == o.test_source.path;
  if (same_file && o.source.features == o.test_source.features) {
    throw UserError(
        "data.test_file is data.file: a test on the samples that are learned (name other arrays of it in "
        "data.test_features and data.test_labels, or another file)");
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
    notes.push_back(fmt::format("{} of {} classes have no training sample ({}{}): nothing can learn them", empty,
                                counts.size(), names, empty > kNamed ? ", ..." : ""));
  }
  if (empty + 1 == counts.size()) {
    notes.emplace_back("all training samples are of one class: there is nothing to tell apart");
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
  notes.push_back(fmt::format("{} of {} features have one value in all training samples: they tell nothing{}", constant,
                              x.cols(), constant == x.cols() ? ", so that there is nothing to learn from" : ""));
}

}  // namespace

std::vector<std::string> sample_notes(const SampleParts& parts) {
  std::vector<std::string> notes;
  if (!parts.training.labels.empty()) note_classes(parts, notes);
  note_features(parts, notes);
  return notes;
}

}  // namespace nudge
