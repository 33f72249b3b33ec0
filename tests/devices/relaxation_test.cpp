// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "devices/device_array.hpp"
#include "devices/fit/fit_relaxation.hpp"
#include "devices/slow/relaxation_law.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shared_file.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// One level of technology C as published, in µS, and a second one of the same.
RelaxationSpec measured_like() {
  RelaxationSpec spec;
  spec.level_S = {15e-6, 25e-6};
  spec.time_s = {0.01, 1, 1e5};
  spec.spread_S = {1.0e-6, 2.4e-6, 3.8e-6, 1.0e-6, 2.4e-6, 3.8e-6};
  spec.mean_S = {-0.1e-6, -0.5e-6, -1.7e-6, -0.1e-6, -0.5e-6, -1.7e-6};
  spec.memory_decades = 9;
  return spec;
}

DeviceSpec relaxing_device() {
  DeviceSpec spec;
  spec.model = "constant_step";
  spec.g_min_S = 0.5e-6;
  spec.g_max_S = 40e-6;
  spec.relaxation = measured_like();
  spec.relaxation.jump_S = {3e-6, 3e-6};
  return spec;
}

Matrix<double> programmed(DeviceArray<double>& array, double g_S) {
  const Matrix<double> target = Matrix<double>::Constant(array.cells().g.rows(), array.cells().g.cols(), g_S);
  array.program(target, 1);
  return target;
}

double deviation(const Matrix<double>& x) { return std::sqrt((x.array() - x.mean()).square().mean()); }

}  // namespace

TEST_CASE("relaxation has the spread, the mean and the correlation of its law at all times", "[relaxation]") {
  DeviceSpec spec = relaxing_device();
  spec.relaxation.jump_S.clear();
  DeviceArray<double> array(spec, 200, 200, {7, 0, 0}, 2);
  programmed(array, 20e-6);
  const RelaxationLaw law(spec.relaxation);
  Matrix<double> earlier;
  double now_s = 0;
  double then_s = 0;  // of `earlier`
  std::uint64_t step = 0;
  // 10.0 and 10.1 ms: nothing begins there; 100 s lies between the times of the table.
  for (const double t : {0.005, 0.01, 0.0101, 1.0, 100.0, 1e5}) {
    array.advance_time(t - now_s, step++, Gathering::none);
    const Matrix<double> change = (array.cells().g.array() - 20e-6).matrix();
    const double sd = std::sqrt(law.variance_S2(20e-6, t));
    // 40000 Gaussian cells know an sd to 0.35 %, a mean to sd/200; 4.5 of these: false alarm 7e-6 each.
    CHECK(std::abs(deviation(change) / sd - 1) < 4.5 * 0.0036);
    CHECK(std::abs(change.mean() - law.mean_S(20e-6, t)) < 4.5 * sd / 200);
    if (then_s > 0) {
      const Matrix<double> a = (earlier.array() - earlier.mean()).matrix();
      const Matrix<double> b = (change.array() - change.mean()).matrix();
      const double r = a.cwiseProduct(b).mean() / (deviation(a) * deviation(b));
      const double expected = std::sqrt(law.variance_S2(20e-6, then_s)) / sd * std::exp(-std::log10(t / then_s) / 9);
      // Before the first time V grows as t, a whole decade is far, and memory does not count: X is one draw there.
      const double closed = t <= 0.01 ? 1 : expected;
      CHECK(std::abs(r - closed) < 4.5 / 200);
    }
    now_s = t;
    if (t == 0.0101) continue;  // between knots, where a change shares its z with that of the next knot
    earlier = change;
    then_s = t;
  }
  CHECK(std::abs(std::sqrt(law.variance_S2(20e-6, 0.0101)) / 1e-6 - 1) < 0.01);
}

TEST_CASE("jumps give relaxation the excess kurtosis of a Levy process", "[relaxation]") {
  DeviceSpec spec = relaxing_device();
  spec.relaxation.memory_decades = 0;
  DeviceArray<double> array(spec, 300, 300, {3, 0, 0}, 2);
  programmed(array, 20e-6);
  array.advance_time(1, 0, Gathering::none);
  const Matrix<double> x = (array.cells().g.array() - array.cells().g.mean()).matrix();
  const double v = x.array().square().mean();
  // 3 J²/V = 3 · 9/5.76 = 4.69. The sampling error of a kurtosis near 8 with such tails is about
  // √(m₈/m₄²)/√n ~ 40/300 = 0.13 (m₈ of normal mixtures); 4.5 of it.
  CHECK(std::abs(x.array().pow(4).mean() / (v * v) - 3 - 3 * 9 / 5.76) < 0.6);
}

