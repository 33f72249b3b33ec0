// SPDX-License-Identifier: Apache-2.0
// Derivatives of reads at their operating point, for every imperfection that has one.
#include <fstream>
#include <sstream>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/linear_map_factory.hpp"
#include "devices/device_config.hpp"
#include "sim/config/config.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/imperfections.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/tiny_block.hpp"

using namespace nudge;
using test::random_matrix;
using test::relative_error;

namespace {

constexpr Index kRows = 9, kCols = 7, kDrives = 3;

CrossbarSpec spec_of(const Imperfection& imperfection) {
  ConfigSchema schema{device_param_rows()};
  for (ParamRow& row : crossbar_section().rows()) schema.table.push_back(std::move(row));
  std::vector<std::string> settings = {"device.model=soft_bounds", "device.programming_error=0"};
  settings.insert(settings.end(), imperfection.settings.begin(), imperfection.settings.end());
  return crossbar_spec(parse_config(schema, imperfection.name, "", settings));
}

struct Way {
  bool forward;
  Index in, out;
};

Matrix<double> read(const LinearMap<double>& map, const Way& way, const Matrix<double>& x) {
  ReadContext context;
  Matrix<double> y(x.rows(), way.out);
  if (way.forward) {
    map.forward(x, y, map.all_columns(), Store::assign, context);
  } else {
    map.transposed(x, y, map.all_columns(), Store::assign, context);
  }
  return y;
}

Matrix<double> derivative(const LinearMap<double>& map, const Way& way, const Matrix<double>& at,
                          const Matrix<double>& v, bool transposed) {
  ReadContext context;
  context.exact = true;
  Matrix<double> out = Matrix<double>::Ones(v.rows(), transposed ? way.in : way.out);
  const Columns all = map.all_columns();
  if (way.forward && !transposed)
    map.derivative(ReadDirection::forward, Derivative::jvp, at, v, out, all, Store::add, context);
  if (way.forward && transposed)
    map.derivative(ReadDirection::forward, Derivative::vjp, at, v, out, all, Store::add, context);
  if (!way.forward && !transposed)
    map.derivative(ReadDirection::transposed, Derivative::jvp, at, v, out, all, Store::add, context);
  if (!way.forward && transposed)
    map.derivative(ReadDirection::transposed, Derivative::vjp, at, v, out, all, Store::add, context);
  return out - Matrix<double>::Ones(out.rows(), out.cols());
}

}  // namespace

TEST_CASE("a read's derivative is that of its noise-free circuit, for every imperfection that has one", "[slope]") {
  for (const Imperfection& imperfection : circuit_imperfections()) {
    if (imperfection.derivative == Differentiable::no) continue;
    const CrossbarSpec spec = spec_of(imperfection);
    const Crossbar<double> array(spec, random_matrix<double>(kRows, kCols, 1, 0.4), 0, 1);
    const std::unique_ptr<LinearMap<double>> circuit = array.noise_free();
    for (const Way way : {Way{true, kRows, kCols}, Way{false, kCols, kRows}}) {
      CAPTURE(imperfection.name, way.forward);
      const Matrix<double> x = random_matrix<double>(kDrives, way.in, 2);
      const Matrix<double> v = random_matrix<double>(2 * kDrives, way.in, 3);      // two copies share the point
      CHECK(relative_error(read(*circuit, way, x), read(array, way, x)) < 1e-13);  // there is no noise here
      // Central differences: h²/6 f''' against rounding ε/h, at h = 1e-5 both below 1e-9 (third derivatives of order 10).
      const double h = 1e-5;
      Matrix<double> expected(v.rows(), way.out);
      for (Index copy = 0; copy < 2; ++copy) {
        const Matrix<double> dx = h * v.middleRows(copy * kDrives, kDrives);
        expected.middleRows(copy * kDrives, kDrives) =
            (read(*circuit, way, x + dx) - read(*circuit, way, x - dx)) / (2 * h);
      }
      const Matrix<double> jv = derivative(*circuit, way, x, v, false);
      CHECK(relative_error(jv, expected) < 1e-8);
      CHECK(relative_error(derivative(array, way, x, v, false), jv) < 1e-13);
      const Matrix<double> u = random_matrix<double>(2 * kDrives, way.out, 4);
      const double left = u.cwiseProduct(jv).sum();
      const double right = derivative(*circuit, way, x, u, true).cwiseProduct(v).sum();
      CHECK(std::abs(left - right) < 1e-13 * u.norm() * jv.norm());
      // ⟨u, ∂y/∂w⟩ against central differences of the devices' weights.
      test::SummingSink<double> sink({circuit.get()});
      const Matrix<double> one = u.topRows(kDrives);
      ReadContext context;
      context.exact = true;
      if (way.forward) {
        circuit->correlate(ReadDirection::forward, x, one, circuit->all_columns(), 1.0, 0, sink, context);
      } else {
        circuit->correlate(ReadDirection::transposed, x, one, circuit->all_columns(), 1.0, 0, sink, context);
      }
      const Matrix<double> quotients =
          test::update_quotients(*circuit, h, [&] { return one.cwiseProduct(read(*circuit, way, x)).sum(); });
      CHECK(relative_error(sink.sums[0], quotients) < 1e-8);
    }
  }
}

