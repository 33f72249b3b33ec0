// SPDX-License-Identifier: Apache-2.0
// T tokens at arrays that carry one vector: replicas of their own, or turns with holds that leak.
#include <cmath>

#include "circuits/circuit_spec.hpp"
#include "circuits/linear_map_factory.hpp"
#include "circuits/token_maps.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/config.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/tiny_block.hpp"

using namespace nudge;
using test::random_matrix;
using test::relative_error;

namespace {

constexpr Index kIn = 9, kOut = 7, kTokens = 3, kCopies = 2;

CrossbarSpec replicated(CrossbarSpec spec) {
  spec.tokens = {TokenUse::replicated, kTokens, 0, 0};
  return spec;
}

CrossbarSpec rough() {
  CrossbarSpec spec;
  spec.device.model = "soft_bounds";
  spec.device.programming_error = 0.02;
  spec.device.update = PulseMode::pulsed;
  spec.device.update_noise = 0.3;
  return spec;
}

Matrix<double> weights() { return random_matrix<double>(kIn, kOut, 1, 0.4); }

template <class S>
const ReplicatedMap<S>& replicas_of(const LinearMap<S>& map) {
  return dynamic_cast<const ReplicatedMap<S>&>(map);
}

Matrix<double> forward(const LinearMap<double>& map, const Matrix<double>& x, ReadContext read = {}) {
  Matrix<double> y(x.rows(), map.outputs());
  map.forward(x, y, map.all_columns(), Store::assign, read);
  return y;
}

Matrix<double> transposed(const LinearMap<double>& map, const Matrix<double>& y, ReadContext read = {}) {
  Matrix<double> x(y.rows(), map.inputs());
  map.transposed(y, x, map.all_columns(), Store::assign, read);
  return x;
}

double reading(const LinearMap<double>& map, const std::string& name) {
  for (const MapReading& one : map.readings()) {
    if (one.name == name) return one.value;
  }
  FAIL("no reading " + name);
  return 0;
}

}  // namespace

TEMPLATE_TEST_CASE("replicas without errors are one array", "[tokens]", float, double) {
  using S = TestType;
  CrossbarSpec spec;
  spec.device.model = "ideal";
  const Matrix<S> w = random_matrix<S>(kIn, kOut, 1);
  const auto one = make_linear_map<S>(spec, w, 4, 7);
  const auto many = make_linear_map<S>(replicated(spec), w, 4, 7);
  const Columns part{2, 3};
  for (const Store store : {Store::assign, Store::add, Store::subtract}) {
    const Matrix<S> x = random_matrix<S>(kCopies * kTokens, kIn, 2);
    const Matrix<S> u = random_matrix<S>(kCopies * kTokens, part.count, 3);
    Matrix<S> y1 = u, y2 = u, x1 = x, x2 = x;
    ReadContext a, b;
    one->forward(x, y1, part, store, a);
    many->forward(x, y2, part, store, b);
    one->transposed(u, x1, part, store, a);
    many->transposed(u, x2, part, store, b);
    CHECK(a.read == b.read);
    // Sums of at most 9 products in another order of rounding, of numbers whose sum is not small: 9 u, and a margin of 10.
    const double bound = 90 * static_cast<double>(std::numeric_limits<S>::epsilon());
    CHECK(relative_error(y2, y1) < bound);
    CHECK(relative_error(x2, x1) < bound);
  }
  // The same devices: the mean of three equal numbers is off by roundings of the sum.
  CHECK(relative_error(many->weights(), one->weights()) < 4 * static_cast<double>(std::numeric_limits<S>::epsilon()));
}

