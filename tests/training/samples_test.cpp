// SPDX-License-Identifier: Apache-2.0
#include "training/data/samples.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "sim/base/errors.hpp"
#include "tests/support/data_files.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/config_table.hpp"
#include "training/data/readers/readers.hpp"
#include "training/data/sample_task.hpp"
#include "training/models/registry.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// Scaled numbers in the units of their file.
Matrix<float> undone(const FeatureScaling& scaling, Matrix<float> y) {
  for (Index j = 0; j < y.cols(); ++j) {
    const double gain = scaling.gain()[static_cast<std::size_t>(j)];
    const double offset = scaling.offset()[static_cast<std::size_t>(j)];
    y.col(j) = (y.col(j).cast<double>().array() / gain + offset).cast<float>();
  }
  return y;
}

Config config_of(std::vector<std::string> settings) {
  settings.insert(settings.begin(), {"task.kind=classification", "network.kind=hopfield"});
  return parse_program_config("t", "", settings);
}

/// n samples whose first feature is their number, labels in blocks of unequal size.
LabelledData numbered(Index n) {
  LabelledData data;
  data.features.resize(n, 2);
  for (Index i = 0; i < n; ++i) {
    data.features.row(i) << static_cast<double>(i), static_cast<double>((i * i) % 17) - 5;
    data.labels.push_back(i < n / 2 ? 0 : i < 9 * n / 10 ? 1 : 2);
  }
  data.shape = {2};
  return data;
}

std::vector<Index> sorted(std::vector<Index> v) {
  std::sort(v.begin(), v.end());
  return v;
}

}  // namespace

TEST_CASE("shuffled is a permutation for every size, and uniform in where it sends each number") {
  const RngKey key{3, Purpose::batch_order, 1};
  for (const std::uint64_t n : {1U, 2U, 3U, 4U, 5U, 16U, 17U, 63U, 64U, 65U, 1000U}) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t to = shuffled(i, n, key, 7);
      REQUIRE(to < n);
      seen.insert(to);
    }
    CHECK(seen.size() == n);
  }
  // Pairs (i, π(i)) of n = 12 over 6000 permutations: 144 cells of 500 expected. Row and column sums are fixed, so χ² has
  // (n − 1)² = 121 degrees of freedom, mean 121, σ = √242 = 15.6; mean + 5 σ = 199 (false alarm about 1e-5, one fixed seed).
  constexpr std::uint64_t n = 12, times = 6000;
  std::vector<double> cells(n * n, 0);
  for (std::uint64_t step = 0; step < times; ++step) {
    for (std::uint64_t i = 0; i < n; ++i) cells[i * n + shuffled(i, n, key, step)] += 1;
  }
  double chi2 = 0;
  for (const double c : cells) chi2 += (c - 500) * (c - 500) / 500;
  CHECK(chi2 < 199);
  CHECK(chi2 > 121 - 5 * 15.6);  // nor more even than chance
}

TEST_CASE("a split is disjoint, complete, stratified and a function of its seed alone") {
  const LabelledData data = numbered(1000);
  const auto split_of = [&](std::uint64_t seed, std::uint64_t test_seed) {
    return split_samples(1000, data.labels, {0.15, seed}, {0.2, test_seed});
  };
  const SampleSplit split = split_of(0, 0);
  CHECK(split.test.size() == 200);
  CHECK(split.validation.size() == 150);
  std::vector<Index> all = split.training;
  all.insert(all.end(), split.validation.begin(), split.validation.end());
  all.insert(all.end(), split.test.begin(), split.test.end());
  std::vector<Index> every(1000);
  std::iota(every.begin(), every.end(), 0);
  CHECK(sorted(all) == every);
  const auto share = [&](const std::vector<Index>& part, int label) {
    return std::count_if(part.begin(), part.end(),
                         [&](Index i) { return data.labels[static_cast<std::size_t>(i)] == label; });
  };
  // Classes have 500, 400 and 100 samples: shares are whole numbers here, so exact.
  CHECK(share(split.test, 0) == 100);
  CHECK(share(split.test, 1) == 80);
  CHECK(share(split.test, 2) == 20);
  CHECK(share(split.validation, 0) == 75);
  CHECK(share(split.validation, 2) == 15);
  CHECK(split_of(0, 0).training == split.training);
  CHECK(split_of(1, 0).validation != split.validation);
  CHECK(split_of(0, 1).test != split.test);
  CHECK(sorted(split.test) != split.test);  // not in the order of the file, so that its first ones are a random sample
}

