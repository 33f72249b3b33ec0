// SPDX-License-Identifier: Apache-2.0
// Reads of a drive that comes again use products that are known: they are the reads of an array that forgets them.
#include "circuits/drive_products.hpp"

#include <vector>

#include "circuits/crossbar/crossbar.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

namespace nudge {
namespace {

/// Array with noise of every kind whose variance is a product: shot noise, noise that grows with the conductance, moving noise.
CrossbarSpec noisy_spec(MappingKind kind) {
  CrossbarSpec spec;
  spec.mapping.kind = kind;
  spec.device.flicker.noise = 0.02;
  spec.device.flicker.fastest_s = 1e-7;
  spec.device.flicker.slowest_s = 1e-3;
  spec.circuit.noise_within_phases_s = 5e-6;
  spec.circuit.shot_noise = true;
  spec.circuit.thermal_noise = true;
  return spec;
}

/// Reads of drives in turn, one after the other.
struct Reader {
  const Crossbar<double>* array;
  bool forward;
  ReadMemory memory = {};
  ReadContext read = {};

  Reader(const Crossbar<double>& a, bool way) : array(&a), forward(way) {
    read.seed = 3;
    read.relaxation = {0.5, 1.0};
  }
  Matrix<double> operator()(const Matrix<double>& x, Store store = Store::assign, double before = 0) {
    read.memory = &memory;
    Matrix<double> y = Matrix<double>::Constant(x.rows(), forward ? array->outputs() : array->inputs(), before);
    if (forward) {
      array->forward(x, y, array->all_columns(), store, read);
    } else {
      array->transposed(x, y, array->all_columns(), store, read);
    }
    return y;
  }
};

}  // namespace

TEST_CASE("known products: a drive that comes again is read as by an array that forgets it, to the bit", "[noise]") {
  const auto kind = GENERATE(MappingKind::differential, MappingKind::reference_column, MappingKind::offset);
  const bool forward = GENERATE(true, false);
  const bool converters = GENERATE(false, true);
  CrossbarSpec spec = noisy_spec(kind);
  if (converters) {
    for (PortSpec* port : {&spec.periphery.forward, &spec.periphery.transposed}) {
      port->dac.bits = 6;
      port->adc.bits = 8;
      port->amplifier.gain_noise = 0.01;
    }
  }
  const Crossbar<double> array(spec, test::random_matrix<double>(6, 3, 1, 0.4), 0, 1);
  const Matrix<double> x = test::random_matrix<double>(5, forward ? 6 : 3, 2, 0.7);
  const Matrix<double> other = test::random_matrix<double>(5, forward ? 6 : 3, 4, 0.7);
  const Matrix<double> opposite = -x;
  // Noise is a function of the number of the read, so that the reads of x in both sequences have the same.
  Reader again(array, forward), forgets(array, forward), turned(array, forward);
  for (int n = 0; n < 8; ++n) {
    CAPTURE(kind, forward, converters, n);
    const bool even = n % 2 == 0;
    const Matrix<double> known = again(x);
    const Matrix<double> with_opposite = turned(even ? x : opposite);
    const Matrix<double> fresh = forgets(even ? x : other);
    if (even) CHECK(known == fresh);
    if (even) CHECK(with_opposite == fresh);
  }
  Reader odd(array, forward), forgets_odd(array, forward);
  for (int n = 0; n < 8; ++n) {
    const bool even = n % 2 == 0;
    const Matrix<double> minus = odd(even ? x : opposite);
    const Matrix<double> fresh = forgets_odd(even ? other : opposite);
    if (!even) CHECK(minus == fresh);
  }
}

TEST_CASE("known products: sums at a node gain and lose the same read", "[noise]") {
  const CrossbarSpec spec = noisy_spec(MappingKind::differential);
  const Crossbar<double> array(spec, test::random_matrix<double>(6, 3, 1, 0.4), 0, 1);
  const Matrix<double> x = test::random_matrix<double>(5, 6, 2, 0.7);
  for (const Store store : {Store::add, Store::subtract}) {
    const double sign = store == Store::add ? 1 : -1;
    Reader sums(array, true), alone(array, true);
    for (int n = 0; n < 5; ++n) {
      const Matrix<double> read = alone(x);
      // A sum of three rounded numbers of order one.
      CHECK((sums(x, store, 0.25).array() - 0.25 - sign * read.array()).abs().maxCoeff() < 1e-14);
    }
  }
}

TEST_CASE("known products: pulses between two reads are seen by the second", "[noise]") {
  const CrossbarSpec spec = noisy_spec(MappingKind::differential);
  Crossbar<double> array(spec, test::random_matrix<double>(6, 3, 1, 0.4), 0, 1);
  const Matrix<double> x = test::random_matrix<double>(5, 6, 2, 0.7);
  Reader again(array, true);
  for (int n = 0; n < 3; ++n) again(x);
  array.pulse(Matrix<double>::Constant(6, 3, 20));
  Reader fresh(array, true);
  for (int n = 0; n < 3; ++n) fresh(Matrix<double>(2 * x));
  CHECK(again(x) == fresh(x));
}

TEST_CASE("known products: a drive that moves is not kept, and one example tells nothing of the next", "[noise]") {
  DriveProducts<double> known;
  const auto look = [&](double value, std::uint64_t view = 1, Columns columns = {0, 2}) {
    known.look(view, columns, Matrix<double>::Constant(2, 3, value));
    return known.sign();
  };
  CHECK(look(1) == 0);
  CHECK(look(1) == 1);
  CHECK(look(-1) == -1);
  CHECK(look(1, 2) == 0);          // other conductances
  CHECK(look(1, 2, {1, 1}) == 0);  // other columns
  CHECK(look(1, 2, {1, 1}) == 0);  // the third drive that was new: it moves
  known.clear();
  CHECK(look(1, 2, {1, 1}) == 0);
  CHECK(look(1, 2, {1, 1}) == 1);
  CHECK(look(1, 0, {1, 1}) == 0);  // conductances without a number are never known
  CHECK(look(std::numeric_limits<double>::quiet_NaN(), 2) == 0);
  CHECK(look(std::numeric_limits<double>::quiet_NaN(), 2) == 0);
}

}  // namespace nudge