TEST_CASE("each token reads an array of its own: errors, writes and noise", "[tokens]") {
  CrossbarSpec spec = rough();
  spec.device.read_noise = 0.01;
  const auto map = make_linear_map<double>(replicated(spec), weights(), 4, 7);
  const Matrix<double> delta = random_matrix<double>(kIn, kOut, 5, 0.05);
  map->apply_update(delta);
  const Matrix<double> x = random_matrix<double>(kCopies * kTokens, kIn, 2);
  const Matrix<double> y = forward(*map, x);
  Matrix<double> mean = Matrix<double>::Zero(kIn, kOut);
  for (Index t = 0; t < kTokens; ++t) {
    // The arrays that replicas are documented to be: number 4 + t 2^18.
    Crossbar<double> array(spec, weights(), 4 + (static_cast<std::uint32_t>(t) << 18U), 7);
    array.apply_update(delta);
    CHECK((array.weights() == replicas_of(*map).replica(t).weights()));
    Matrix<double> own(kCopies, kIn);
    for (Index k = 0; k < kCopies; ++k) own.row(k) = x.row(k * kTokens + t);
    const Matrix<double> expected = forward(array, own);
    for (Index k = 0; k < kCopies; ++k) {
      CHECK(relative_error(y.row(k * kTokens + t), expected.row(k)) < 1e-14);  // noise included: sums of 9, as above
    }
    mean += array.weights() / static_cast<double>(kTokens);
  }
  CHECK(relative_error(map->weights(), mean) < 1e-15);
  // 2 % of w_max of both devices of a pair, before the update; replicas differ.
  CHECK(reading(*map, "replica_spread") > 1e-3);
  // One array instead reads all tokens with the first replica's weights: it gives something else for the other tokens.
  const auto one = make_linear_map<double>(spec, weights(), 4, 7);
  one->apply_update(delta);
  CHECK(relative_error(forward(*one, x).row(1), y.row(1)) > 1e-3);
  // The same vector on all tokens: noise of replicas is independent.
  const Matrix<double> same = Matrix<double>::Ones(kTokens, kIn);
  ReadContext quiet;
  quiet.policy = ReadPolicy::all_ideal();
  const Matrix<double> noise = forward(*map, same) - forward(*map, same, quiet);
  CHECK((noise.row(0) - noise.row(1)).norm() > 0.1 * noise.row(0).norm());
}

TEST_CASE("replicas take one request: updates, coincidences, programming, state", "[tokens]") {
  CrossbarSpec spec = rough();
  SECTION("coincidence factors of all tokens go to all") {
    spec.programming.update = UpdateScheme::coincidence;
    const auto map = make_linear_map<double>(replicated(spec), weights(), 4, 7);
    REQUIRE(map->takes_factors());
    std::vector<FactorPair<double>> factors = {
        {map->all_columns(), 1.0, random_matrix<double>(kTokens, kIn, 2), random_matrix<double>(kTokens, kOut, 3)}};
    map->apply_factors(factors, 0.01);
    for (Index t = 0; t < kTokens; ++t) {
      Crossbar<double> array(spec, weights(), 4 + (static_cast<std::uint32_t>(t) << 18U), 7);
      array.apply_factors(factors, 0.01);
      CHECK((array.weights() == replicas_of(*map).replica(t).weights()));
    }
  }
  SECTION("programming sets each to the target; a checkpoint brings all back") {
    const auto map = make_linear_map<double>(replicated(spec), weights(), 4, 7);
    map->apply_update(random_matrix<double>(kIn, kOut, 5, 0.05));
    map->program(2 * weights());
    // 2 % of the window on both devices of a pair is 2.8 % of w_max = 2 max|w|; the mean of three, 63 entries: 5 sd of each.
    const double sd = 0.02 * std::sqrt(2.0) * 2 * weights().cwiseAbs().maxCoeff();
    CHECK((map->weights() - 2 * weights()).cwiseAbs().maxCoeff() < 5 * sd);
    const auto other = make_linear_map<double>(replicated(spec), Matrix<double>(0.3 * weights()), 4, 7);
    const auto saved = map->state();
    const auto restored = other->state();
    REQUIRE(saved.size() == restored.size());
    for (std::size_t i = 0; i < saved.size(); ++i) {
      CHECK(saved[i].name == restored[i].name);
      *restored[i].values = *saved[i].values;
    }
    other->state_restored();
    CHECK((other->weights() == map->weights()));
    for (auto* m : {map.get(), other.get()}) m->apply_update(random_matrix<double>(kIn, kOut, 6, 0.05));
    CHECK((other->weights() == map->weights()));
  }
  SECTION("readings: counts and energies add up, shares are averaged") {
    const auto map = make_linear_map<double>(replicated(spec), weights(), 4, 7);
    const auto one = make_linear_map<double>(spec, weights(), 4, 7);
    for (auto* m : {map.get(), one.get()}) m->apply_update(random_matrix<double>(kIn, kOut, 5, 0.05));
    CHECK(reading(*map, "devices") == kTokens * reading(*one, "devices"));
    CHECK(reading(*one, "devices") == 2 * kIn * kOut);
    // The same is asked of all, some 10 pulses of each of 63 devices, rounded at random: 0.5/10/sqrt(63) is below 1 %.
    CHECK(reading(*map, "pulses_up") == Approx(kTokens * reading(*one, "pulses_up")).epsilon(0.05));
    CHECK(reading(*map, "conductance_mean") == Approx(reading(*one, "conductance_mean")).epsilon(0.02));
    CHECK(reading(*map, "power") == Approx(kTokens * reading(*one, "power")).epsilon(0.02));
    CHECK(reading(*map, "replicas") == kTokens);
  }
}

