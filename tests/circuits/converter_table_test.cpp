// SPDX-License-Identifier: Apache-2.0
// Converters of measured INL: which edge a number moves, missing codes, harmonics of a bow, the curve that the exact gradient has.
#include "circuits/crossbar/converter_table.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <numbers>
#include <set>

#include <fmt/format.h>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/numerics.hpp"

using namespace nudge;
using Catch::Contains;
using test::random_matrix;
using test::relative_error;

namespace {

constexpr Conversion kAdc = Conversion::from_analog, kDac = Conversion::to_analog;

/// A table of the codes −n … n, of INL(k).
template <class Inl>
std::shared_ptr<const ConverterTable> table_of(Conversion conversion, int bits, Inl inl) {
  const int top = (1 << (bits - 1)) - 1;
  std::vector<double> all;
  for (int k = -top; k <= top; ++k) all.push_back(inl(k));
  return std::make_shared<const ConverterTable>(conversion, bits, all);
}

ConverterSpec spec_with(int bits, double range, std::shared_ptr<const ConverterTable> table) {
  ConverterSpec spec{bits, range};
  spec.table = std::move(table);
  return spec;
}

double flat(int /*code*/) { return 0; }

/// Values around and between all edges of 4 bits, those of ideal edges exactly.
template <class S>
Matrix<S> around_edges() {
  Matrix<S> x(2, 1201);
  for (Index i = 0; i < x.cols(); ++i) x(0, i) = static_cast<S>(-9 + 0.015 * static_cast<double>(i));
  for (Index i = 0; i < x.cols(); ++i) x(1, i) = S(0.5) * static_cast<S>(i % 33 - 16);
  return x;
}

template <class S>
void check_flat_bits(int bits, double range) {
  CAPTURE(bits, range);
  const Matrix<S> x = around_edges<S>();
  Matrix<S> ideal = x, edges = x, levels = x;
  convert<S>({bits, range}, ideal);
  convert<S>(spec_with(bits, range, table_of(kAdc, bits, flat)), edges);
  const ConverterSpec dac = spec_with(bits, range, table_of(kDac, bits, flat));
  round_drive<S>(dac, levels);
  set_levels<S>(dac, levels);
  for (Index i = 0; i < x.size(); ++i) {
    REQUIRE(edges.data()[i] == ideal.data()[i]);
    REQUIRE(std::signbit(edges.data()[i]) == std::signbit(ideal.data()[i]));
    REQUIRE(levels.data()[i] == ideal.data()[i]);
  }
}

std::shared_ptr<const ConverterTable> parsed(const std::string& text, int bits, Conversion conversion = kAdc) {
  return parse_converter_table(text, "inl.csv", conversion, bits, "crossbar.forward_adc");
}

/// A table as labs write it: codes from 0 on, the lowest included.
std::string written(int bits, const std::function<double(int)>& of_code, const char* column = "INL (LSB)") {
  std::string text = fmt::format("Code,{}\n", column);
  for (int c = 0; c < 1 << bits; ++c) text += fmt::format("{},{:.9g}\n", c, of_code(c - (1 << (bits - 1))));
  return text;
}

/// Amplitude of harmonic h of a full-scale sine that went through q, in LSB.
double harmonic(const ConverterSpec& spec, int h, bool sine) {
  constexpr Index n = 1 << 16;
  Matrix<double> y(1, n);
  const double top = (1 << (spec.bits - 1)) - 1;
  const auto phase = [](Index i) { return 2 * std::numbers::pi * (static_cast<double>(i) + 0.5) / n; };
  for (Index i = 0; i < n; ++i) y(0, i) = top * std::sin(phase(i));
  convert<double>(spec, y);
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += y(0, i) * (sine ? std::sin(h * phase(i)) : std::cos(h * phase(i)));
  return 2 * sum / n;
}

}  // namespace

TEST_CASE("converter table: with an INL of 0 every bit is that of the ideal converter", "[converter]") {
  for (const int bits : {2, 4, 9}) {
    for (const double range : {0.0, 1.5, 7.0}) {
      check_flat_bits<double>(bits, range);
      check_flat_bits<float>(bits, range);
    }
  }
}