TEST_CASE("no split of any seed trains or chooses on a sample of the test part") {
  const LabelledData data = numbered(1000);
  const std::vector<Index> test = split_samples(1000, data.labels, {0.15, 0}, {0.2, 0}).test;
  std::vector<bool> seen(1000, false);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const SampleSplit split = split_samples(1000, data.labels, {0.15, seed}, {0.2, 0});
    CHECK(split.test == test);
    for (const auto* part : {&split.training, &split.validation}) {
      for (const Index i : *part) seen[static_cast<std::size_t>(i)] = true;
    }
  }
  for (const Index i : test) CHECK_FALSE(seen[static_cast<std::size_t>(i)]);
  CHECK(std::count(seen.begin(), seen.end(), true) == 800);
}

TEST_CASE("odd sizes are split to within one sample of each class, and to the nearest in total") {
  for (const Index n : {7, 23, 101}) {
    const LabelledData data = numbered(n);
    const SampleSplit split = split_samples(n, data.labels, {0.13, 5}, {0.21, 5});
    CHECK(static_cast<double>(split.test.size()) == std::floor(0.21 * static_cast<double>(n) + 0.5));
    for (int label = 0; label < 3; ++label) {
      const auto count = [&](const std::vector<Index>& part) {
        return static_cast<double>(std::count_if(
            part.begin(), part.end(), [&](Index i) { return data.labels[static_cast<std::size_t>(i)] == label; }));
      };
      const double of_class = count(split.training) + count(split.validation) + count(split.test);
      CHECK(std::abs(count(split.test) - 0.21 * of_class) <= 1);
    }
  }
}

TEST_CASE("scaling is fitted to the training part alone and undone exactly enough") {
  LabelledData data = numbered(500);
  SampleOptions options;
  options.scaling = "none";
  options.test.fraction = 0.2;
  const SampleParts raw = prepare_samples(data, "d", {}, "", options);
  // An outlier in a test sample must not move the scale that training sees.
  const auto outlier = static_cast<Index>(raw.test.features(0, 0));
  for (const std::string kind : {"unit", "unit_each", "standard"}) {
    options.scaling = kind;
    const SampleParts before = prepare_samples(data, "d", {}, "", options);
    LabelledData moved = data;
    moved.features(outlier, 0) = 1e6;
    moved.features(outlier, 1) = -1e6;
    const SampleParts after = prepare_samples(moved, "d", {}, "", options);
    CHECK(after.training.features == before.training.features);
    CHECK(after.validation.features == before.validation.features);
    CHECK(after.scaling.gain() == before.scaling.gain());
    CHECK(after.test.features(0, 0) > 100);  // not clipped
    const Matrix<double> x = before.training.features.cast<double>();
    if (kind == "unit") {
      CHECK(x.minCoeff() == 0);
      CHECK(x.maxCoeff() == 1);
      CHECK(before.scaling.gain()[0] == before.scaling.gain()[1]);
    } else if (kind == "unit_each") {
      for (Index j = 0; j < 2; ++j) CHECK((x.col(j).minCoeff() == 0 && x.col(j).maxCoeff() == 1));
    } else {
      // n numbers, each rounded to float (6e-8 of at most about 3): mean and deviation within 2e-7.
      for (Index j = 0; j < 2; ++j) {
        CHECK(std::abs(x.col(j).mean()) < 2e-7);
        CHECK(std::abs(x.col(j).squaredNorm() / static_cast<double>(x.rows()) - 1) < 1e-6);
      }
    }
    const Matrix<float> back = undone(before.scaling, before.training.features);
    // y has error 2^-24 |y| ≤ 2^-24 · 4, stretched by 1/gain ≤ 500; x itself another 2^-24 · 500.
    CHECK((back - raw.training.features).cwiseAbs().maxCoeff() < 5 * 500 * 6e-8F);
  }
}

