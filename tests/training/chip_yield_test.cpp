// SPDX-License-Identifier: Apache-2.0
// Two neurons that drive each other, F = x + z W − z: eigenvalues of J = Wᵀ − 1 by hand, over chips of other seeds.
#include "tests/support/catch.hpp"
#include "training/check/stability.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <complex>
#include <numbers>

#include "sim/base/product.hpp"
#include "sim/io/h5_document.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/run_in_double.hpp"
#include "training/check/choices.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_parts.hpp"
#include "training/sweep/sweep.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

const char* const kTwoNeurons =
    "precision = 'double'\nthreads = 1\n[hardware]\nlevel = 'ideal'\n[model]\nchannels = 2\ntokens = 3\nmemories = "
    "0\nheads = 1\n"
    "attention_gain = 0\ncoupling_antisymmetric = 2\n[damping]\ncontrol = false\n[train]\nbatch = 2\n"
    "[relaxation]\nstep = 0.1\nfree_steps = 100\nnudged_steps = 100\n";

Config two_neurons(std::uint64_t seed, double scale, const std::vector<std::string>& more = {}) {
  std::vector<std::string> all = {"seed=" + std::to_string(seed), fmt::format("model.coupling_scale={}", scale)};
  all.insert(all.end(), more.begin(), more.end());
  return parse_program_config("two.toml", kTwoNeurons, all);
}

/// The leading eigenvalue −1 + tr/2 + √(tr²/4 − det) of the 2 × 2 matrix.
std::complex<double> by_hand(const Config& config) {
  const RunParts parts = circuit_parts(config);
  const auto network = make_network<double>(config, parts.plan, Weights::digital);
  const std::vector<Parameter> parameters = parts.plan->parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Matrix<double>& w = network->map(static_cast<int>(p)).weights();
    if (w.rows() != 2 || w.cols() < 2 || parameters[p].name != "Winput") continue;
    const Matrix<double> c = w.rightCols(2);
    const double half = (c(0, 0) + c(1, 1)) / 2, det = c(0, 0) * c(1, 1) - c(0, 1) * c(1, 0);
    return -1.0 + half + std::sqrt(std::complex<double>(half * half - det));
  }
  FAIL("no coupling");
  return {};
}

}  // namespace

TEST_CASE("a study of chips forms its products by the library of its config", "[stability]") {
  for (const ProductKernel kernel : {ProductKernel::portable, ProductKernel::automatic}) {
    const bool portable = kernel == ProductKernel::portable;
    set_product_kernel(kernel);
    const std::string name = product_kernel_name();
    set_product_kernel(portable ? ProductKernel::automatic : ProductKernel::portable);
    chip_yield(two_neurons(1, 0.1, {std::string("product.kernel=") + (portable ? "portable" : "auto")}), 1);
    CHECK(product_kernel_name() == name);
  }
}

TEST_CASE("the spectrum of two neurons is that of their coupling, chip by chip", "[stability]") {
  // W = P of spread 1.2/√2 with twice its antisymmetric part: some turn, some do not, some grow.
  const ChipYield found = chip_yield(two_neurons(1, 1.2), 24);
  REQUIRE(found.chips.size() == 24);
  int settles = 0, turning = 0;
  for (std::size_t k = 0; k < found.chips.size(); ++k) {
    const std::complex<double> exact = by_hand(two_neurons(1 + k, 1.2));
    CAPTURE(k, exact.real(), exact.imag());
    // Arnoldi stops at 1e-6 of |λ|, and rotations of a non-normal 2 × 2 matrix keep that of the eigenvalue to a few times it.
    CHECK(found.chips[k].abscissa == Approx(exact.real()).margin(1e-5));
    CHECK(found.chips[k].frequency == Approx(std::abs(exact.imag())).margin(1e-5));
    CHECK(found.chips[k].settles == (exact.real() < 0));
    settles += exact.real() < 0 ? 1 : 0;
    turning += exact.imag() != 0 ? 1 : 0;
  }
  REQUIRE(settles > 0);
  REQUIRE(settles < 24);
  REQUIRE(turning > 0);
  CHECK(found.yield == settles / 24.0);
  CHECK(found.interval.low < found.yield);
  CHECK(found.interval.high > found.yield);
  CHECK(found.margin == -found.chips.front().abscissa);
}