TEST_CASE("volatility gives relaxation the tails of a lognormal scale, and leaves its variance", "[relaxation]") {
  DeviceSpec spec = relaxing_device();
  spec.relaxation.jump_S.clear();
  spec.relaxation.volatility.assign(6, 0.5);
  DeviceArray<double> array(spec, 300, 300, {3, 0, 0}, 2);
  programmed(array, 20e-6);
  // At the first time X is one draw, S z with S = exp(h/2 - 1/4): ⟨|x|⟩/sd = √(2/π) exp(-1/8) (ω² = 4 w² = 1).
  array.advance_time(0.01, 0, Gathering::none);
  const Matrix<double> early = (array.cells().g.array() - array.cells().g.mean()).matrix();
  const double sd = deviation(early);
  // ⟨x²⟩ has a variance of (3 e - 1)/n = 7.2/90000: .45 % of an sd, 4.5 of it; ⟨|x|⟩/sd is known better than either.
  CHECK(std::abs(sd / 1e-6 - 1) < 0.02);
  CHECK(std::abs(early.cwiseAbs().mean() / sd / (std::sqrt(2 / M_PI) * std::exp(-0.125)) - 1) < 0.02);
  // That of X at 1 s after a scale that stays is the same: all z have it. Without memory of the scale it is nearer to a normal number's.
  array.advance_time(1 - 0.01, 1, Gathering::none);
  const Matrix<double> late = (array.cells().g.array() - array.cells().g.mean()).matrix();
  CHECK(std::abs(deviation(late) / 2.4e-6 - 1) < 0.02);
  CHECK(std::abs(late.cwiseAbs().mean() / deviation(late) / (std::sqrt(2 / M_PI) * std::exp(-0.125)) - 1) < 0.02);
  spec.relaxation.volatility_memory_decades = 1e-3;
  DeviceArray<double> forgetful(spec, 300, 300, {3, 0, 0}, 2);
  programmed(forgetful, 20e-6);
  forgetful.advance_time(1, 0, Gathering::none);
  const Matrix<double> other = (forgetful.cells().g.array() - forgetful.cells().g.mean()).matrix();
  CHECK(std::abs(deviation(other) / 2.4e-6 - 1) < 0.02);
  // Five draws of like size: ω² of the sum about ln(1 + (e - 1)/5) = .3 instead of 1, 9 % in ⟨|x|⟩/sd; half of that at least.
  CHECK(other.cwiseAbs().mean() / deviation(other) > 1.045 * late.cwiseAbs().mean() / deviation(late));
}

TEST_CASE("skew gives relaxation the third moment of a two-piece normal number, and leaves its variance",
          "[relaxation]") {
  DeviceSpec spec = relaxing_device();
  spec.relaxation.jump_S.clear();
  constexpr double k = -0.6;
  spec.relaxation.skew.assign(6, k);
  DeviceArray<double> array(spec, 300, 300, {3, 0, 0}, 2);
  programmed(array, 20e-6);
  array.advance_time(0.01, 0, Gathering::none);
  const auto moments = [&array] {
    return moments_of({array.cells().g.data(), array.cells().g.data() + array.cells().g.size()});
  };
  // At the first time X is one draw, y = (1 ± k) n without its mean m = 2k/√(2π). ⟨y³⟩ about 0 is 4/√(2π) (3k + k³),
  // with ⟨n³; n > 0⟩ = 2/√(2π).
  const double m = 2 * k / std::sqrt(2 * M_PI), v = 1 + k * k - m * m;
  const double third = 4 / std::sqrt(2 * M_PI) * (3 * k + k * k * k) - 3 * m * (1 + k * k) + 2 * m * m * m;
  const Moments early = moments();
  // 90000 cells: an sd to √((4 - 1)/4/90000) = 0.29 %, a mean to sd/300, a skewness of such tails to √(20/90000) = 0.015; 4 of these.
  CHECK(std::abs(early.sd / 1e-6 - 1) < 0.012);
  CHECK(std::abs(early.mean - 20e-6 + 0.1e-6) < 4e-6 / 300);
  CHECK(std::abs(early.skewness - third / std::pow(v, 1.5)) < 0.06);
  array.advance_time(1 - 0.01, 1, Gathering::none);
  CHECK(std::abs(moments().sd / 2.4e-6 - 1) < 0.012);
  CHECK(moments().skewness < -0.2);  // of a sum of five draws, less than of one
  // k = 0 is the law without skew, bit by bit.
  spec.relaxation.skew.assign(6, 0.0);
  DeviceArray<double> even(spec, 4, 5, {3, 0, 0}, 1);
  DeviceSpec none = spec;
  none.relaxation.skew.clear();
  DeviceArray<double> without(none, 4, 5, {3, 0, 0}, 1);
  for (DeviceArray<double>* one : {&even, &without}) {
    programmed(*one, 20e-6);
    one->advance_time(7, 0, Gathering::none);
  }
  CHECK(even.cells().g == without.cells().g);
}