TEST_CASE("a feature that training never varies is shifted, not blown up") {
  Matrix<double> training(3, 2), other(1, 2);
  training << 0.1, 1, 0.1, 2, 0.1, 4;
  other << 0.6, 1;
  for (const std::string kind : {"unit_each", "standard"}) {
    const FeatureScaling scaling(kind, training);
    CHECK(scaling.applied(other)(0, 0) == Approx(0.5));
  }
}

TEST_CASE("a feature far from 0, as a time stamp or a frequency, is scaled as one near 0") {
  const auto text = [](double offset, int i) {
    return fmt::format("{},{:.3f}\n", i % 2, offset + 0.125 * ((i * 7) % 16));
  };
  SampleOptions options;
  options.scaling = "standard";
  options.test.fraction = 0.2;
  const auto read = [&](double offset) {
    std::string csv;
    for (int i = 0; i < 80; ++i) csv += text(offset, i);
    return prepare_samples(parse_csv(csv, "t.csv", {"t.csv"}, Target::label), "t.csv", {}, "", options);
  };
  const SampleParts near = read(0);
  for (const double offset : {1e6, 1e7, 1e8, 1e12}) {
    const SampleParts far = read(offset);
    // The offset's mean is rounded to 2^-53 of it, over a deviation of 0.58; then both round to float.
    const double bound = 4 * offset * 0x1p-53 / 0.5 + 4e-7;
    const auto apart = [](const Matrix<float>& a, const Matrix<float>& b) {
      return static_cast<double>((a - b).cwiseAbs().maxCoeff());
    };
    CHECK(apart(far.training.features, near.training.features) < bound);
    CHECK(apart(far.test.features, near.test.features) < bound);
  }
}

TEST_CASE("an epoch shows every sample once, batches are functions of seed and step") {
  const LabelledData data = numbered(50);
  Samples samples{data.features.cast<float>(), data.labels, {}};
  std::vector<Index> epochs[3];
  for (std::uint64_t step = 0; step * 8 < 150; ++step) {  // 8 does not divide 50: batches span epochs
    const Batch batch = epoch_batch(samples, 8, 1, step);
    REQUIRE(batch.sequences == 8);
    REQUIRE(batch.tokens == 1);
    for (Index b = 0; b < 8; ++b) {
      const auto which = static_cast<Index>(batch.features_of(b)(0, 0));
      CHECK(batch.targets_of(b)[0] == data.labels[static_cast<std::size_t>(which)]);
      CHECK(batch.features_of(b)(0, 1) == samples.features(which, 1));
      const std::uint64_t place = step * 8 + static_cast<std::uint64_t>(b);
      if (place < 150) epochs[place / 50].push_back(which);
    }
  }
  std::vector<Index> every(50);
  std::iota(every.begin(), every.end(), 0);
  for (const auto& epoch : epochs) CHECK(sorted(epoch) == every);
  CHECK(epochs[0] != epochs[1]);
  CHECK(epoch_batch(samples, 8, 1, 5).features == epoch_batch(samples, 8, 1, 5).features);
  CHECK(epoch_batch(samples, 8, 2, 5).features != epoch_batch(samples, 8, 1, 5).features);
}