TEST_CASE("two neurons that turn lose their equilibrium at a Hopf point of the frequency of their coupling",
          "[stability]") {
  // Scaling the coupling by g moves the eigenvalues to −1 + g μ: it is lost at g = 1/Re μ, turning at g |Im μ|.
  std::uint64_t seed = 1;
  std::complex<double> leading = by_hand(two_neurons(seed, 1));
  while (leading.imag() == 0 || leading.real() < -0.9) leading = by_hand(two_neurons(++seed, 1));
  const std::complex<double> mu = leading + 1.0;
  for (const double side : {0.99, 1.01}) {
    const double g = side / mu.real();
    const ChipYield found = chip_yield(two_neurons(seed, g), 1);
    CHECK(found.margin == Approx(1 - side).margin(1e-5));
    CHECK(found.hopf_frequency == Approx(g * std::abs(mu.imag())).margin(1e-5));
    CHECK(found.yield == (side < 1 ? 1 : 0));
    // F is linear: no derivative of it is left to bend the oscillation, but for rounding of differences of 1e-3, 1e-16/1e-6.
    REQUIRE(found.hopf.found);
    CHECK(found.hopf.frequency == Approx(g * std::abs(mu.imag())).margin(1e-9));
    CHECK(found.hopf.lyapunov == Approx(0).margin(1e-8));
    if (side > 1) CHECK(found.verdict.find("unstable: perturbations of the equilibrium grow") == 0);
    CHECK_THAT(found.verdict, Catch::Contains("Hopf"));
  }
}

TEST_CASE("two neurons that turn are lost to amplifiers that are too slow, at the bandwidth of their quadratic",
          "[stability]") {
  // λ (1 + τ_a λ) = α + iω, α < 0, crosses the axis at τ_a = −α/ω², where it turns at ω.
  std::uint64_t seed = 1;
  std::complex<double> leading = by_hand(two_neurons(seed, 1));
  while (std::abs(leading.imag()) < 0.3 || leading.real() > -0.1) leading = by_hand(two_neurons(++seed, 1));
  const double omega = std::abs(leading.imag()), lost = -leading.real() / (omega * omega);
  const auto bandwidth = [&](double share) { return 1 / (2 * std::numbers::pi * share * lost * 25e-9); };  // tau 25 ns
  const auto at = [&](double share) {
    return two_neurons(
        seed, 1,
        {"circuit.time_constant=25 ns", fmt::format("circuit.amplifier_bandwidth={:.17g} Hz", bandwidth(share))});
  };
  for (const double share : {0.99, 1.01}) {
    const double lag = share * lost;
    const std::complex<double> root = (std::sqrt(1.0 + 4 * lag * leading) - 1.0) / (2 * lag);
    const ChipYield found = chip_yield(at(share), 1);
    CHECK(found.margin == Approx(-root.real()).margin(1e-5));
    CHECK(found.hopf_frequency == Approx(std::abs(root.imag())).margin(1e-5));
    CHECK(found.yield == (share < 1 ? 1 : 0));
    REQUIRE(found.hopf.found);
    if (share > 1) CHECK_THAT(found.verdict, Catch::Contains("raise circuit.amplifier_bandwidth"));
  }
  // Followed along the bandwidth, to which the equilibrium itself is deaf.
  const FollowedKey followed = follow_key(at(0.5), at(2), "circuit.amplifier_bandwidth", 100);
  std::vector<BranchPoint> special;
  for (const BranchPoint& point : followed.branch.points) {
    if (point.kind == BranchKind::hopf) special.push_back(point);
  }
  REQUIRE_FALSE(special.empty());
  CHECK(special.front().parameter == Approx(bandwidth(1)).epsilon(1e-7));
  CHECK(special.front().frequency == Approx(omega).epsilon(1e-6));
}