TEST_CASE("the noise-free circuit of replicas has a derivative in x and W", "[tokens]") {
  CrossbarSpec spec = rough();
  spec.device.curve = {0.25, 0};
  spec.periphery.forward.amplifier.gain_spread = 0.02;
  const auto map = make_linear_map<double>(replicated(spec), weights(), 4, 7);
  const auto circuit = map->noise_free();
  const Matrix<double> x = random_matrix<double>(kTokens, kIn, 2);
  const Matrix<double> v = random_matrix<double>(kCopies * kTokens, kIn, 3);
  const Matrix<double> u = random_matrix<double>(kCopies * kTokens, kOut, 4);
  CHECK(relative_error(forward(*circuit, x), forward(*map, x)) < 1e-13);
  CHECK(relative_error(transposed(*circuit, u.topRows(kTokens)), transposed(*map, u.topRows(kTokens))) < 1e-13);
  ReadContext exact;
  exact.exact = true;
  Matrix<double> jv(kCopies * kTokens, kOut), ju(kCopies * kTokens, kIn), expected(kCopies * kTokens, kOut);
  circuit->derivative(ReadDirection::forward, Derivative::jvp, x, v, jv, circuit->all_columns(), Store::assign, exact);
  circuit->derivative(ReadDirection::forward, Derivative::vjp, x, u, ju, circuit->all_columns(), Store::assign, exact);
  const double h = 1e-5;  // h²/6 f''' and rounding ε/h are both below 1e-9
  for (Index k = 0; k < kCopies; ++k) {
    const Matrix<double> dx = h * v.middleRows(k * kTokens, kTokens);
    expected.middleRows(k * kTokens, kTokens) = (forward(*circuit, x + dx) - forward(*circuit, x - dx)) / (2 * h);
  }
  CHECK(relative_error(jv, expected) < 1e-8);
  CHECK(u.cwiseProduct(jv).sum() == Approx(ju.cwiseProduct(v).sum()).epsilon(1e-12));
  // All replicas move alike: program() shifts their mean and keeps their differences.
  const Matrix<double> one = u.topRows(kTokens);
  test::SummingSink<double> sink({circuit.get()});
  circuit->correlate(ReadDirection::forward, x, one, circuit->all_columns(), 1.0, 0, sink, exact);
  const Matrix<double> quotients =
      test::difference_quotients(*circuit, h, [&] { return one.cwiseProduct(forward(*circuit, x)).sum(); });
  CHECK(relative_error(sink.sums[0], quotients) < 1e-8);
  test::SummingSink<double> back({circuit.get()});
  circuit->correlate(ReadDirection::transposed, one, x, circuit->all_columns(), 1.0, 0, back, exact);
  const Matrix<double> back_quotients =
      test::difference_quotients(*circuit, h, [&] { return x.cwiseProduct(transposed(*circuit, one)).sum(); });
  CHECK(relative_error(back.sums[0], back_quotients) < 1e-8);
}

