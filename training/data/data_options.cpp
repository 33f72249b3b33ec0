// SPDX-License-Identifier: Apache-2.0
#include "training/data/data_options.hpp"

#include "training/data/labelled_data.hpp"
#include "training/data/samples.hpp"
#include "training/data/task.hpp"

namespace nudge {

ParamTable task_rows() {
  using param::choice;
  using param::formerly;
  std::vector<std::string> tasks;
  for (const TaskKind& kind : task_kinds()) tasks.push_back(kind.name);
  return {formerly({"experiment.tasks"},
                   choice("task.kind", "characters", tasks,
                          "What is learned. characters: the next character of data.text; classification: the class "
                          "of a sample, "
                          "regression: real values of a sample, both of data.file; the others: sequences of tokens "
                          "that are drawn, "
                          "of the "
                          "MAD suite (Poli et al., arXiv:2403.17844), whose answers are scored by their accuracy; "
                          "argmax: the largest value of every channel; forecasting: what follows in a series "
                          "(series.*); latent: "
                          "sequences with a hidden place and noise."))};
}

const Section<DataOptions>& data_section() {
  using param::choice;
  using param::formerly;
  using param::integer;
  using param::integers;
  using param::path;
  using param::real;
  using param::text;
  using param::zero_is;
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
              "list of them. "
              "linear is "
              "fitted within a tenth of the run or a second of a core, whichever is more, to fewer samples where it "
              "has to be, "
              "and kept for the next run of the same data (NUDGE_CACHE)."),
          &DataOptions::references),
      field(path("data.text", "",
                 "UTF-8 text file to learn, relative to the working directory; empty: the text that ships with "
                 "the project."),
            &DataOptions::text),
      field(
          path("data.file", "",
               "Samples to learn: CSV, IDX (MNIST as distributed), NPZ or HDF5, the first two also as .gz; the format "
               "is "
               "told by the first bytes. \"fashion-mnist\": the 70,000 pictures of Debian's package "
               "dataset-fashion-mnist, "
               "with their test part. Empty: the 1797 handwritten digits of 8 x 8 pixels that ship with the project "
               "(as regression: their labels as numbers)."),
          &DataOptions::file),
      field(text("data.features", "",
                 "NPZ, HDF5: array of the features, samples along its first dimension; empty: features."),
            &DataOptions::features),
      field(text("data.labels", "",
                 "Where the labels of classification (whole numbers from 0 on) or the values of regression are. CSV: "
                 "name of "
                 "the column, for regression a list \"a,b\"; empty: the first column. IDX: the file of labels. NPZ, "
                 "HDF5: the "
                 "array; empty: labels."),
            &DataOptions::labels),
      field(
          path("data.test_file", "",
               "Samples of a predefined test part, as MNIST has; data.test_fraction is not used then. Empty: split off "
               "data.file."),
          &DataOptions::test_file),
      field(text("data.test_features", "", "data.features of data.test_file; empty: the same."),
            &DataOptions::test_features),
      field(text("data.test_labels", "", "data.labels of data.test_file; empty: the same. IDX: its file of labels."),
            &DataOptions::test_labels),
      field(
          integers(
              "data.shape", "[]", at_least(1),
              "Shape of a sample's features for networks that want one: [height, width] or [channels, height, width]; "
              "empty: as the file says (CSV: one dimension)."),
          &DataOptions::shape),
      field(zero_is("auto",
                    integer("data.classes", "auto", between(0, kMostClasses),
                            "Number of classes; auto: the largest label of data.file + 1. A label beyond is refused.")),
            &DataOptions::classes),
      field(
          choice(
              "data.scaling", "unit", scaling_names(),
              "Features, with numbers of the training part alone. unit: one range for all, its smallest becomes 0 and "
              "its largest 1 (pictures); unit_each: each feature by itself; standard: each with mean 0 and standard "
              "deviation 1; none: as in the file."),
          &DataOptions::scaling),
      field(choice("data.value_scaling", "none", scaling_names(), "The same for the values of regression."),
            &DataOptions::value_scaling),
      field(
          real("data.validation_fraction", "0.05", strictly_between(0, 1),
               "Share kept from training for choices (rates, recipes, stopping). Text: contiguous, before the test "
               "part, "
               "each part must hold model.tokens + 1 characters. Samples: drawn at random by data.split_seed, of each "
               "class its share."),
          &DataOptions::validation_fraction),
      field(real("data.test_fraction", "0.05", from_below(0, 1),
                 "Share that no choice sees: read once, when a training has ended. Text: its end; samples: as "
                 "data.validation_fraction. 0: none."),
            &DataOptions::test_fraction),
      field(zero_is("seed",
                    integer("data.split_seed", "0", at_least(DataOptions::by_seed),
                            "Seed of the split of samples. A number: runs of different seeds learn and test on the "
                            "same ones. seed: that of the run, so that it changes with it; what `nudge compare` "
                            "does unless the key is set.")),
            &DataOptions::split_seed),
      field(zero_is(
                "auto",
                integer(
                    "data.side_by_side", "auto", between(0, 4096),
                    "Samples that settle side by side in the simulation, as rows of one state: a matter of speed "
                    "alone, the "
                    "circuit sees one after the other. With relaxation.tolerance they stop together. auto: the largest "
                    "divisor of "
                    "train.batch up to 16.")),
            &DataOptions::side_by_side),
      field(zero_is("all",
                    integer("data.validation_samples", "all", at_least(0),
                            "Samples of the validation part that are scored during training, the first of its random "
                            "order. "
                            "The test part is always scored whole.")),
            &DataOptions::validation_samples)};
  return section;
}

}  // namespace nudge