namespace {

constexpr double kTau = 25e-9;

/// A ring of six channels, each driven by k times the next less the one before, with amplifiers of a bandwidth: the eigenvalues of J are −1
/// and −1 ± i√3 k. It settles for 200 τ. `file`: gets the weights.
Config ring(const std::filesystem::path& file, double k, double bandwidth) {
  const std::vector<std::string> shape = {"model.channels=6", "circuit.time_constant=25 ns", "relaxation.step=0.01",
                                          "relaxation.free_steps=20000",
                                          fmt::format("circuit.amplifier_bandwidth={:.17g} Hz", bandwidth)};
  const auto plan = circuit_parts(two_neurons(1, 1, shape)).plan;
  std::vector<Matrix<double>> weights;
  plan->initial(1, weights);
  H5Document document;
  for (const ParameterGroup& g : plan->groups()) {
    Matrix<double> w = weights[static_cast<std::size_t>(g.parameter)].middleCols(g.columns.begin, g.columns.count);
    if (g.name == "Wc") {
      w.setZero();
      for (Index i = 0; i < 6; ++i) {
        w((i + 1) % 6, i) = k;
        w((i + 5) % 6, i) = -k;
      }
    }
    document.matrix<double>("parameters/" + g.name, w, {"1", "weights", {"input", "output"}});
  }
  document.write(file, Overwrite::replace);
  std::vector<std::string> all = shape;
  all.push_back("model.weights=" + file.string());
  return two_neurons(1, 1, all);
}

/// Largest real part of the eigenvalues of the ring with its amplifiers, dz/dt = y, dy/dt = (J z − y)/τ_a, from all of the 12 × 12 matrix.
double ring_abscissa(double k, double bandwidth) {
  const double lag = 1 / (2 * std::numbers::pi * bandwidth * kTau);
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(12, 12);
  for (Index i = 0; i < 6; ++i) {
    a(i, 6 + i) = 1;
    a(6 + i, i) = a(6 + i, 6 + i) = -1 / lag;
    a(6 + i, (i + 1) % 6) = k / lag;
    a(6 + i, (i + 5) % 6) = -k / lag;
  }
  return Eigen::EigenSolver<Eigen::MatrixXd>(a, false).eigenvalues().real().maxCoeff();
}

}  // namespace

TEST_CASE("a ring is lost to amplifiers below its Hopf point at 11.5 MHz, by verdict, eigenvalues and free phase",
          "[stability]") {
  const TemporaryDirectory folder;
  // λ (1 + τ_a λ) = −1 + iω crosses the axis at τ_a = 1/ω², ω = √3 k.
  const double hopf = 11.5e6, k = std::sqrt(2 * std::numbers::pi * hopf * kTau / 3);
  REQUIRE(ring_abscissa(k, hopf) == Approx(0).margin(1e-9));
  for (const double bandwidth : {14e6, 10.5e6}) {
    CAPTURE(bandwidth);
    const bool stays = bandwidth > hopf;
    const double own = ring_abscissa(k, bandwidth);
    CHECK((own < 0) == stays);
    const Config config = ring(folder / "ring.h5", k, bandwidth);
    const ChipYield found = chip_yield(config, 1);
    CHECK(found.margin == Approx(-own).margin(1e-5));  // Arnoldi stops at 1e-6 of |λ|, of a matrix that is not normal
    CHECK(found.yield == (stays ? 1 : 0));
    CHECK(found.verdict.starts_with(stays ? "settled" : "unstable"));
    // Perturbations of about 1 shrink by e^(200 a), a = −0.068, or grow by e^5.4: an Euler step of 0.01 shifts a by about ω²/200 = 0.009.
    CHECK((stays ? found.phases.residual < 1e-4 : found.phases.residual > 0.1));
    RunInDouble run(config);
    const Equilibrium phases = run.run.verdict(run.task->training(0));
    CHECK(phases.unstable == (stays ? 0 : 1));
    CHECK(phases.settled == (stays ? 1 : 0));
    CHECK(phases.abscissa == Approx(own).margin(1e-4));
    CHECK(phases.sound() == stays);
    if (!stays)
      CHECK_THAT(sentence(phases),
                 Catch::StartsWith("unstable: 100 %") && Catch::Contains("circuit.amplifier_bandwidth"));
  }
}

