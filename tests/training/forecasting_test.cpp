// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "training/data/series.hpp"

#include <cmath>
#include <fstream>

#include "tests/support/temporary_directory.hpp"
#include "training/config/config_table.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

using Texts = std::vector<std::string>;

const char* const kSmall =
    "[network]\nkind = 'sequence_model'\n[task]\nkind = 'forecasting'\n[model]\nchannels = 8\nheads = 2\ntokens = 6\n"
    "[series]\npatch = 2\nhorizon = 2\nlength = 400\n"
    "[train]\nsteps = 4\nbatch = 5\nevaluation_batches = 2\ntest_batches = 3\n[data]\nvalidation_fraction = 0.1\n"
    "test_fraction = 0.2\n";

Config small(const Texts& settings = {}) { return parse_program_config("small.toml", kSmall, settings); }

/// Two columns, 100 steps: t and its square.
std::filesystem::path two_columns(const TemporaryDirectory& folder) {
  const auto path = folder / "two.csv";
  std::ofstream file(path);
  file << "time,square\n";
  for (int t = 0; t < 100; ++t) file << t << ',' << t * t << '\n';
  return path;
}

}  // namespace

TEST_CASE("mackey_glass: rests where gain and loss agree, and its error falls with the square of the step") {
  for (const double x : mackey_glass(1.0, 50, 10)) CHECK(x == Approx(1.0).margin(1e-14));  // 0.2/(1 + 1) = 0.1
  const auto at = [](int steps) { return mackey_glass(1.2, 60, steps).back(); };
  // Orders p of a second-order method from three steps: (x_h − x_h/2)/(x_h/2 − x_h/4) = 4 + O(h).
  CHECK((at(10) - at(20)) / (at(20) - at(40)) == Approx(4.0).margin(0.4));
}

TEST_CASE("seasonal: its innovations have the variance of a forecast one step ahead, and far ahead that of the noise") {
  const Index n = 20000;
  const std::vector<double> x = seasonal(n, 7);
  std::vector<double> noise;
  for (Index t = 0; t < n; ++t) {
    const double angle = 2 * M_PI * static_cast<double>(t);
    noise.push_back(x[static_cast<std::size_t>(t)] - std::sin(angle / 24) - std::sin(angle / 168) / 2);
  }
  double innovations = 0, all = 0;
  for (std::size_t t = 1; t < noise.size(); ++t) {
    innovations += std::pow(noise[t] - 0.7 * noise[t - 1], 2) / static_cast<double>(n);
    all += noise[t] * noise[t] / static_cast<double>(n);
  }
  // A variance of n normal numbers has the relative deviation sqrt(2/n) = .01; with memory sqrt(2 (1 + φ²)/((1 − φ²) n)) = .017. Four of them.
  CHECK(innovations == Approx(seasonal_floor(1)).epsilon(0.04));
  CHECK(all == Approx(seasonal_floor(1000)).epsilon(0.07));
  CHECK(seasonal_floor(1) == Approx(0.09));
}