TEST_CASE("the state of a relaxing cell depends on its write and its age alone", "[relaxation]") {
  DeviceSpec spec = relaxing_device();
  spec.relaxation.volatility.assign(6, 0.6);
  spec.relaxation.volatility_memory_decades = 1;
  spec.relaxation.skew = {0.2, 0.4, 0.6, -0.3, -0.9, -1};
  DeviceArray<double> often(spec, 8, 40, {7, 2, 1}, 1);
  DeviceArray<double> once(spec, 8, 40, {7, 2, 1}, 2);
  programmed(often, 20e-6);
  programmed(once, 20e-6);
  for (std::uint64_t k = 0; k < 64; ++k) often.advance_time(16, k, Gathering::none);  // exact sums
  once.advance_time(1024, 0, Gathering::none);
  CHECK(often.cells().g == once.cells().g);
  // A checkpoint in the middle.
  DeviceArray<double> restored(spec, 8, 40, {7, 2, 1}, 1);
  restored.cells() = once.cells();
  auto from = once.slow_state();
  auto to = restored.slow_state();
  REQUIRE(from.size() == to.size());
  for (std::size_t i = 0; i < from.size(); ++i) *to[i].values = *from[i].values;
  restored.state_restored();
  once.advance_time(1e4, 1, Gathering::none);
  restored.advance_time(1e4, 9, Gathering::none);
  CHECK(once.cells().g == restored.cells().g);
  // A write begins anew: from what is left, on another path.
  const Matrix<double> left = once.cells().g;
  once.update(Matrix<double>::Constant(8, 40, 1e-6), 1.0, 5);
  CHECK((once.cells().g - left).cwiseAbs().maxCoeff() < 2e-6);
  once.advance_time(1024, 2, Gathering::none);
  CHECK((once.cells().g - left).cwiseAbs().maxCoeff() > 2e-6);
}

TEST_CASE("a fit finds the relaxation that made the data", "[relaxation]") {
  DeviceSpec spec = relaxing_device();
  constexpr Index cells = 4000;
  std::string csv = "cell,time_ms,conductance_uS,level,nominal\n";
  const std::array<double, 2> levels = {15e-6, 25e-6};
  for (std::size_t l = 0; l < levels.size(); ++l) {
    DeviceArray<double> array(spec, 1, cells, {11, static_cast<std::uint32_t>(l), 0}, 1);
    programmed(array, levels[l]);
    double now_s = 0;
    std::uint64_t step = 0;
    for (const double t : {0.0, 0.01, 1.0, 1e5}) {
      array.advance_time(t - now_s, step++, Gathering::none);
      now_s = t;
      for (Index i = 0; i < cells; ++i) {
        csv += fmt::format("{},{:.17g},{:.17g},{},{:.17g}\n", i + 10000 * static_cast<Index>(l), 1e3 * t,
                           1e6 * array.cells().g.data()[i], l, t);
      }
    }
  }
  const RelaxationFit fit = parse_and_fit_relaxation(csv, "made.csv");
  REQUIRE(fit.spec.spread_S.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    // Kurtosis of at most 30 after 10 ms: √(29/16000) = 4.3 % of an sd, a mean sd/63; 4 of these.
    CHECK(std::abs(fit.spec.spread_S[i] / spec.relaxation.spread_S[i] - 1) < 0.18);
    CHECK(std::abs(fit.spec.mean_S[i] - spec.relaxation.mean_S[i]) < 4 * spec.relaxation.spread_S[i] / 63);
    CHECK(std::abs(fit.rows[i].sd_model_S / fit.rows[i].sd_measured_S - 1) < 0.18);
  }
  // The correlations are known to 1/63; the shift of exp(−5 decades/9) by 2/63 moves the memory by 10 %, and V and the grid add 6 %.
  CHECK(std::abs(fit.spec.memory_decades / 9 - 1) < 0.25);
}