TEST_CASE("a gain-bandwidth is followed with the bandwidth that it leaves the amplifiers", "[stability]") {
  std::uint64_t seed = 1;
  std::complex<double> leading = by_hand(two_neurons(seed, 1));
  while (std::abs(leading.imag()) < 0.3 || leading.real() > -0.1) leading = by_hand(two_neurons(++seed, 1));
  const double lost = -leading.real() / (leading.imag() * leading.imag());
  const auto bandwidth = [&](double share) { return 1 / (2 * std::numbers::pi * share * lost * kTau); };
  const auto at = [&](const std::string& key, double hertz) {
    return two_neurons(seed, 1,
                       {"circuit.time_constant=25 ns", "device.preset=ecram", "circuit.amplifier=opa847",
                        fmt::format("{}={:.17g} Hz", key, hertz)});
  };
  const auto crossing = [&](const std::string& key, double factor) {
    const FollowedKey found = follow_key(at(key, factor * bandwidth(0.4)), at(key, factor * bandwidth(2.5)), key, 200);
    for (const BranchPoint& point : found.branch.points) {
      if (point.kind == BranchKind::hopf) return point.parameter;
    }
    return 0.0;
  };
  const std::string closed = "circuit.amplifier_bandwidth", product = "circuit.gain_bandwidth";
  const Config open = at(product, 1e9);
  const RunParts parts = circuit_parts(open);
  const auto network = make_network<double>(open, parts.plan, Weights::configured);
  const double gain = 1e9 / bandwidth_left_Hz(open, *network);  // noise gain of the heaviest line
  REQUIRE(gain > 1);
  const double edge = crossing(closed, 1);
  REQUIRE(edge > 0);
  CHECK(crossing(product, gain) == Approx(gain * edge).epsilon(1e-7));  // both are located to 1e-10 of their ranges
  const auto refused = [&](const Config& here, const Config& there, const std::string& key) {
    try {
      follow_key(here, there, key, 10);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("followed");
  };
  Config fixed = at(product, 1e9), moved = at(product, 2e9);
  for (Config* one : {&fixed, &moved}) one->set_from_text(closed, "5 MHz");
  CHECK_THAT(refused(fixed, moved, product), Catch::Contains("does not move the force"));
  Config endless = open;
  endless.set_from_text(product, "infinite");
  CHECK_THAT(refused(open, endless, product), Catch::Contains("begin and end at a finite one"));
}

TEST_CASE("the equilibrium of two neurons is followed along the scale of their coupling to its Hopf point",
          "[stability]") {
  std::uint64_t seed = 1;
  std::complex<double> leading = by_hand(two_neurons(seed, 1));
  while (leading.imag() == 0 || leading.real() < -0.9) leading = by_hand(two_neurons(++seed, 1));
  const std::complex<double> mu = leading + 1.0;
  const double end = 1.5 / mu.real();
  const FollowedKey followed =
      follow_key(two_neurons(seed, 0.1 / mu.real()), two_neurons(seed, end), "model.coupling_scale", 100);
  CHECK(followed.branch.end == BranchEnd::reached);
  CHECK(followed.branch.points.back().parameter == end);
  std::vector<BranchPoint> special;
  for (const BranchPoint& point : followed.branch.points) {
    if (point.kind != BranchKind::regular) special.push_back(point);
  }
  REQUIRE(special.size() == 3);  // each of the three tokens turns on its own, and alike
  for (const BranchPoint& point : special) {
    CHECK(point.kind == BranchKind::hopf);
    // Arnoldi's space is all of it, so that its eigenvalues are exact to rounding; they are located to 1e-10 of the range.
    CHECK(point.parameter == Approx(1 / mu.real()).epsilon(1e-8));
    CHECK(point.frequency == Approx(std::abs(mu.imag()) / mu.real()).epsilon(1e-8));
  }
}

TEST_CASE("what cannot be followed is refused", "[stability]") {
  const Config here = two_neurons(1, 0.4);
  const auto refused = [&](const Config& there, const std::string& key) {
    try {
      follow_key(here, there, key, 10);
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string("followed");
  };
  using Catch::Contains;
  CHECK_THAT(refused(here, "model.coupling_scale"), Contains("must differ from the value of the config"));
  CHECK_THAT(refused(two_neurons(1, 0.4, {"model.channels=4"}), "model.channels"), Contains("one real number"));
  CHECK_THAT(refused(here, "model.dampin"), Contains("--follow: model.dampin (must be a key"));
  CHECK_THAT(refused(two_neurons(1, 0.4, {"train.learning_rate=0.5"}), "train.learning_rate"),
             Contains("does not move the force"));
}

TEST_CASE("a sweep over stability has at every point what a chip has", "[stability]") {
  const TemporaryDirectory folder;
  const Sweep sweep =
      run_sweep({"two.toml",
                 kTwoNeurons,
                 {"sweep.run=stability", "sweep.seeds=[1, 2]", "sweep.grid.model.coupling_scale=[0.4, 0.8]"}},
                {folder / "map.h5", false});
  REQUIRE(sweep.points.size() == 4);
  REQUIRE(sweep.metrics.front().name == "abscissa");
  for (const SweepPoint& point : sweep.points) {
    const std::complex<double> exact =
        by_hand(two_neurons(static_cast<std::uint64_t>(point.seed), std::stod(point.values.front())));
    CAPTURE(point.seed, point.values.front());
    CHECK(point.status == "ok");
    CHECK(point.metrics.front() == Approx(exact.real()).margin(1e-5));  // as above
    CHECK(point.metrics.back() == (exact.real() < 0 ? 1 : 0));
  }
}

TEST_CASE("a training logs the margin of its batches", "[stability]") {
  const Config config = two_neurons(1, 0.8, {"train.margin_every=2", "train.learning_rate=1e-3"});
  RunInDouble run(config);
  run.train(3);
  const std::vector<double>& margins = run.run.log().values("train/margin");
  REQUIRE(margins.size() == 2);
  CHECK(run.run.log().values("train/margin_step") == std::vector<double>{0, 2});
  CHECK(margins.front() == Approx(-by_hand(config).real()).margin(1e-5));  // before any weight has moved
  CHECK(margins.back() != margins.front());
}

TEST_CASE("a contraction that weakens is warned of before it is too weak, and one that wavers is not", "[stability]") {
  // 100 steps forget at a rate -ln rho of ln(1000)/100 = 0.06908 and more.
  const std::vector<double> steps{0, 10, 20, 30, 40, 50};
  const auto said = [&](double slope) {
    std::vector<double> decays;
    for (const double step : steps) decays.push_back(std::exp(-(0.2 - slope * step)));
    return decay_forecast(steps, decays, 100);
  };
  // At step 50 and eight intervals of ten further on: 0.2 - 130 slope against 0.06908, which is passed above a slope of 0.0010071.
  CHECK(said(0.0010).empty());
  CHECK_THAT(said(0.00102), Catch::Contains("a free step leaves 0.862 of a perturbation") &&
                                Catch::Contains("above 0.933 a perturbation survives 100 free steps"));
  CHECK(said(-0.002).empty());
  CHECK(decay_forecast(steps, {0.82, 0.83, 0.81, 0.825, 0.815, 0.82}, 100).empty());
  CHECK(decay_forecast({0, 10, 20, 30}, {0.8, 0.83, 0.87, 0.9}, 100).empty());     // too few to tell
  CHECK(decay_forecast(steps, {0.8, 0.85, 0.89, 0.92, 0.93, 0.94}, 100).empty());  // the alarm has said it
  CHECK(decay_forecast(steps, {0.8, 0.82, 0.84, 0.86, 0.88, 0}, 100).empty());     // unknown
  CHECK_FALSE(decay_forecast(steps, {0.8, 0.82, 0.84, 0.86, 0.88, 0.9}, 100).empty());
}

TEST_CASE("a run whose steps are sweeps tells its contraction from its own phase", "[stability]") {
  const auto logged = [](const std::string& schedule, const char* step) {
    RunInDouble run(parse_program_config(
        "h.toml",
        "precision = 'double'\nthreads = 1\nestimator = 'ep'\nbeta = 1e-3\n[network]\nkind = 'hopfield'\n[hopfield]\n"
        "hidden = [16]\n[task]\nkind = 'classification'\n[train]\nbatch = 4\nmargin_every = 1\n",
        {"relaxation.schedule=" + schedule, step, "relaxation.free_steps=12"}));
    run.train(1);
    return std::pair(run.run.log().last("train/margin_decay"), run.run.verdict(run.task->training(0)).residual);
  };
  const auto [sweep, left] = logged("sweep", "relaxation.step=1");
  REQUIRE(left > 0);
  // The verdict is after one update of the weights, which moves ln rho by far less than 5 %.
  CHECK(std::log(sweep) == Approx(std::log(left) / 12).epsilon(0.05));
  const auto [parallel, unused] = logged("parallel", "relaxation.step=0.5");
  static_cast<void>(unused);
  CHECK(parallel > 0.4);  // of leaks 1 and couplings: |1 - 0.5 (1 +- mu)|
  CHECK(parallel < 1);
}

TEST_CASE("an alarm sounds where free steps no longer forget, whatever the residual", "[stability]") {
  StabilityReport report;
  report.leading.push_back({{-0.05, 0.0}});
  report.abscissa = -0.05;
  report.decay = 0.995;  // .995^100 = .61, .995^2000 = 4e-5
  CHECK_THAT(stability_alarm(report, 100), Catch::Contains("margin 0.05 per tau: 100 free steps leave 0.61"));
  CHECK(stability_alarm(report, 2000).empty());
  report.abscissa = 0.01;
  CHECK_FALSE(stability_alarm(report, 2000).empty());
  report.feed_forward = true;
  CHECK(stability_alarm(report, 100).empty());
}
