// SPDX-License-Identifier: Apache-2.0
// The layered Hopfield network as a network kind: its config, its estimators, a whole training on samples.
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data_files.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/tiny_model.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/data/scores.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;
using Settings = std::vector<std::string>;

namespace {

Config config_of(Settings settings) {
  settings.insert(settings.begin(), {"network.kind=hopfield", "task.kind=classification", "estimator=ep"});
  return parse_program_config("t", "", settings);
}

void check_refusal(const Settings& settings, const std::string& message) {
  CAPTURE(settings);
  try {
    const Config config = config_of(settings);
    network_plan(config, make_task(config)->sizes());
    FAIL("nothing was refused");
  } catch (const UserError& error) {
    CHECK_THAT(error.what(), Contains(message));
  }
}

/// A training of the shipped digits that takes a second.
const Settings kDigits{"seed=1",
                       "hopfield.hidden=[32]",
                       "relaxation.schedule=sweep",
                       "relaxation.step=1",
                       "relaxation.free_steps=8",
                       "relaxation.nudged_steps=5",
                       "beta=0.2",
                       "data.validation_fraction=.1",
                       "data.test_fraction=.2",
                       "train.batch=16",
                       "train.steps=150",
                       "train.warmup=5",
                       "train.learning_rate=5e-3",
                       "train.evaluate_every=75",
                       "train.checkpoint_every=75"};

Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

}  // namespace

TEST_CASE("hopfield: layers that do not fit are refused with what to do", "[hopfield]") {
  check_refusal({"task.kind=characters"},
                "must be block, stack, transformer, sequence_model or free_transformer for task.kind = characters");
  check_refusal({"network.kind=block", "estimator=aep_anchored"},
                "must be hopfield, convolutional, resistive, netlist, oscillator, thermal or predictive_coding for "
                "task.kind = classification");
  check_refusal({"hopfield.activation=tanh"}, "must be hard_sigmoid or relu for hopfield.form = projected");
  check_refusal({"hopfield.output_activation=sigmoid"}, "must be identity, hard_sigmoid or relu");
  check_refusal({"hopfield.feedback=separate"}, "must be transpose or none for hopfield.form = projected");
  check_refusal({"hopfield.feedback=none", "hopfield.form=energy"},
                "must be transpose or separate for hopfield.form = energy");
  check_refusal({"relaxation.solver=anderson"},
                "does not fit: hopfield.form = projected keeps states in a box, and it does not project onto a box; "
                "euler or second_order would");
  check_refusal({"nudge.drive=difference"}, "must be state for hopfield.feedback = transpose");
  check_refusal({"hopfield.hidden=[]", "hopfield.cost=cross_entropy"},
                "must be squared_error where hopfield.hidden is empty");
  check_refusal({"task.kind=regression", "hopfield.cost=cross_entropy"},
                "must be squared_error for task.kind = regression");
  check_refusal({"network.kind=convolutional", "data.shape=[64]"}, "data.shape = (64,) must be an image");
  check_refusal({"network.kind=convolutional", "data.shape=[8,9]"}, "has 72 features");
  check_refusal({"network.kind=convolutional", "convolutional.pool=[3]"},
                "blocks of 3 x 3 do not divide the 8 x 8 image of layer 1");
  check_refusal({"network.kind=convolutional", "convolutional.maps=[4,4]", "convolutional.pool=[4]"},
                "blocks of 4 x 4 do not divide the 2 x 2 image of layer 2");
  check_refusal({"network.kind=convolutional", "convolutional.kernel=[4]"}, "must be odd, 4 has no middle");
  check_refusal(
      {"network.kind=convolutional", "convolutional.kernel=[5]", "convolutional.padding=[0]", "convolutional.pool=[3]"},
      "blocks of 3 x 3 do not divide the 4 x 4 image of layer 1 after its convolution. Blocks of these sides do: 1, 2, "
      "4");
  check_refusal({"network.kind=convolutional", "convolutional.kernel=[9]", "convolutional.padding=[0]"},
                "kernels of 9 x 9 are larger than the 8 x 8 image of layer 1 with its padding of 0");
  check_refusal({"network.kind=convolutional", "convolutional.maps=[4,4,4]", "convolutional.stride=[1,2]"},
                "must have 1 entry, or 3 as convolutional.maps has");
  check_refusal({"network.kind=convolutional", "convolutional.maps=[4,4,4]", "convolutional.pool=[1,2]"},
                "must have 1 entry, or 3 as convolutional.maps has");
  check_refusal({"network.kind=convolutional", "convolutional.maps=[]"}, "must name a layer");
}