TEST_CASE("the circuit of Tiki-Taka reads both arrays as the map does", "[slope]") {
  CrossbarSpec spec;
  spec.device.curve = {0.25, 0};
  spec.programming.update = UpdateScheme::residual;
  spec.rule.share = 0.3;
  spec.periphery.forward.amplifier.saturation = 3;
  const auto map = make_linear_map<double>(spec, random_matrix<double>(kRows, kCols, 1, 0.4), 0, 1);
  map->apply_update(random_matrix<double>(kRows, kCols, 5, 0.05));
  const auto circuit = map->noise_free();
  const Way way{true, kRows, kCols};
  const Matrix<double> x = random_matrix<double>(kDrives, kRows, 2);
  CHECK(relative_error(read(*circuit, way, x), read(*map, way, x)) < 1e-13);
  CHECK(relative_error(circuit->weights(), map->weights()) < 1e-14);
  const Matrix<double> v = random_matrix<double>(kDrives, kRows, 3);
  const Matrix<double> expected = (read(*circuit, way, x + 1e-5 * v) - read(*circuit, way, x - 1e-5 * v)) / 2e-5;
  CHECK(relative_error(derivative(*circuit, way, x, v, false), expected) < 1e-8);
  const Matrix<double> target = random_matrix<double>(kRows, kCols, 6, 0.4);
  circuit->program(target);
  CHECK(relative_error(circuit->weights(), target) < 1e-14);
}

TEST_CASE("the circuit's copy drops rounding and keeps clipping", "[slope]") {
  CrossbarSpec spec;
  spec.periphery.forward.dac = {3, 1.0};
  const Crossbar<double> array(spec, random_matrix<double>(kRows, kCols, 1, 0.4), 0, 1);
  const auto circuit = array.noise_free();
  const Way way{true, kRows, kCols};
  const Matrix<double> x = random_matrix<double>(kDrives, kRows, 2);
  CHECK(relative_error(read(*circuit, way, x), x.cwiseMax(-1.0).cwiseMin(1.0) * array.weights()) < 1e-13);
  CHECK(relative_error(read(array, way, x), read(*circuit, way, x)) > 1e-2);  // 3 bits: the array itself rounds
}

TEST_CASE("the page of gradient checks names every imperfection and whether it has a derivative", "[slope]") {
  std::ifstream file(NUDGE_SOURCE_DIR "/docs/reference/gradient_checks.md");
  std::ostringstream text;
  text << file.rdbuf();
  const auto word = [](Differentiable d) -> std::string {
    return d == Differentiable::smooth ? "yes" : d == Differentiable::no ? "no" : "almost everywhere";
  };
  for (const Imperfection& imperfection : circuit_imperfections()) {
    CAPTURE(imperfection.name);
    CHECK(text.str().find("| " + imperfection.name + " | " + word(imperfection.derivative) + " |") !=
          std::string::npos);
  }
}
