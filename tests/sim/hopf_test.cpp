// SPDX-License-Identifier: Apache-2.0
#include "sim/spectrum.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "tests/support/numerics.hpp"
#include "tests/support/test_dynamics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// f and g of the plane, dx/dt = αx − ωy + f, dy/dt = ωx + αy + g: coefficients of x², xy, y², x³, x²y, xy², y³.
struct Plane {
  double alpha = 0, omega = 1.3;
  double f[7] = {}, g[7] = {};

  SmallDynamics<double> dynamics() const {
    const auto sum = [](const double* k, double x, double y) {
      return k[0] * x * x + k[1] * x * y + k[2] * y * y + k[3] * x * x * x + k[4] * x * x * y + k[5] * x * y * y +
             k[6] * y * y * y;
    };
    const auto by_x = [](const double* k, double x, double y) {
      return 2 * k[0] * x + k[1] * y + 3 * k[3] * x * x + 2 * k[4] * x * y + k[5] * y * y;
    };
    const auto by_y = [](const double* k, double x, double y) {
      return k[1] * x + 2 * k[2] * y + k[4] * x * x + 2 * k[5] * x * y + 3 * k[6] * y * y;
    };
    const Plane p = *this;
    return {1, 2,
            [=](const Vec<double>& z) -> Vec<double> {
              Vec<double> out(2);
              out << p.alpha * z(0) - p.omega * z(1) + sum(p.f, z(0), z(1)),
                  p.omega * z(0) + p.alpha * z(1) + sum(p.g, z(0), z(1));
              return out;
            },
            [=](const Vec<double>& z) {
              Dense<double> j(2, 2);
              j << p.alpha + by_x(p.f, z(0), z(1)), -p.omega + by_y(p.f, z(0), z(1)), p.omega + by_x(p.g, z(0), z(1)),
                  p.alpha + by_y(p.g, z(0), z(1));
              return j;
            }};
  }

  /// Guckenheimer & Holmes (1983), equation 3.4.11: dr/dt = αr + a r³ in these coordinates.
  double amplitude() const {
    const double fxx = 2 * f[0], fxy = f[1], fyy = 2 * f[2], gxx = 2 * g[0], gxy = g[1], gyy = 2 * g[2];
    return (6 * f[3] + 2 * f[5] + 2 * g[4] + 6 * g[6]) / 16 +
           (fxy * (fxx + fyy) - gxy * (gxx + gyy) - fxx * gxx + fyy * gyy) / (16 * omega);
  }
};

}  // namespace

TEST_CASE("the first Lyapunov coefficient of the plane is the closed form of its second and third derivatives",
          "[hopf]") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Plane plane;
    const Dense<double> draws = random_dense<double>(14, 1, seed);
    for (int i = 0; i < 7; ++i) {
      plane.f[i] = draws(i, 0);
      plane.g[i] = draws(7 + i, 0);
    }
    auto dynamics = plane.dynamics();
    const HopfForm found = hopf_normal_form(dynamics, Matrix<double>::Zero(1, 2));
    REQUIRE(found.found);
    CHECK(found.frequency == Approx(1.3).epsilon(1e-12));
    CHECK(found.growth == Approx(0).margin(1e-12));
    // q = (1, −i)/√2: r = √2 ρ, so that ω l₁ = 2a. F is cubic, its differences exact but for rounding, 1e-16/h² = 1e-10.
    CHECK(1.3 * found.lyapunov == Approx(2 * plane.amplitude()).margin(1e-8));
  }
}

TEST_CASE("two neurons that turn end softly, by -(1 + b^2)/2b", "[hopf]") {
  // F = −z + tanh(g W z), W = (1 −b; b 1), at z = 0: λ = g − 1 ± igb. With w = x + iy, tanh u = u − u³/3:
  // dw/dt = (…) w − (1 + ib)(1 + b²)/4 w |w|² + …, and ζ = w/√2 has twice that: l₁ = −(1 + b²)/2b at g = 1.
  const double b = 0.8;
  Dense<double> w(2, 2);
  w << 1, -b, b, 1;
  auto dynamics = tanh_network<double>(1, 2, w, Vec<double>::Zero(2));
  const HopfForm found = hopf_normal_form(dynamics, Matrix<double>::Zero(1, 2));
  REQUIRE(found.found);
  CHECK(found.frequency == Approx(b).epsilon(1e-12));
  // The fifth derivative of tanh is 16, (1 + b²)^{5/2} of it: h² 16·3.4/12 beside a third one of 2.
  CHECK(found.lyapunov == Approx(-(1 + b * b) / (2 * b)).epsilon(1e-5));
}

TEST_CASE("before its Hopf point the coefficient is that of the point which less leak leads to", "[hopf]") {
  Plane plane;
  plane.f[0] = 0.4;
  plane.g[1] = -0.7;
  plane.f[3] = -0.2;
  plane.g[6] = 0.3;
  plane.alpha = -0.25;
  auto dynamics = plane.dynamics();
  const HopfForm found = hopf_normal_form(dynamics, Matrix<double>::Zero(1, 2));
  CHECK(found.growth == Approx(-0.25).epsilon(1e-12));
  CHECK(1.3 * found.lyapunov == Approx(2 * plane.amplitude()).margin(1e-8));
}

TEST_CASE("an oscillation past a soft Hopf point has the amplitude of its normal form", "[hopf]") {
  // dρ/dt = αρ + ω l₁ ρ³ = 0 at ρ² = −α/(ω l₁), |z| = √2 ρ; the next order of the radius is α ~ 1 %.
  Plane plane;
  plane.f[3] = plane.f[5] = plane.g[4] = plane.g[6] = -0.5;
  plane.f[0] = 0.3;
  plane.g[1] = 0.2;
  plane.alpha = 0.01;
  auto dynamics = plane.dynamics();
  const HopfForm found = hopf_normal_form(dynamics, Matrix<double>::Zero(1, 2));
  REQUIRE(found.lyapunov < 0);
  Matrix<double> z(1, 2), f(1, 2);
  z << 0.2, 0;
  double squares = 0;
  const int steps = 200000, last = 20000;  // of 0.01 τ: 20 times 1/α, then 40 turns
  for (int n = 0; n < steps; ++n) {
    dynamics.force(z, f);
    const Matrix<double> middle = z + 0.005 * f;  // the midpoint rule
    dynamics.force(middle, f);
    z += 0.01 * f;
    if (n >= steps - last) squares += z.squaredNorm() / last;
  }
  const double rho2 = -found.growth / (found.frequency * found.lyapunov);
  CHECK(squares == Approx(2 * rho2).epsilon(0.05));
}

TEST_CASE("nothing is said of what does not turn, and of what is too large", "[hopf]") {
  auto still = linear_system<double>(1, 3, Dense<double>(-Dense<double>::Identity(3, 3)), Vec<double>::Zero(3));
  CHECK_FALSE(hopf_normal_form(still, Matrix<double>::Zero(1, 3)).found);
  auto large = linear_system<double>(1, hopf_limit + 1, Dense<double>(), Vec<double>::Zero(hopf_limit + 1));
  CHECK_FALSE(hopf_normal_form(large, Matrix<double>::Zero(1, hopf_limit + 1)).found);
}
