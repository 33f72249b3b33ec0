// SPDX-License-Identifier: Apache-2.0
// Classes of reads: what each policy makes of noise, energy and time.
#include <cmath>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/read_policy.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/tiny_block.hpp"

using namespace nudge;
using test::random_matrix;

namespace {

constexpr Index kIn = 20, kOut = 16;

CrossbarSpec noisy_spec() {
  CrossbarSpec spec;
  spec.device.read_noise = 0.01;
  return spec;
}

/// Deviations of `count` rows of one drive from the noise-free read.
Matrix<double> deviations(const Crossbar<double>& array, ReadContext read, Index count) {
  const Matrix<double> x = random_matrix<double>(1, kIn, 2).replicate(count, 1);
  Matrix<double> y(count, kOut), exact(count, kOut);
  array.forward(x, y, array.all_columns(), Store::assign, read);
  read.policy = ReadPolicy::all_ideal();
  read.meter = nullptr;
  array.forward(x, exact, array.all_columns(), Store::assign, read);
  return y - exact;
}

double variance(const Matrix<double>& d) { return d.squaredNorm() / static_cast<double>(d.size()); }

}  // namespace

TEST_CASE("a read rule is noisy, ideal or mean N", "[reads]") {
  ReadRule rule;
  CHECK(parse_read_rule("noisy", rule).empty());
  CHECK(rule.reads == 1);
  CHECK(parse_read_rule("mean 8", rule).empty());
  CHECK(rule.reads == 8);
  CHECK(parse_read_rule("ideal", rule).empty());
  CHECK(rule.ideal());
  CHECK_THAT(parse_read_rule("mean 1", rule), Catch::Contains("from 2 to 4096"));
  CHECK_THAT(parse_read_rule("mean 8x", rule), Catch::Contains("from 2 to 4096"));
  CHECK_THAT(parse_read_rule("nois", rule), Catch::Contains("did you mean noisy"));
}

TEST_CASE("the mean of n reads has a variance n times smaller, through converters too", "[reads][statistics]") {
  // 16 x 2000 numbers: a variance is known to √(2/32000) = 0.8 %; 5 standard deviations of a ratio of two: 5.6 %.
  constexpr double tolerance = 0.056;
  CrossbarSpec spec = noisy_spec();
  for (const int bits : {0, 14}) {  // 14 bits: steps of 1e-4 of full scale, far below the noise, which dithers them
    spec.periphery.forward.adc.bits = bits;
    const Crossbar<double> array(spec, random_matrix<double>(kIn, kOut, 1, 0.2), 0, 1);
    ReadContext read;
    read.kind = ReadClass::anchor;
    const double once = variance(deviations(array, read, 2000));
    for (const int n : {2, 8}) {
      CAPTURE(bits, n);
      read.policy.of(ReadClass::anchor).reads = n;
      CHECK(variance(deviations(array, read, 2000)) * n / once == Approx(1).epsilon(tolerance));
    }
    read.policy.of(ReadClass::anchor).reads = 0;
    CHECK(variance(deviations(array, read, 2)) == 0);
    read.policy = {};
    read.policy.time = 4;  // a read of 4 τ
    CHECK(variance(deviations(array, read, 2000)) * 4 / once == Approx(1).epsilon(tolerance));
    read.kind = ReadClass::free;  // relaxations have times of their own
    read.relaxation.interval = 0.25;
    CHECK(variance(deviations(array, read, 2000)) / 4 / once == Approx(1).epsilon(tolerance));
  }
}