TEST_CASE("forecasting: windows are the series in standard units, less the last known value, parts follow in time") {
  const TemporaryDirectory folder;
  const auto task = make_task(small({"series.file=\"" + two_columns(folder).string() + "\""}));
  const TaskSizes sizes = task->sizes();
  CHECK(sizes.rows == 6);
  CHECK(sizes.features == 3);
  CHECK(sizes.values == 2);
  // Training is 0..69: mean 34.5, variance (70² − 1)/12.
  const double unit = std::sqrt((70.0 * 70 - 1) / 12);
  for (const std::vector<Batch>& part : {task->validation(), task->test()}) {
    const Batch& batch = part.front();
    CHECK(batch.counted(0) == 2);
    // The first of time: a straight line, known values at distances −7..0 from the last, unknown ones at 1..4.
    for (Index t = 0; t < 6; ++t) {
      for (Index i = 0; i < 2; ++i) {
        const double distance = static_cast<double>(2 * t + i - 7);
        CHECK(batch.features(t, i) == Approx(t < 4 ? distance / unit : 0.0).margin(1e-5));
        CHECK(batch.values(t, i) == Approx(t < 4 ? 0.0 : distance / unit).margin(1e-5));
      }
      CHECK(batch.features(t, 2) == (t < 4 ? 0.0F : 1.0F));
      CHECK(batch.counts(t) == (t >= 4));
    }
  }
  // The square at t: the first forecast of validation starts at 70, of test at 80; differences tell where a window is.
  const double mean = 69.0 * 139 / 6;  // Σ t²/70
  double variance = 0;
  for (int t = 0; t < 70; ++t) variance += std::pow(t * t - mean, 2) / 70;
  const auto first_of = [&](const Batch& batch) {
    return double{batch.values(6 + 4, 0)} * std::sqrt(variance);
  };  // t² − (t − 1)²
  CHECK(first_of(task->validation().front()) >= 2 * 70 - 1 - 1e-2);
  CHECK(first_of(task->validation().back()) <= 2 * 76 - 1 + 1e-2);  // the last forecast ends at 79
  CHECK(first_of(task->test().front()) >= 2 * 80 - 1 - 1e-2);
  for (std::uint64_t step = 0; step < 30; ++step) {
    const Batch batch = task->training(step);
    for (Index b = 0; b < 5; ++b) {
      const double change = batch.values(6 * b + 4, 0), rise = change * std::sqrt(variance);
      if (change != Approx(1 / unit).margin(1e-5)) CHECK(rise <= 2 * 66 - 1 + 1e-2);
    }
  }
}

TEST_CASE(
    "forecasting: the linear model comes near the least error that the noise of a seasonal series allows, the mean "
    "change does not") {
  // A week, 22 patches of 8, and a day ahead.
  const auto task = make_task(
      small({"series.length=6000", "series.patch=8", "series.horizon=3", "model.tokens=24", "train.batch=64"}));
  const auto scores = task->references({});
  REQUIRE(scores);
  // In standard units of the training part: the courses have ½ and ⅛, the noise .09/.51.
  double floor = 0;
  for (Index ahead = 1; ahead <= 24; ++ahead) floor += seasonal_floor(ahead) / 24;
  const double least = std::sqrt(floor / (0.5 + 0.125 + seasonal_floor(1000)));
  const double linear = scores->find("linear", "test")->score, mean = scores->find("mean", "test")->score;
  // Below by chance: 192 windows of 24 values that hold ~8 independent ones, 2.5 % of the error; above by what 176 coefficients cost on 4,600
  // windows, 176/4600 of the variance were they independent, and what one week alone tells of the courses under noise.
  CHECK(linear > 0.93 * least);
  CHECK(linear < 1.15 * least);
  CHECK(mean > 1.8 * least);
  CHECK(scores->find("linear", "test")->loss == Approx(linear * linear * 8 / 2).epsilon(1e-9));
}

TEST_CASE("forecasting: a sequence model learns a series, with and without tokens that see what comes later") {
  const TemporaryDirectory folder;
  std::vector<double> errors;
  for (const char* mask : {"causal", "bidirectional"}) {
    const TrainSummary s =
        train(small({std::string("mixer.mask=") + mask, "train.steps=150", "train.batch=16", "train.learning_rate=1e-2",
                     "task.references=[\"mean\"]", "series.length=2000", "series.patch=4"}),
              folder / (std::string(mask) + ".h5"));
    CHECK(s.failure.empty());
    REQUIRE_FALSE(std::isnan(s.of("test_rmse")));
    errors.push_back(s.of("test_rmse"));
  }
  const auto scores = make_task(small({"series.length=2000", "series.patch=4"}))->references({{"mean"}});
  for (const double error : errors) CHECK(error < 0.9 * scores->find("mean", "test")->score);
  CHECK(errors[0] != errors[1]);
}