TEST_CASE("converter table: an INL of one LSB moves one edge, and its code is missing", "[converter]") {
  const ConverterSpec spec = spec_with(4, 7, table_of(kAdc, 4, [](int k) { return k == 3 ? 1.0 : 0.0; }));
  Matrix<double> x(1, 15000), y, ideal;
  for (Index i = 0; i < x.cols(); ++i) x(0, i) = -7.5 + 0.001 * static_cast<double>(i);
  y = ideal = x;
  convert<double>(spec, y);
  convert<double>({4, 7}, ideal);
  std::set<double> moved;
  for (Index i = 0; i < x.cols(); ++i) {
    const bool of_three = ideal(0, i) == 3;  // from 2.5 to 3.5: now code 2
    CHECK(y(0, i) == (of_three ? 2 : ideal(0, i)));
  }
  const ConverterErrors errors = spec.table->errors();
  CHECK(errors.missing == 1);
  CHECK(errors.inl_high == 1);
  CHECK(errors.inl_low == 0);
  CHECK(errors.dnl_low == -1);
  CHECK(errors.dnl_high == 1);
  // Levels of a DAC: code 3 gives 4, so that the step to code 4 is none.
  const ConverterSpec dac = spec_with(4, 7, table_of(kDac, 4, [](int k) { return k == 3 ? 1.0 : 0.0; }));
  Matrix<double> driven = x;
  round_drive<double>(dac, driven);
  CHECK(driven == ideal);
  set_levels<double>(dac, driven);
  CHECK(driven == ideal.unaryExpr([](double one) { return one == 3 ? 4.0 : one; }));
}

// y = u − INL(u) within half a step. A parabola A (1 − (u/n)²) of u = n sin θ is A cos² θ = A/2 + A/2 cos 2θ; A (s − s³) of s = sin θ
// is A (sin θ + sin 3θ)/4. The rest is rounding: the sum over a full sine averages 2^12 levels, and its harmonics stay below
// 0.01 LSB (Jacobi-Anger: of order 1/(π √n) of single ones at most, 0.007 at n = 2047, spread over all).
TEST_CASE("converter table: a bow has the harmonics of its curve", "[converter]") {
  constexpr int bits = 12;
  const double top = 2047;
  const auto even = table_of(kAdc, bits, [&](int k) { return 3 * (1 - std::pow(k / top, 2)); });
  CHECK(harmonic(spec_with(bits, top, even), 2, false) == Approx(-1.5).margin(0.01));
  CHECK(harmonic(spec_with(bits, top, even), 3, true) == Approx(0).margin(0.01));
  const auto odd = table_of(kAdc, bits, [&](int k) { return 2.4 * (k / top - std::pow(k / top, 3)); });
  CHECK(harmonic(spec_with(bits, top, odd), 3, true) == Approx(-0.6).margin(0.01));
  CHECK(harmonic(spec_with(bits, top, odd), 1, true) == Approx(top - 0.6).margin(0.01));
  CHECK(harmonic(spec_with(bits, top, nullptr), 3, true) == Approx(0).margin(0.01));
}

TEST_CASE("converter table: files count codes from 0 or from the middle, and give INL or DNL", "[converter]") {
  const auto bow = [](int k) { return 0.4 * std::sin(0.8 * k) - 0.1; };
  const auto plain = parsed(written(5, bow), 5);
  std::string counted = "adc_code;INL\n";  // as a spreadsheet of another country writes it
  for (int k = 15; k >= -15; --k) {
    std::string cell = fmt::format("{};{:.9f}\n", k, bow(k));
    for (char& c : cell) c = c == '.' ? ',' : c;
    counted += cell;
  }
  const auto signed_codes = parsed(counted, 5);
  // DNL of code k is the width of its step less 1; a DNL knows nothing of an offset of all.
  const auto differential = parsed(written(
                                       5, [&](int k) { return bow(k + 1) - bow(k); }, "DNL"),
                                   5);
  const double offset = bow(-14);
  for (double u = -15; u <= 15; u += 0.01) {
    CHECK(plain->code(u) == signed_codes->code(u));
    double a = 0, b = 0;
    if (std::abs(u) < 14) CHECK(differential->mean(u - offset, a) == Approx(plain->mean(u, b)).margin(1e-7));
  }
  const auto levels = parsed(written(5, bow), 5, kDac);
  CHECK(levels->level(-15) == Approx(-15 + bow(-15)));
  CHECK(levels->level(7) == Approx(7 + bow(7)));
  CHECK(levels->errors().inl_high == Approx(0.2996).margin(1e-3));
}