TEST_CASE("ep_contrastive is refused where the force has no energy of its own", "[hopfield]") {
  check_refusal(
      {"hopfield.feedback=separate", "hopfield.form=energy", "hopfield.activation=tanh", "estimator=ep_contrastive"},
      "it contrasts energies");
  check_refusal({"network.kind=block", "task.kind=characters", "estimator=ep_contrastive"}, "it contrasts energies");
}

TEST_CASE("ep_contrastive equals ep up to the order of the nudge, and keeps nothing of the free state", "[hopfield]") {
  // Differences of the two rules at β and β/2: 4 : 1 centered, 2 : 1 one-sided; the next order changes that by 10 % here.
  for (const auto& [sides, factor] : {std::pair{"centered", 4.0}, std::pair{"positive", 2.0}}) {
    std::vector<double> differences;
    for (const char* beta : {"0.03", "0.015"}) {
      const auto gradient = [&, nudged = sides](const char* estimator) {
        const Config config =
            config_of({"precision=double", "hopfield.form=energy", "hopfield.activation=tanh", "hopfield.hidden=[6,5]",
                       "relaxation.free_steps=400", "relaxation.nudged_steps=400", "train.batch=4",
                       std::string("nudge.sides=") + nudged, std::string("beta=") + beta});
        const auto task = make_task(config);
        const auto network = make_network<double>(config, network_plan(config, task->sizes()), Weights::digital);
        return learn(*network, task->training(0), gradient_options<double>(config, estimator));
      };
      const auto contrast = gradient("ep_contrastive"), plain = gradient("ep");
      differences.push_back((flat(contrast.gradient) - flat(plain.gradient)).norm());
      CHECK(contrast.report.reads.at(ReadClass::stored).operations == 0);
    }
    CAPTURE(sides);
    CHECK(differences[0] / differences[1] == Approx(factor).epsilon(0.2));
  }
}

TEST_CASE("gradcheck of layered networks: in a box, in sweeps, convolutional, cross-entropy, asymmetric",
          "[hopfield]") {
  // A seed of which no unit comes as near to a kink as the steps of the differences and β.
  const Settings small{"seed=4",
                       "precision=double",
                       "hopfield.hidden=[9]",
                       "train.batch=4",
                       "relaxation.free_steps=800",
                       "relaxation.nudged_steps=800",
                       "gradcheck.finite_difference_entries=6"};
  const std::string reciprocal = "gradcheck.estimators=['ep','ep_contrastive','aep_transposed','implicit']";
  for (const Settings& more : std::initializer_list<Settings>{
           {reciprocal},
           {reciprocal, "relaxation.schedule=sweep", "relaxation.step=1"},
           {reciprocal, "hopfield.activation=relu", "hopfield.output_activation=relu"},
           {reciprocal, "network.kind=convolutional", "convolutional.maps=[3,4]", "convolutional.pool=[2,1]"},
           {reciprocal, "hopfield.cost=cross_entropy"},
           {"gradcheck.estimators=['aep_transposed','linear_adjoint','implicit']", "hopfield.feedback=none"},
           {"gradcheck.estimators=['aep_transposed','linear_adjoint','implicit']", "hopfield.feedback=none",
            "relaxation.schedule=sweep", "relaxation.step=1", "relaxation.free_steps=1"},
           {"gradcheck.estimators=['aep','aep_tracked','aep_transposed','dyadic','implicit']",
            "hopfield.feedback=separate", "hopfield.form=energy", "hopfield.activation=tanh",
            "hopfield.output_activation=tanh"}}) {
    CAPTURE(more);
    const GradcheckReport report = gradcheck(config_of(with(small, more)));
    CHECK(report.reference_converged());
    CHECK(report.difference_settled);
    CHECK(report.stability.abscissa < 0);
    for (const auto& row : report.rows) {
      CAPTURE(row.estimator, row.group);
      if (row.group != "all") continue;
      // As in network_kinds_test.cpp; the contrastive rule has β = 1e-4, of which the square, and rounding of energies over it.
      CHECK(row.agreement.relative_l2 < (row.estimator == "finite_difference" ? 1e-5 : 1e-4));
    }
  }
}

