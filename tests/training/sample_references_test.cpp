// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "training/data/sample_task.hpp"

#include <Eigen/Core>
#include <cmath>

#include "sim/base/interrupts.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/data/linear_model.hpp"
#include "training/data/scores.hpp"
#include "training/train/learning_run.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

SampleParts digits(std::uint64_t split_seed) {
  SampleOptions options;
  options.validation = {0.1, split_seed};
  options.test.fraction = 0.2;
  return load_samples(options, Target::label);
}

}  // namespace

TEST_CASE("L-BFGS finds the minimum of a convex function to the tolerance") {
  // Rosenbrock's function is not convex, but has one stationary point, (1, 1): a harder course than any here.
  Eigen::VectorXd x(2);
  x << -1.2, 1;
  const auto rosenbrock = [](const Eigen::VectorXd& p, Eigen::VectorXd& g) {
    const double a = p(1) - p(0) * p(0), b = 1 - p(0);
    g << -400 * p(0) * a - 2 * b, 200 * a;
    return 100 * a * a + b * b;
  };
  const Minimum found = minimise(rosenbrock, x, {1e-18, 500});
  CHECK(found.converged);
  // The smallest eigenvalue of the Hessian at (1, 1) is .4: f = 1e-18 above its minimum is an error of at most (2e-18/.4)^½ = 2e-9; ten
  // times as much for the Hessian that the steps have shown.
  CHECK((x - Eigen::Vector2d(1, 1)).norm() < 2e-8);
  x << -1.2, 1;
  const Minimum cut = minimise(rosenbrock, x, {1e-18, 5});
  CHECK_FALSE(cut.converged);
  CHECK(cut.evaluations == 5);
}

TEST_CASE("ridge regression is the solution of its normal equations") {
  Samples samples;
  samples.features.resize(60, 3);
  samples.values.resize(60, 2);
  for (Index i = 0; i < 60; ++i) {
    const auto t = static_cast<float>(i);
    samples.features.row(i) << std::sin(t), std::cos(2 * t), 0.1F * t;
    samples.values.row(i) << std::sin(t) + 0.01F * t * t, 1 - 0.3F * t;
  }
  FitLimits limits;
  limits.tolerance = 1e-5;
  limits.threads = 1;
  const LinearModel model = fit_linear_model(samples, 2, LinearLoss::squared, 0.1, limits);
  REQUIRE(model.fit.converged);
  Matrix<double> x = samples.features.cast<double>(), y = samples.values.cast<double>();
  x.rowwise() -= model.centre;
  x /= model.width;
  const Eigen::RowVectorXd mean = y.colwise().mean();
  y.rowwise() -= mean;
  const Matrix<double> h = x.transpose() * x / 60 + 0.1 * Matrix<double>::Identity(3, 3);
  const Matrix<double> exact = solution(h, x.transpose() * y / 60);
  // 1e-5 above the minimum with a Hessian of at least λ = .1 is an error of √(2e-5/.1) = .014 in numbers of order 10.
  CHECK((model.weights - exact).norm() < 0.014);
  CHECK((model.bias - mean).norm() < 0.014);
}

TEST_CASE("the linear classifier is as near its least loss as it says, for any number of threads") {
  const SampleParts parts = digits(0);
  FitLimits limits, exact;
  limits.threads = 1;
  exact.tolerance = 1e-8;
  exact.passes = 1000;
  const LinearModel model = fit_linear_model(parts.training, 10, LinearLoss::cross_entropy, 1e-2, limits);
  const LinearModel best = fit_linear_model(parts.training, 10, LinearLoss::cross_entropy, 1e-2, exact);
  REQUIRE(model.fit.converged);
  REQUIRE(best.fit.converged);
  CHECK(model.fit.evaluations <= limits.passes);
  // Half the decrement is the distance where the Hessian is that of the last steps; a factor of ten for where it is not.
  CHECK(model.fit.value - best.fit.value < 10 * limits.tolerance);
  CHECK(model.fit.value >= best.fit.value - 1e-6);  // products in float
  limits.threads = 3;
  CHECK(fit_linear_model(parts.training, 10, LinearLoss::cross_entropy, 1e-2, limits).weights == model.weights);
}