TEST_CASE("a fit of relaxation says what is wrong with its table", "[relaxation]") {
  const auto problem = [](const std::string& text) {
    try {
      parse_and_fit_relaxation(text, "f.csv");
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK_THAT(problem("cell,tme,conductance\n"), Contains("f.csv:1: unknown column \"tme\" (did you mean time?)"));
  CHECK_THAT(problem("cell,time\n1,2\n"), Contains("f.csv:1: column \"conductance\" is missing"));
  CHECK_THAT(problem("cell,time_s,conductance_uS\n1,-1,2\n"), Contains("f.csv:2: time -1 is negative"));
  CHECK_THAT(problem("cell,time_s,conductance_uS\n1,1,2 uS\n"), Contains("f.csv:2: conductance \"2 uS\""));
  CHECK_THAT(problem("cell,time_S,conductance\n1,1,2\n"), Contains("f.csv:1: column \"time_S\""));
  CHECK_THAT(problem("cell,time,conductance_uS\n1,1,nan\n"), Contains("no measurements"));  // a missing reading
  CHECK_THAT(problem("cell,time,conductance\n1,1,2\n"), Contains("f.csv:2") && Contains("wire"));
  CHECK_THAT(problem("cell,time,conductance_uS\n1,1,2\n"), Contains("f.csv: 1 time"));
  CHECK_THAT(problem("cell,time,conductance_uS\n1,1\n"), Contains("f.csv:2: 2 cells"));
  CHECK_THAT(problem("1,2,3\n"), Contains("f.csv:1: 3 columns without a header"));
  CHECK_THAT(problem("cell,time,conductance\n"), Contains("no measurements"));
  std::string same = "cell,time,conductance_uS\n";
  for (int i = 0; i < 400; ++i) {
    for (const int t : {0, 1, 100}) same += fmt::format("{},{},{}\n", i, t, 10);
  }
  CHECK_THAT(problem(same), Contains("no level") || Contains("no spread"));
}

TEST_CASE("tables of relaxation are checked", "[relaxation]") {
  DeviceSpec spec = relaxing_device();
  CHECK_NOTHROW(spec.validate());
  spec.relaxation.mean_S.pop_back();
  CHECK_THROWS_AS(spec.validate(), UserError);
  spec = relaxing_device();
  spec.relaxation.volatility = {0.5};
  CHECK_THROWS_WITH(spec.validate(), Contains("relaxation_volatility must have a number for each level and time"));
  spec.relaxation.volatility.assign(6, -0.1);
  CHECK_THROWS_WITH(spec.validate(), Contains("relaxation_volatility must be in"));
  spec = relaxing_device();
  spec.relaxation.skew = {0.5};
  CHECK_THROWS_WITH(spec.validate(), Contains("relaxation_skew must have a number for each level and time"));
  spec.relaxation.skew.assign(6, 1.1);
  CHECK_THROWS_WITH(spec.validate(), Contains("relaxation_skew must be in"));
  spec = relaxing_device();
  spec.relaxation.time_s = {1, 1, 2};
  CHECK_THROWS_AS(spec.validate(), UserError);
  spec = relaxing_device();
  spec.relaxation.time_s.clear();
  CHECK_THROWS_AS(spec.validate(), UserError);
  spec = relaxing_device();
  spec.retention.drift_exponent = 0.1;
  CHECK_THROWS_AS(spec.validate(), UserError);
}

TEST_CASE("relaxation of measured cells of technology C", "[relaxation]") {
  const auto path = test::shared_file("data/devices/rram_c_relaxation.tsv.gz");
  if (!path) return;
  const RelaxationFit fit = fit_relaxation(path->string());
  REQUIRE(fit.rows.size() > 25);
  // Cells beyond 4 sd of all levels together, measured and of the law, at each time.
  std::map<double, std::array<double, 3>> tails;
  for (const RelaxationRow& row : fit.rows) {
    const auto n = static_cast<double>(row.cells);
    auto& [measured, model, cells] = tails[row.time_s];
    measured += n * row.tail_measured;
    model += n * row.tail_model;
    cells += n;
  }
  for (const auto& [time_s, at] : tails) {
    CAPTURE(time_s, 100 * at[0] / at[2], 100 * at[1] / at[2]);
    // 53 to 172 cells are counted: √n of them, 3 of these (five checks: false alarm 1.3 %), and a tenth for what a lognormal scale is not.
    CHECK(std::abs(at[1] - at[0]) < 3 * std::sqrt(at[0]) + 0.1 * at[0]);
  }
  // 16000 cells of ten pairs of times know a rank correlation to 1/√16000 = .008, and the pairs are no better than one memory for all.
  CHECK(std::abs(fit.volatility.persistence_model - fit.volatility.persistence_measured) < 0.04);
  CHECK(fit.volatility.persistence_measured > 0.08);
  for (const RelaxationRow& row : fit.rows) {
    INFO("level " << row.level_S << " S after " << row.time_s << " s");
    CHECK(std::abs(row.sd_model_S / row.sd_measured_S - 1) < 0.1);     // asked for
    CHECK(std::abs(row.mean_model_S - row.mean_measured_S) < 0.3e-6);  // asked for
  }
  // Measured correlations of two times go from 0.06 to 0.86; 0.1 rms is what one memory for all levels leaves (measured).
  CHECK(fit.correlation_error < 0.12);
}