TEST_CASE("held-out batches hold every sample once, in order, the last batch what is left") {
  const LabelledData data = numbered(50);
  const Samples samples{data.features.cast<float>(), data.labels, {}};
  const std::vector<Batch> all = batches_of(samples, 16);
  REQUIRE(all.size() == 4);
  CHECK(all[3].sequences == 2);
  CHECK(all[3].features.rows() == 2);
  CHECK(all[1].features == samples.features.middleRows(16, 16));
  const std::vector<Batch> some = batches_of(samples, 16, 20);
  REQUIRE(some.size() == 2);
  CHECK(some[1].sequences == 4);
}

TEST_CASE("classification: sizes, the shipped digits, a resumed run's batches, fingerprints") {
  const ClassificationTask task(config_of({"data.test_fraction=0.2", "train.batch=32"}));
  const TaskSizes sizes = task.sizes();
  CHECK(sizes.rows == 16);  // side by side
  CHECK(sizes.symbols == 0);
  CHECK(sizes.classes == 10);
  CHECK(sizes.features == 64);
  CHECK(sizes.shape == std::vector<Index>{8, 8});
  CHECK(task.parts().test.count() == 359);       // round(.2 · 1797)
  CHECK(task.parts().validation.count() == 90);  // round(.25 · 1797) − 359
  const Batch batch = task.training(1234);
  CHECK(batch.indices.empty());
  CHECK(batch.features.rows() == 32);
  CHECK(batch.features.maxCoeff() <= 1);
  const ClassificationTask again(config_of({"data.test_fraction=0.2", "train.batch=32"}));
  CHECK(again.training(1234).features == batch.features);
  CHECK(again.training(1234).targets == batch.targets);
  CHECK(again.fingerprint() == task.fingerprint());
  // Another training seed: other batches, the same parts.
  const ClassificationTask reseeded(config_of({"data.test_fraction=0.2", "train.batch=32", "seed=9"}));
  CHECK(reseeded.fingerprint() == task.fingerprint());
  CHECK(reseeded.training(1234).features != batch.features);
  const ClassificationTask resplit(config_of({"data.test_fraction=0.2", "train.batch=32", "data.split_seed=1"}));
  CHECK(resplit.fingerprint() != task.fingerprint());
  // Drawn from the run's seed: the parts of that number, and others for another seed.
  const auto by_seed = [](const std::string& seed) {
    return ClassificationTask(
               config_of({"data.test_fraction=0.2", "train.batch=32", "data.split_seed=seed", "seed=" + seed}))
        .fingerprint();
  };
  CHECK(by_seed("1") == resplit.fingerprint());
  CHECK(by_seed("2") != by_seed("1"));
  CHECK(ClassificationTask(config_of({"data.test_fraction=0"})).test().empty());
  CHECK(ClassificationTask(config_of({"data.validation_samples=20", "train.batch=16"})).validation().size() == 2);
}

TEST_CASE("a predefined test part is taken as it is, scaled by training") {
  const TemporaryDirectory folder;
  std::string train, test = "l,x\n1,400\n0,-20\n";
  for (int i = 0; i < 40; ++i) train += std::to_string(i % 2) + "," + std::to_string(i) + "\n";
  const ClassificationTask task(config_of({"data.file=" + write_bytes(folder / "a.csv", train),
                                           "data.test_file=" + write_bytes(folder / "b.csv", test),
                                           "data.test_labels=l", "data.validation_fraction=0.25"}));
  CHECK(task.parts().training.count() == 30);
  CHECK(task.parts().validation.count() == 10);
  REQUIRE(task.parts().test.count() == 2);
  CHECK(task.parts().test.labels == std::vector<int>{1, 0});
  CHECK(task.parts().test.features(0, 0) > 10);
  CHECK(task.parts().test.features(1, 0) < 0);
}