TEST_CASE("the work of the linear reference is bounded by a number of operations") {
  const SampleParts parts = digits(0);
  const Index n = parts.training.count();  // about 1258 of 64 features
  ReferenceRequest request;
  CHECK(samples_to_fit(n, 64, 10, request) == n);
  request.operations = fit_operations(600, 64, 10, {});
  CHECK(samples_to_fit(n, 64, 10, request) == 512);
  const ReferenceScores few = classification_references(parts, request);
  CHECK(few.samples == 512);
  CHECK(few.of_samples == n);
  CHECK(few.find("linear", "test")->score > 0.9);
  int passes = 0;
  request.progress = [&](const std::string&) { return ++passes < 1000; };
  CHECK(classification_references(parts, request).find("linear", "test")->loss == few.find("linear", "test")->loss);
  CHECK(passes <= 6 * kPassesOnTheWay + FitLimits{}.passes);
  request.progress = [](const std::string&) { return false; };
  CHECK_THROWS_AS(classification_references(parts, request), Interrupted);
  request.operations = 1;
  const ReferenceScores none = classification_references(parts, request);
  CHECK(none.find("linear", "test") == nullptr);
  CHECK(none.find("majority", "test") != nullptr);
  CHECK_THAT(none.note, Catch::Contains("no linear model"));
}

TEST_CASE("65536 classes need neither memory nor time") {
  SampleParts parts;
  parts.classes = 65536;
  for (Samples* part : {&parts.training, &parts.validation, &parts.test}) {
    part->features = Matrix<float>::Random(300, 20);
    for (int i = 0; i < 300; ++i) part->labels.push_back(i * 200);
  }
  const ReferenceScores scores =
      classification_references(parts);  // one matrix of scores a class would be 157 MB, of confusion 34 GB
  CHECK(scores.find("chance", "test")->loss == Approx(std::log(65536.0)));
  CHECK(scores.find("majority", "test")->loss > 0);
  CHECK(scores.find("linear", "test") == nullptr);
  CHECK_THAT(scores.note, Catch::Contains("21 x 65536 parameters"));
  Batch batch{1, 2, {}, {7, 65535}, {}, {}};  // and no network's: a confusion matrix of them would be 34 GB
  Matrix<float> output = Matrix<float>::Zero(2, 65536);
  output(0, 7) = output(1, 8) = 1;
  SampleScores counted(true);
  counted.add<float>(batch, {output});
  CHECK(counted.value() == 0.5);
  CHECK_FALSE(counted.confusion());
}

TEST_CASE("scores of a softmax by hand") {
  Samples samples;
  samples.features = Matrix<float>::Zero(2, 1);
  samples.labels = {1, 0};
  Matrix<float> scores(2, 2);
  scores << 0, std::log(3.0F), 1000, 0;
  CHECK(take_losses(scores, samples, 0, LinearLoss::cross_entropy) == Approx(-std::log(0.75)));
  CHECK(scores(0, 1) == Approx(-0.25));  // softmax less the label
}

TEST_CASE("on the shipped digits the linear classifier is as good as it is known to be") {
  // An independent fit (numpy, Newton's method, the same objective, lambda on validation) over 8 other stratified splits of the
  // same sizes: mean test accuracy .9662, standard deviation between splits .0079. The mean over 4 splits here differs from that
  // one by a deviation of .0079 sqrt(1/4 + 1/8) = .0048: a band of 3 of them, .952 to .981.
  double accuracy = 0;
  for (const std::uint64_t seed : {0U, 1U, 2U, 3U}) {
    const ReferenceScores scores = classification_references(digits(seed));
    const ReferenceScore* linear = scores.find("linear", "test");
    REQUIRE(linear != nullptr);
    CHECK(scores.metric == "accuracy");
    CHECK(scores.find("chance", "test")->score == Approx(0.1));
    CHECK(scores.find("chance", "test")->loss == Approx(std::log(10.0)));
    // Classes hold 174 to 183 of 1797 samples: the majority finds at most 183/1797 = .1018 of a stratified part, to
    // within one sample of 359.
    CHECK(scores.find("majority", "test")->score < 0.106);
    CHECK(scores.find("majority", "test")->score > 0.09);
    CHECK(linear->loss < 0.3);
    CHECK(scores.ridge < 1);
    CHECK(scores.ridge > 1e-5);  // an inner point of the grid
    accuracy += linear->score / 4;
  }
  CHECK(accuracy > 0.952);
  CHECK(accuracy < 0.981);
}