TEST_CASE("a multiplexed array is driven by what its holds have kept", "[tokens]") {
  CrossbarSpec spec = rough();
  spec.device.curve = {0.25, 0};
  const auto plain = make_linear_map<double>(spec, weights(), 4, 7);
  spec.tokens = {TokenUse::multiplexed, 4, 10e-9, 100e-9};
  const auto map = make_linear_map<double>(spec, weights(), 4, 7);
  const double share = std::exp(-3 * 10e-9 / 100e-9);  // three slots of the four are waited for
  CHECK(reading(*map, "held_share") == Approx(share).epsilon(1e-15));
  const Matrix<double> x = random_matrix<double>(8, kIn, 2);
  const Matrix<double> y = random_matrix<double>(8, kOut, 3);
  CHECK((forward(*map, x) == forward(*plain, share * x)));
  CHECK((transposed(*map, y) == transposed(*plain, share * y)));
  CHECK((map->weights() == plain->weights()));
  const auto circuit = map->noise_free();
  CHECK(relative_error(forward(*circuit, x), forward(*map, x)) < 1e-13);
  ReadContext exact;
  exact.exact = true;
  Matrix<double> jv(8, kOut), ju(8, kIn);
  const Matrix<double> v = random_matrix<double>(8, kIn, 5);
  circuit->derivative(ReadDirection::forward, Derivative::jvp, x, v, jv, circuit->all_columns(), Store::assign, exact);
  circuit->derivative(ReadDirection::forward, Derivative::vjp, x, y, ju, circuit->all_columns(), Store::assign, exact);
  const double h = 1e-5;
  CHECK(relative_error(jv, (forward(*circuit, x + h * v) - forward(*circuit, x - h * v)) / (2 * h)) < 1e-8);
  CHECK(y.cwiseProduct(jv).sum() == Approx(ju.cwiseProduct(v).sum()).epsilon(1e-12));
  test::SummingSink<double> sink({circuit.get()});
  circuit->correlate(ReadDirection::forward, x, y, circuit->all_columns(), 1.0, 0, sink, exact);
  const Matrix<double> quotients =
      test::difference_quotients(*circuit, h, [&] { return y.cwiseProduct(forward(*circuit, x)).sum(); });
  CHECK(relative_error(sink.sums[0], quotients) < 1e-8);
  // Without leak there is nothing between the drive and the array.
  spec.tokens.hold_time_s = 0;
  CHECK(dynamic_cast<const Crossbar<double>*>(make_linear_map<double>(spec, weights(), 4, 7).get()) != nullptr);
  CHECK(spec.tokens.slots() == 4);
  CHECK(spec.tokens.replicas() == 1);
}

TEST_CASE("circuit.tokens and circuit.hold_time", "[tokens]") {
  ConfigSchema schema;
  schema.table = token_section().rows();
  const auto parse = [&](const std::string& text) {
    return token_section().read(parse_config(schema, "run.toml", "[circuit]\n" + text));
  };
  CHECK(parse("").use == TokenUse::multiplexed);
  CHECK(parse("").hold_time_s == 0);
  CHECK(parse("tokens = 'replicated'\n").use == TokenUse::replicated);
  CHECK(parse("tokens = 'shared'\nhold_time = '2 us'\n").hold_time_s == 2e-6);
  for (const char* bad : {"0 s", "-1 s", "fast", "3 V", ""}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH(parse(std::string("hold_time = '") + bad + "'\n"), Catch::Contains("circuit.hold_time"));
  }
}