TEST_CASE("forecasting: columns are chosen by name, and the others may hold dates and words") {
  const TemporaryDirectory folder;
  const auto path = folder / "traffic.csv";
  std::ofstream out(path);
  out << "datetime,temp,volume,weather\n";
  for (int t = 0; t < 100; ++t) out << "2016-10-01 " << t % 24 << ":00:00," << t << "," << (t * t) % 17 << ",Clouds\n";
  out.close();
  const auto options = [&](const std::string& columns) {
    return series_options(small({"series.file=\"" + path.string() + "\"", "series.columns=" + columns}));
  };
  const Matrix<double> both = read_series(options("volume,temp"));
  REQUIRE((both.rows() == 100 && both.cols() == 2));
  CHECK((both(20, 0) == 400 % 17 && both(20, 1) == 20));
  CHECK(read_series(options("temp")).cols() == 1);
  CHECK_THROWS_WITH(read_series(options("volum")),
                    Contains("no column series.columns = \"volum\"") && Contains("volume"));
  CHECK_THROWS_WITH(read_series(options("weather")), Contains("line 2: field 4 is \"Clouds\" (must be a number)"));
  CHECK_THROWS_WITH(read_series(options("temp,temp")), Contains("names a column twice"));
  CHECK_THROWS_WITH(make_task(small({"series.columns=temp"})), Contains("series.file"));
}

TEST_CASE("forecasting: what cannot be forecast is refused with what would help") {
  const TemporaryDirectory folder;
  const auto made = [](const Texts& settings) { make_task(small(settings)); };
  const auto path = folder / "constant.csv";
  std::ofstream(path)
      << "1,2\n1,3\n1,4\n1,5\n1,6\n1,7\n1,8\n1,9\n1,2\n1,3\n1,4\n1,5\n1,6\n1,7\n1,8\n1,9\n1,2\n1,3\n1,4\n1,5\n";
  const Texts short_windows = {"series.file=\"" + path.string() + "\"", "series.patch=1", "series.horizon=1",
                               "model.tokens=3"};
  CHECK_THROWS_WITH(made(short_windows), Contains("column 1 has one value, 1,"));
  CHECK_THROWS_WITH(made({"series.file=\"" + path.string() + "\"", "series.patch=4"}),
                    Contains("split of a series of 20 steps is shorter than one window"));
  CHECK_THROWS_WITH(made({"series.horizon=6"}), Contains("must be below model.tokens = 6"));
  CHECK_THROWS_WITH(made({"series.file=\"" + (folder / "none.csv").string() + "\""}), Contains("none.csv"));
  CHECK_THROWS_WITH(small({"network.kind=free_transformer"}), Contains("must be sequence_model"));
  CHECK_THROWS_WITH(parse_program_config("t.toml", "[series]\npatch = 4\n", {}), Contains("series.patch"));
}

TEST_CASE("series: windows for networks of samples are those of forecasting, of every variable, part by part") {
  const TemporaryDirectory folder;
  const Config config =
      parse_program_config("series.toml",
                           "estimator = 'bptt'\n[network]\nkind = 'hopfield'\n[hopfield]\nhidden = [4]\n[task]\nkind = "
                           "'series'\n[series]\npatch = 2\nhorizon = 1\n"
                           "file = '" +
                               two_columns(folder).string() +
                               "'\n[data]\nframes = 3\nvalidation_fraction = 0.1\ntest_fraction = 0.2\nside_by_side = "
                               "1\n[relaxation]\nstep = 0.5\n[train]\nbatch = 4\n",
                           {});
  const auto task = make_task(config);
  CHECK(task->sizes().features == 2);
  CHECK(task->sizes().values == 2);
  // 100 steps: training ends at 70, so its forecasts start at 6 ... 68; of the test part at 80 ... 98.
  Index tested = 0;
  for (const Batch& batch : task->test()) tested += batch.counted();
  CHECK(tested == 2 * 19);
  const Batch first = task->validation().front();
  CHECK(first.features.cols() == 6);
  // The column t, standardised by 0 ... 69: deviation √((70² − 1)/12). The first window ends at 69; the values are those of 70 and 71.
  const double unit = std::sqrt(12.0 / (70 * 70 - 1));
  for (Index k = 0; k < 6; ++k) CHECK(first.features(0, k) == Approx(static_cast<double>(k - 5) * unit).margin(1e-6));
  CHECK(first.values(0, 0) == Approx(unit).margin(1e-6));
  CHECK(first.values(0, 1) == Approx(2 * unit).margin(1e-6));
  CHECK(train(config, std::nullopt).failure.empty());
}
