// SPDX-License-Identifier: Apache-2.0
// Wright's ω, a diode behind one resistor in closed form, and the term that puts diodes at the nodes of a circuit.
#include <cmath>

#include "circuits/circuit_dynamics.hpp"
#include "circuits/resistive/diode_law.hpp"
#include "circuits/terms/node_terms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/linearization_checks.hpp"
#include "tests/support/numerics.hpp"

using namespace nudge;
using namespace nudge::test;

TEST_CASE("diode law: Wright's omega solves w + ln w = x", "[resistive]") {
  CHECK(wright_omega(1) == Approx(1).epsilon(1e-15));
  CHECK(wright_omega(0) == Approx(0.5671432904097838).epsilon(4e-16));  // the omega constant, OEIS A030178
  CHECK(wright_omega(-1e4) == 0);
  for (double x = -60; x < 2000; x += x < 10 ? 0.03125 : 7.3) {
    const double w = wright_omega(x);
    CAPTURE(x, w);
    REQUIRE(w > 0);
    // w + ln w is within roundings of its terms, of which the largest is |x| or |ln w|.
    CHECK(std::abs(w + std::log(w) - x) <= 1e-15 * (4 + 4 * std::abs(x) + w));
  }
}

TEST_CASE("diode law: the node it settles at lets nothing flow", "[resistive]") {
  for (const DiodeLaw law :
       {DiodeLaw{1e-14, 0.02585}, DiodeLaw{1e-9, 0.05}, DiodeLaw{0.3, 1.0}, DiodeLaw{7e-10, 0.13}}) {
    for (const double load : {1e-5, 2.5, 400.0}) {
      for (const double sign : {1.0, -1.0}) {
        for (double w = -30; w <= 30; w += 0.37) {
          const double v = law.settle(w, load, sign);
          CAPTURE(law.saturation, law.thermal, load, sign, w, v);
          // v has some roundings of itself and of V_T; the current changes by load + slope of them.
          const double rounding = 4e-16 * 16 * (std::abs(v) + law.thermal + (v * sign > 0 ? std::abs(w) : 0));
          CHECK(std::abs(load * (w - v) + law.current(v, sign)) <=
                rounding * (load + law.slope(v, sign)) + 1e-15 * load * std::abs(w));
          CHECK(sign * v >=
                sign * w - 1e-15 * std::abs(w) - law.saturation / load);  // lifted, but for the reverse current
        }
      }
    }
  }
}

namespace {

/// Two nodes of three units, the first with diodes, both leaking; the input drives each.
Circuit<double> two_nodes() {
  std::vector<Node> nodes{{"diodes", {0, 3}}, {"free", {3, 3}}};
  for (Node& node : nodes) node.driven = true;
  nodes[0].leak = 2.5;
  std::vector<std::unique_ptr<Term<double>>> terms;
  terms.push_back(std::make_unique<NodeDiodes<double>>(0, Columns{0, 3}, 1, DiodeLaw{0.05, 0.4}));
  return Circuit<double>(std::move(nodes), 3, std::move(terms), {});
}

}  // namespace

TEST_CASE("node diodes: force, J, energy and exact step of a node", "[resistive]") {
  const Circuit<double> circuit = two_nodes();
  CircuitDynamics<double> dynamics(circuit, 2, 2);
  const Matrix<double> x = random_matrix<double>(2, 3, 1);
  dynamics.bind(x, ReadContext{});
  const Matrix<double> z = random_matrix<double>(2, 6, 2), v = random_matrix<double>(2, 6, 3);
  Linearization<double>& at = dynamics.linearize(z);
  check_adjoint(at, 2, 6);
  Matrix<double> jv(z), ahead(z), behind(z), f(z);
  at.jvp(v, jv);
  const double h = 1e-5;  // h² of truncation over V_T² of 0.16; rounding over h
  dynamics.force(z + h * v, ahead);
  dynamics.force(z - h * v, behind);
  CHECK(relative_error((ahead - behind) / (2 * h), jv) < 1e-8);
  dynamics.force(z, f);
  const double slope = (*dynamics.energy(z + h * v) - *dynamics.energy(z - h * v)) / (2 * h);
  CHECK(slope == Approx(-f.cwiseProduct(v).sum()).epsilon(1e-8));
  const Matrix<double>* loads = dynamics.loads();
  REQUIRE(loads != nullptr);
  const Matrix<double> inverse = loads->cwiseInverse();
  Matrix<double> moved = z;
  dynamics.solve_node(moved, f, inverse, {0, 3});
  CHECK(moved.rightCols(3) == z.rightCols(3));
  dynamics.solve_node(moved, f, inverse, {3, 3});
  dynamics.force(moved, f);
  CHECK(f.cwiseAbs().maxCoeff() < 1e-13);  // nodes do not act on each other: one step each settles all
}