TEST_CASE("regression: values beside features, scaled and back") {
  const TemporaryDirectory folder;
  std::string text = "a,b,x\n";
  for (int i = 0; i < 60; ++i)
    text += std::to_string(i) + "," + std::to_string(100 - 2 * i) + ",1." + std::to_string(i) + "\n";
  const RegressionTask task(parse_program_config(
      "t", "",
      {"task.kind=regression", "network.kind=hopfield", "data.file=" + write_bytes(folder / "a.csv", text),
       "data.labels=a,b", "data.value_scaling=standard", "train.batch=4"}));
  const TaskSizes sizes = task.sizes();
  CHECK(sizes.classes == 0);
  CHECK(sizes.features == 1);
  CHECK(sizes.values == 2);
  const Batch batch = task.training(3);
  CHECK(batch.targets.empty());
  REQUIRE(batch.values.rows() == 4);
  CHECK(batch.values_of(0).cols() == 2);
  const Matrix<float> values = undone(task.parts().value_scaling, batch.values);
  // b = 100 − 2 a in every row; float numbers of order 100, scaled and back: 100 · 2^-22.
  for (Index i = 0; i < 4; ++i) CHECK(std::abs(values(i, 1) - (100 - 2 * values(i, 0))) < 1e-4F);
}

TEST_CASE("a network of symbols refuses a task of features") {
  CHECK_THROWS_WITH(config_of({"network.kind=block"}),
                    Catch::Contains("network.kind = block (must be hopfield, convolutional, resistive, netlist, "
                                    "oscillator, thermal or predictive_coding for task.kind = "
                                    "classification, which has features"));
}

TEST_CASE("a label far beyond the others is asked about") {
  const auto classes_of = [](int mistyped, Index classes) {
    LabelledData data = numbered(100);
    data.labels[7] = mistyped;
    SampleOptions options;
    options.classes = classes;
    return prepare_samples(data, "a", {}, "", options).classes;
  };
  CHECK_THROWS_WITH(classes_of(60000, 0), Catch::Contains("label 60000 of sample 7") &&
                                              Catch::Contains("60001 classes, and 4 of them have a sample") &&
                                              Catch::Contains("data.classes = 60001"));
  CHECK(classes_of(60000, 60001) == 60001);
  CHECK(classes_of(15, 0) == 16);  // a quarter
  CHECK_THROWS_WITH(classes_of(16, 0), Catch::Contains("17 classes"));
}

TEST_CASE("empty and single classes and features of one value are said, and a sound task says nothing") {
  const auto notes_of = [](const LabelledData& data, Index classes) {
    SampleOptions options;
    options.classes = classes;
    return sample_notes(prepare_samples(data, "a", {}, "", options));
  };
  LabelledData data = numbered(100);
  CHECK(notes_of(data, 3).empty());
  REQUIRE(notes_of(data, 5).size() == 1);
  CHECK_THAT(notes_of(data, 5)[0], Catch::Contains("2 of 5 classes have no training sample (3, 4)"));
  data.features.col(1).setConstant(7);
  REQUIRE(notes_of(data, 3).size() == 1);
  CHECK_THAT(notes_of(data, 3)[0], Catch::Contains("1 of 2 features are constant"));
  std::fill(data.labels.begin(), data.labels.end(), 1);
  data.features.setZero();
  const auto all = notes_of(data, 2);
  REQUIRE(all.size() == 3);
  CHECK_THAT(all[1], Catch::Contains("all training samples are of one class"));
  CHECK_THAT(all[2], Catch::Contains("2 of 2 features") && Catch::Contains("nothing to learn from"));
}

TEST_CASE("a data set is called by its name, with its test part, or says which package has it") {
  std::vector<std::string> named{"task.kind=classification", "network.kind=hopfield", "data.file=fashion-mnist"};
  const SampleOptions options = sample_options(config_of(named));
  REQUIRE(options.named != nullptr);
  CHECK_THROWS_WITH(options.named->folder("no/such"), Catch::Contains("has no train-images-idx3-ubyte"));
  CHECK(named_data("mnist.npz") == nullptr);
  named.push_back("data.labels=labels.gz");
  CHECK_THROWS_WITH(config_of(named), Catch::Contains("includes labels and a test split"));
}