TEST_CASE("the layer that a read-out reads keeps the hidden activation", "[hopfield]") {
  const auto states = [](const Settings& settings) {
    const Config config = config_of(with({"hopfield.hidden=[6]", "precision=double"}, settings));
    return network_plan(config, make_task(config)->sizes())->nodes().back();
  };
  const Node read = states({"hopfield.cost=cross_entropy"});
  CHECK(read.lower == 0);  // the box of hard_sigmoid
  CHECK(read.upper == 1);
  CHECK(std::isinf(states({"hopfield.cost=cross_entropy", "hopfield.output_activation=identity"}).upper));
  CHECK(std::isinf(states({}).upper));  // the state that a squared error sees
  CHECK(states({"hopfield.cost=cross_entropy", "hopfield.activation=relu"}).lower == 0);
}

TEST_CASE("hopfield.feedback = none is a multilayer perceptron, and bptt its backpropagation", "[hopfield]") {
  const Config config = config_of({"precision=double", "hopfield.feedback=none", "hopfield.hidden=[7,5]",
                                   "train.batch=6", "hopfield.gain=2", "relaxation.schedule=sweep", "relaxation.step=1",
                                   "relaxation.free_steps=1", "estimator=bptt"});
  const auto task = make_task(config);
  const auto network = make_network<double>(config, network_plan(config, task->sizes()), Weights::digital);
  CHECK(network->circuit().feed_forward());
  for (const int b : {3, 4, 5}) network->map(b).program(0.3 * random_matrix<double>(1, network->map(b).outputs(), 9));
  const Batch batch = task->training(0);
  REQUIRE(batch.sequences == 1);
  const auto learned = learn(*network, batch, gradient_options<double>(config, ""));
  // By hand: s_l = clip(s_{l−1} W_l + b_l) to [0, 1], the last layer unclipped; backward with 1 inside, 0 outside.
  std::vector<Matrix<double>> s{batch.features.cast<double>()}, pre;
  for (int l = 0; l < 3; ++l) {
    pre.push_back((s.back() * network->map(l).weights()).rowwise() + network->map(3 + l).weights().row(0));
    s.push_back(l < 2 ? Matrix<double>(pre.back().cwiseMax(0).cwiseMin(1)) : pre.back());
  }
  Matrix<double> y = Matrix<double>::Zero(6, 10);
  for (Index i = 0; i < 6; ++i) y(i, batch.targets[static_cast<std::size_t>(i)]) = 1;
  Matrix<double> delta = s[3] - y;
  CHECK(learned.report.loss == Approx(delta.squaredNorm() / 12).epsilon(1e-13));
  for (int l = 2; l >= 0; --l) {
    const Matrix<double> weights = s[static_cast<std::size_t>(l)].transpose() * delta / 6;
    // Sums of some hundred products.
    CHECK((learned.gradient[l] - weights).norm() < 1e-13 * (1 + weights.norm()));
    CHECK((learned.gradient[3 + l] - delta.colwise().sum() / 6).norm() < 1e-13);
    if (l == 0) break;
    const auto& h = pre[static_cast<std::size_t>(l - 1)].array();
    delta = (delta * network->map(l).weights().transpose()).array() * ((h > 0) && (h < 1)).cast<double>();
  }
  CHECK(delta.norm() > 0);
}

TEST_CASE("hopfield learns the shipped digits beyond chance, and its file says how well", "[hopfield]") {
  const TemporaryDirectory dir;
  const TrainSummary s = train(config_of(kDigits), dir / "a.h5");
  CHECK(s.metric == "accuracy");
  CHECK(s.of("validation_accuracy") > 0.8);  // 10 % is chance; this seed finds above 90 %
  CHECK(s.of("test_accuracy") > 0.8);
  REQUIRE(s.references);
  CHECK(s.references->find("linear", "test")->score > 0.9);
  const H5Reader file(dir / "a.h5");
  CHECK(file.meaning("train/validation_loss").unit == "1");
  const auto accuracies = file.reals<double>("train/validation_accuracy");
  REQUIRE(accuracies.size() == 3);
  CHECK(accuracies.back() == s.of("validation_accuracy"));
  for (const auto& [part, score] :
       {std::pair{"validation", s.of("validation_accuracy")}, std::pair{"test", s.of("test_accuracy")}}) {
    const auto counts = ConfusionMatrix::read(std::string("confusion/") + part, file);
    REQUIRE(counts);
    CHECK(counts->accuracy() == score);
  }
  CHECK(ConfusionMatrix::read("confusion/test", file)->samples() == 359);  // 20 % of 1797, a share of each class
  train(config_of(kDigits), dir / "b.h5", [](const TrainProgress& p) { return p.done < 80; });
  CHECK(resume(dir / "b.h5", nullptr).of("test_accuracy") == s.of("test_accuracy"));
  CHECK(differing_objects(dir / "a.h5", dir / "b.h5") == std::vector<std::string>{});
}