TEST_CASE("regression: a plane is found, the mean is the yardstick") {
  SampleParts parts;
  for (Samples* part : {&parts.training, &parts.validation, &parts.test}) {
    part->features.resize(40, 2);
    part->values.resize(40, 1);
    for (Index i = 0; i < 40; ++i) {
      const auto t = static_cast<float>(i);
      part->features.row(i) << std::sin(t), std::cos(3 * t);
      part->values(i, 0) = 2 * std::sin(t) - std::cos(3 * t) + 5;
    }
  }
  const ReferenceScores scores = regression_references(parts);
  CHECK(scores.metric == "rmse");
  // Values 2 sin − cos + 5 around their mean: √(4/2 + 1/2) = 1.58, to a few percent on 40 points.
  CHECK(scores.find("mean", "test")->score == Approx(1.58).epsilon(0.1));
  // λ = 1e-5 shrinks weights by about 1e-5; 1e-4 above the least loss is an rmse of √2e-4 = 1.4e-2.
  CHECK(scores.find("linear", "test")->score < 1.5e-2);
}

TEST_CASE("confusion counts truth against choice, ties and NaN are settled") {
  Matrix<float> logits(5, 3);
  logits << 1, 2, 0, 3, 3, 0, std::nanf(""), 9, 0, 0, 0, 1, 5, 0, 0;
  const std::vector<int> labels = {1, 1, 1, 2, 0};
  ConfusionMatrix confusion(3);
  confusion.add<float>(logits, labels);
  Matrix<std::int64_t> want(3, 3);
  want << 1, 0, 0, 1, 1, 0, 0, 0, 1;  // row 1: once right, a tie to the lower class
  CHECK(confusion.counts() == want);
  CHECK(confusion.undecided() == 1);
  CHECK(confusion.samples() == 5);
  CHECK(confusion.accuracy() == Approx(0.6));
  confusion.add(confusion);
  CHECK(confusion.correct() == 6);
  CHECK(ConfusionMatrix(3).accuracy() == 0);
  const Matrix<float> wide = Matrix<float>::Ones(2, 6);  // a block of columns is read in place
  ConfusionMatrix block(3);
  block.add<float>(wide.middleCols(2, 3), std::vector<int>{0, 2});
  CHECK(block.correct() == 1);
}

TEST_CASE("references and confusion come back from a file") {
  const TemporaryDirectory folder;
  const ReferenceScores scores{
      "accuracy", "nat", {{"chance", "validation", 2.3, 0.1}, {"linear", "test", 0.2, 0.95}}, 1e-3};
  Matrix<double> logits(2, 2);
  logits << 1, 0, 0, 1;
  ConfusionMatrix confusion(2);
  confusion.add<double>(logits, std::vector<int>{0, 0});
  H5Document document;
  write_reference_scores(scores, document);
  confusion.write("test/confusion", document);
  document.write(folder / "a.h5", Overwrite::must_not_exist);
  const H5Reader file(folder / "a.h5");
  const auto read = read_reference_scores(file);
  REQUIRE(read.has_value());
  CHECK(read->metric == "accuracy");
  CHECK(read->loss_unit == "nat");
  CHECK(read->ridge == 1e-3);
  REQUIRE(read->rows.size() == 2);
  CHECK(read->find("linear", "test")->loss == 0.2);
  CHECK(read->find("linear", "validation") == nullptr);
  const auto matrix = ConfusionMatrix::read("test/confusion", file);
  REQUIRE(matrix.has_value());
  CHECK(matrix->counts() == confusion.counts());
  CHECK_FALSE(ConfusionMatrix::read("other", file).has_value());
}