TEST_CASE("converter table: bad files are refused by line", "[converter]") {
  const auto text = [](const std::string& rows) { return "code,inl\n" + rows; };
  CHECK_THROWS_WITH(parsed(text("0,0\n1,0\n2,0\n"), 2),
                    Contains("inl.csv: 1 of 2 codes have no number") && Contains("2 to 3"));
  CHECK_THROWS_WITH(parsed(text("2,0\n3,0\n4,0\n"), 2),
                    Contains("inl.csv:4: code 4") && Contains("0 to 3, or -2 to 1"));
  CHECK_THROWS_WITH(parsed(text("2,0\n2,0\n3,0\n"), 2), Contains("inl.csv:3: code 2 stands in line 2"));
  CHECK_THROWS_WITH(parsed(text("2,0\n2.5,0\n3,0\n"), 2), Contains("inl.csv:3: code 2.5"));
  CHECK_THROWS_WITH(parsed(text("2,0\n3,2.5\n"), 2), Contains("inl.csv:3: 2.5 LSB"));
  CHECK_THROWS_WITH(parsed(text("2,0.6\n3,-0.6\n"), 2), Contains("inl.csv:3") && Contains("DNL -1.2"));
  CHECK_NOTHROW(parsed(text("2,0.51\n3,-0.5\n"), 2));  // -1.01, as rounding to hundredths prints a missing code
  CHECK(parsed(text("2,0.51\n3,-0.5\n"), 2)->errors().missing == 1);
  CHECK_THROWS_WITH(parsed("code,step\n2,0\n3,0\n", 2), Contains("INL or DNL"));
  CHECK_THROWS_WITH(parsed(text("0,0\n1,0\n"), 1), Contains("crossbar.forward_adc_bits = 1"));
  CHECK_THROWS_WITH(parsed(text("2,x\n3,0\n"), 2), Contains("inl.csv:2"));
  CHECK_NOTHROW(parsed(text("2,1\n3,0.9\n"), 2, kAdc));
  CHECK(parsed(text("1,0\n2,1.5\n3,-0.5\n"), 2, kDac)->errors().backward == 1);  // a DAC may step down
  PeripherySpec open;
  open.forward.adc = {6, 0, "inl.csv"};
  CHECK_THROWS_WITH(open.validate(), Contains("forward_adc_inl") && Contains("crossbar.ranging"));
  open.ranged_once = true;
  CHECK_NOTHROW(open.validate());
}

TEST_CASE("converter table: the exact gradient has its mean curve", "[converter]") {
  constexpr Index rows = 9, cols = 7;
  CrossbarSpec spec;
  spec.mapping.kind = GENERATE(MappingKind::differential, MappingKind::offset);
  const auto bow = [](int k) { return 1.5 * std::sin(0.05 * k); };
  for (PortSpec* port : {&spec.periphery.forward, &spec.periphery.transposed}) {
    port->dac = spec_with(8, 3, table_of(kDac, 8, bow));
    port->adc = spec_with(8, 40, table_of(kAdc, 8, bow));
  }
  const Crossbar<double> array(spec, random_matrix<double>(rows, cols, 1, 0.4), 0, 1);
  const auto circuit = array.noise_free();
  ReadContext exact;
  exact.exact = true;
  for (const ReadDirection way : {ReadDirection::forward, ReadDirection::transposed}) {
    const bool forward = way == ReadDirection::forward;
    const Index in = forward ? rows : cols, out = forward ? cols : rows;
    const Matrix<double> x = random_matrix<double>(3, in, 2, 0.8), v = random_matrix<double>(3, in, 3);
    const auto read = [&](const LinearMap<double>& map, const Matrix<double>& drive) {
      ReadContext context;
      Matrix<double> y(drive.rows(), out);
      map.read(way, drive, y, map.all_columns(), Store::assign, context);
      return y;
    };
    // The array rounds: half a step of the drive (3/127) times the sum of |w|, 0.4 × 9 × 0.8 at most ten of it, and half a step of the output.
    const double step = 40.0 / 127;
    const Matrix<double> distance = (read(*circuit, x) - read(array, x)).cwiseAbs();
    CHECK(distance.maxCoeff() > 0);
    CHECK(distance.maxCoeff() < 0.5 * step + 0.5 * 3.0 / 127 * 10 * 3);
    // The curve itself moves outputs, by up to 1.5 steps.
    CrossbarSpec straight = spec;
    for (PortSpec* port : {&straight.periphery.forward, &straight.periphery.transposed}) {
      port->dac.table = port->adc.table = nullptr;
    }
    const Crossbar<double> without(straight, random_matrix<double>(rows, cols, 1, 0.4), 0, 1);
    CHECK((read(*circuit, x) - read(*without.noise_free(), x)).cwiseAbs().maxCoeff() > 0.1 * step);
    // Piecewise linear: central differences at h = 1e-9 leave a corner out, rounding ε 10/h = 2e-6.
    const double h = 1e-9;
    Matrix<double> jv(3, out), ju(3, in);
    circuit->derivative(way, Derivative::jvp, x, v, jv, circuit->all_columns(), Store::assign, exact);
    const Matrix<double> expected = (read(*circuit, x + h * v) - read(*circuit, x - h * v)) / (2 * h);
    CHECK(relative_error(jv, expected) < 1e-5);
    const Matrix<double> u = random_matrix<double>(3, out, 4);
    circuit->derivative(way, Derivative::vjp, x, u, ju, circuit->all_columns(), Store::assign, exact);
    CHECK(std::abs(u.cwiseProduct(jv).sum() - ju.cwiseProduct(v).sum()) < 1e-12 * u.norm() * jv.norm());
  }
}