TEST_CASE("hopfield fits values, and is scored by their root mean square error", "[hopfield]") {
  const TemporaryDirectory dir;
  std::string csv = "y,u,v\n";
  for (int i = 0; i < 400; ++i) {
    const double u = std::fmod(0.6180339887 * i, 1.0), v = std::fmod(0.7548776662 * i, 1.0);
    csv += std::to_string(u + v - 2 * u * v) + "," + std::to_string(u) + "," + std::to_string(v) + "\n";
  }
  const std::string path = write_bytes(dir / "xor.csv", csv);
  const TrainSummary s =
      train(config_of(with(kDigits, {"task.kind=regression", "data.file=" + path, "data.labels=y", "train.steps=800",
                                     "train.evaluate_every=0", "train.learning_rate=1e-2"})),
            dir / "r.h5");
  CHECK(s.metric == "rmse");
  REQUIRE(s.references);
  // u + v − 2uv has no linear part about its middle: a linear model is no better than the mean, 1/6 of rmse.
  CHECK(s.references->find("linear", "test")->score > 0.12);
  CHECK(s.of("test_rmse") < 0.6 * s.references->find("linear", "test")->score);
  CHECK_FALSE(H5Reader(dir / "r.h5").has("confusion"));
}

TEST_CASE("the pipeline of MNIST: IDX files with a test part of their own, 28 x 28, dense and convolutional",
          "[hopfield]") {
  const TemporaryDirectory dir;
  // Ten classes of blurred bars at their own places, so that a few steps tell them apart.
  const auto write = [&](const std::string& name, int n, int shift) {
    std::string pixels, labels;
    for (int i = 0; i < n; ++i) {
      const int c = (7 * i + shift) % 10;
      labels += static_cast<char>(c);
      for (int y = 0; y < 28; ++y) {
        for (int x = 0; x < 28; ++x) {
          const int noise = (i * 37 + y * 11 + x * 5 + shift) % 40;
          pixels += static_cast<char>((c < 5 ? y : x) / 5 == c % 5 ? 200 + noise : noise);
        }
      }
    }
    write_bytes(dir / (name + "-images.gz"), deflated(idx(8, {n, 28, 28}, pixels), true));
    write_bytes(dir / (name + "-labels"), idx(8, {n}, labels));
  };
  write("train", 600, 0);
  write("test", 100, 3);
  const Settings files{
      "data.file=" + (dir / "train-images.gz").string(), "data.labels=" + (dir / "train-labels").string(),
      "data.test_file=" + (dir / "test-images.gz").string(), "data.test_labels=" + (dir / "test-labels").string()};
  for (const Settings& more :
       {Settings{}, Settings{"network.kind=convolutional", "convolutional.maps=[4]", "convolutional.pool=[4]"}}) {
    const Settings all = with(with(kDigits, files), with({"train.steps=60", "train.evaluate_every=0"}, more));
    const TrainSummary s = train(config_of(all), std::nullopt);
    CAPTURE(more);
    CHECK(s.of("test_accuracy") > 0.5);
    CHECK(s.of("nonfinite") == 0);
  }
  CHECK_THROWS_WITH(train(config_of(with(kDigits, {"data.file=" + (dir / "none").string()})), std::nullopt),
                    Contains("none"));
}

TEST_CASE("hopfield: a nudge of any size has its minimum in a sweep, and a bound in Euler steps", "[hopfield]") {
  const Settings large{"beta=4",         "nudge.sides=positive",   "hopfield.form=energy", "hopfield.activation=tanh",
                       "train.steps=60", "train.evaluate_every=0", "precision=double"};
  const TrainSummary s = train(config_of(with(kDigits, large)), std::nullopt);
  CHECK(s.of("nonfinite") == 0);
  CHECK(s.of("validation_accuracy") > 0.5);  // chance 0.1; a step explicit in the cost multiplies deviations by -4
  // Euler steps of 0.5 settle while 0.5 (1 + beta) < 2; -beta must leave the leak 1 something.
  const Settings parallel = with(large, {"relaxation.schedule=parallel", "relaxation.step=0.5"});
  CHECK_THROWS_WITH(train(config_of(with(kDigits, parallel)), std::nullopt), Contains("must stay below 3"));
  CHECK_THROWS_WITH(train(config_of(with(kDigits, with(large, {"nudge.sides=negative"}))), std::nullopt),
                    Contains("without a minimum to settle in"));
}