TEST_CASE("energy, conversions and time are counted by class and by the reads a policy asks for", "[reads]") {
  CrossbarSpec spec = noisy_spec();
  spec.periphery.forward.adc.bits = 8;
  const Crossbar<double> array(spec, random_matrix<double>(kIn, kOut, 1, 0.2), 0, 1);
  const auto metered = [&](ReadClass kind, int reads, double time) {
    ReadMeter meter;
    ReadContext read;
    read.kind = kind;
    read.policy.of(kind).reads = reads;
    read.policy.time = time;
    read.relaxation = {0.1, time};  // noise counts over one time, energy over the other
    read.meter = &meter;
    const Matrix<double> x = random_matrix<double>(3, kIn, 2);
    Matrix<double> y(3, kOut);
    read.pass();
    array.forward(x, y, array.all_columns(), Store::assign, read);
    CHECK(meter.total().reads == meter.at(kind).reads);
    return meter;
  };
  const ReadMeter one = metered(ReadClass::stored, 1, 1.0);
  CHECK(one.at(ReadClass::stored).reads == 3);
  CHECK(one.at(ReadClass::stored).adc_conversions.total() == 3 * kOut);
  CHECK(one.time == 1);
  const ReadMeter five = metered(ReadClass::stored, 5, 2.0);
  CHECK(five.at(ReadClass::stored).reads == 15);
  CHECK(five.at(ReadClass::stored).adc_conversions.total() == 15 * kOut);
  CHECK(five.at(ReadClass::stored).array_J == Approx(10 * one.at(ReadClass::stored).array_J).epsilon(1e-12));
  CHECK(five.time == 10);
  // Ideal reads are still made, but for those of the experimenter; the time of a relaxation is the solver's.
  CHECK(metered(ReadClass::correlation, 0, 1.0).at(ReadClass::correlation).reads == 3);
  CHECK(metered(ReadClass::loss, 0, 1.0).total().reads == 0);
  CHECK(metered(ReadClass::monitor, 0, 1.0).time == 0);
  const ReadMeter free = metered(ReadClass::free, 1, 0.5);
  CHECK(free.time == 0);
  CHECK(free.at(ReadClass::free).array_J == Approx(0.5 * one.at(ReadClass::stored).array_J).epsilon(1e-12));
}

TEST_CASE("what is stored at a point is noisy, and shares its noise with no other read", "[reads][statistics]") {
  test::BlockSize size;
  size.tokens = 40;
  const test::TinyBlock<double> digital(size);
  const CrossbarSpec spec = noisy_spec();
  Crossbar<double> input(spec, digital.input.weights(), 0, 1);
  Crossbar<double> output(spec, digital.output.weights(), 1, 1);
  const auto place = [&](SharedArray<double>& array) {
    array.place<CausalAttention<double>>(3 * size.channels, size.heads, size.gain, 1, output);
    array.place<HopfieldMemory<double>>(size.memories);
  };
  const Circuit<double> block =
      test::one_node_circuit<double>(size.channels, place, 0, input, {size.gain, size.damping});
  CircuitDynamics<double> dynamics(block, size.tokens, 1);
  const auto forces = [&](const ReadPolicy& policy) {
    ReadContext read;
    read.policy = policy;
    dynamics.bind(digital.drive, read);
    std::pair<Matrix<double>, Matrix<double>> out{digital.drive, digital.drive};
    dynamics.linearize(digital.drive).force(out.first, Part::all);
    dynamics.force(digital.drive, out.second, Part::all);
    return out;
  };
  const auto exact = forces(ReadPolicy::all_ideal());
  CHECK(test::relative_error(exact.first, exact.second) < 1e-14);
  const auto noisy = forces({});
  CHECK(dynamics.noisy());
  const Matrix<double> stored = noisy.first - exact.first;
  const Matrix<double> next = noisy.second - exact.second;
  CHECK(stored.norm() > 0.5 * next.norm());
  // Independent: the correlation of 240 pairs is 0 ± 1/√240 = 0.065; 4.5 standard deviations.
  CHECK(std::abs(stored.cwiseProduct(next).sum()) < 0.29 * stored.norm() * next.norm());
  ReadPolicy quiet;
  quiet.of(ReadClass::stored).reads = 0;
  CHECK(test::relative_error(forces(quiet).first, exact.first) < 1e-14);
}
