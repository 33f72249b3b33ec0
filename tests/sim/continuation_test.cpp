// SPDX-License-Identifier: Apache-2.0
// Branches whose folds, Hopf points and branchings are closed forms.
#include "sim/steady/continuation.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "tests/support/test_dynamics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

using Field = std::function<Vec<double>(const Vec<double>& z, double p)>;
using Slopes = std::function<Dense<double>(const Vec<double>& z, double p)>;

/// Follows a system of columns alone.
Branch follow(const Field& field, const Slopes& slopes, double from, double to, const Vec<double>& start,
              const ContinuationOptions& options = {}) {
  double p = from;
  SmallDynamics<double> system(
      1, start.size(), [&](const Vec<double>& z) { return field(z, p); },
      [&](const Vec<double>& z) { return slopes(z, p); });
  const DynamicsAt at = [&](double value) -> Dynamics<double>& {
    p = value;
    return system;
  };
  const Matrix<double> z = start.transpose();
  Branch branch = follow_equilibrium(at, from, to, z, options);
  CHECK(branch.converged);
  for (const BranchPoint& point : branch.points) {
    // Newton's last step was below 1e-10 of states below 10, and those that it made quadratic leave rounding.
    CHECK(field(point.z.transpose(), point.parameter).norm() < 1e-9);
  }
  return branch;
}

Vec<double> vec(std::initializer_list<double> values) {
  Vec<double> out(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

Dense<double> scalar(double value) { return Dense<double>::Constant(1, 1, value); }

std::vector<BranchPoint> special(const Branch& branch) {
  std::vector<BranchPoint> out;
  std::copy_if(branch.points.begin(), branch.points.end(), std::back_inserter(out),
               [](const BranchPoint& p) { return p.kind != BranchKind::regular; });
  return out;
}

/// z = tanh(w z) + b: its folds are at tanh(w z) = ∓m, m = √(1 − 1/w), where b = ±(m − atanh(m)/w).
double fold_of_neuron(double w) {
  const double m = std::sqrt(1 - 1 / w);
  return m - std::atanh(m) / w;
}

}  // namespace

TEST_CASE("a parabola turns at 0 and comes back on its unstable side", "[continuation]") {
  const Branch branch = follow([](const Vec<double>& z, double p) { return vec({p + z(0) * z(0)}); },
                               [](const Vec<double>& z, double) { return scalar(2 * z(0)); }, -1, 1, vec({-0.9}));
  CHECK(branch.end == BranchEnd::returned);
  const auto found = special(branch);
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == BranchKind::fold);
  // Located to 1e-10 of s, where p is quadratic: z to that, p to its square and the residual of Newton's method.
  CHECK(found[0].z(0, 0) == Approx(0).margin(1e-9));
  CHECK(found[0].parameter == Approx(0).margin(1e-9));
  CHECK(found[0].abscissa == Approx(0).margin(2e-9));
  CHECK(found[0].unstable == 0);
  CHECK(branch.points.front().z(0, 0) == Approx(-1).margin(1e-9));
  CHECK(branch.points.front().unstable == 0);
  CHECK(branch.points.back().z(0, 0) == Approx(1).margin(1e-9));
  CHECK(branch.points.back().parameter == -1);
  CHECK(branch.points.back().abscissa == Approx(2).margin(1e-8));
  CHECK(branch.points.back().unstable == 1);
}

TEST_CASE("a bistable neuron is followed through both its folds to the other end", "[continuation]") {
  for (const double w : {1.2, 2.0, 5.0}) {
    const Branch branch =
        follow([w](const Vec<double>& z, double b) { return vec({std::tanh(w * z(0)) + b - z(0)}); },
               [w](const Vec<double>& z, double) { return scalar(w / std::pow(std::cosh(w * z(0)), 2) - 1); }, -1, 1,
               vec({-2}));
    CAPTURE(w);
    CHECK(branch.end == BranchEnd::reached);
    const auto found = special(branch);
    REQUIRE(found.size() == 2);
    CHECK(found[0].kind == BranchKind::fold);
    CHECK(found[1].kind == BranchKind::fold);
    CHECK(found[0].parameter == Approx(fold_of_neuron(w)).margin(1e-9));  // as above
    CHECK(found[1].parameter == Approx(-fold_of_neuron(w)).margin(1e-9));
    CHECK(branch.points.back().unstable == 0);
  }
}

TEST_CASE("six hundred neurons that drive each other alike have the folds of one", "[continuation]") {
  // F_i = −z_i + tanh(w mean(z)) + b: beyond what is looked at densely. All eigenvalues but one are −1.
  const Index n = 600;
  const double w = 2;
  const Field field = [=](const Vec<double>& z, double b) -> Vec<double> {
    return Vec<double>::Constant(n, std::tanh(w * z.mean()) + b) - z;
  };
  const Slopes slopes = [=](const Vec<double>& z, double) {
    Dense<double> j = Dense<double>::Constant(n, n, w / std::pow(std::cosh(w * z.mean()), 2) / static_cast<double>(n));
    j.diagonal().array() -= 1;
    return j;
  };
  ContinuationOptions options;
  options.step = 0.2;
  const Branch branch = follow(field, slopes, -1, 1, Vec<double>::Constant(n, -2), options);
  CHECK(branch.end == BranchEnd::reached);
  const auto found = special(branch);
  REQUIRE(found.size() == 2);
  CHECK(found[0].parameter == Approx(fold_of_neuron(w)).margin(1e-9));
  CHECK(found[1].parameter == Approx(-fold_of_neuron(w)).margin(1e-9));
}

TEST_CASE("two neurons that turn lose their equilibrium softly at a gain of 1", "[continuation]") {
  // F = −z + tanh(g W z), W = (1 −b; b 1): λ = g − 1 ± igb at z = 0, and l₁ = −(1 + b²)/2b (tests/sim/hopf_test.cpp).
  const double b = 0.8;
  Dense<double> w(2, 2);
  w << 1, -b, b, 1;
  const Branch branch = follow(
      [w](const Vec<double>& z, double g) -> Vec<double> { return Vec<double>((g * w * z).array().tanh()) - z; },
      [w](const Vec<double>& z, double g) { return tanh_jacobian<double>(g * w, z); }, 0.3, 1.7, vec({0.1, 0.1}));
  CHECK(branch.end == BranchEnd::reached);
  const auto found = special(branch);
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == BranchKind::hopf);
  CHECK(found[0].parameter == Approx(1).margin(1e-9));
  CHECK(found[0].frequency == Approx(b).margin(1e-9));
  REQUIRE(found[0].hopf.found);
  CHECK(found[0].hopf.lyapunov == Approx(-(1 + b * b) / (2 * b)).epsilon(1e-5));
  CHECK(branch.points.back().unstable == 2);
}

TEST_CASE("the Brusselator's equilibrium moves, and is lost at b = 1 + a^2", "[continuation]") {
  // dx/dt = a + x²y − (b + 1) x, dy/dt = b x − x² y: z* = (a, b/a), trace b − 1 − a², det a² (Nicolis & Prigogine 1977).
  const double a = 1.4;
  const Branch branch = follow(
      [a](const Vec<double>& z, double b) {
        return vec({a + z(0) * z(0) * z(1) - (b + 1) * z(0), b * z(0) - z(0) * z(0) * z(1)});
      },
      [](const Vec<double>& z, double b) {
        Dense<double> j(2, 2);
        j << 2 * z(0) * z(1) - b - 1, z(0) * z(0), b - 2 * z(0) * z(1), -z(0) * z(0);
        return j;
      },
      1, 5, vec({1.3, 0.6}));
  CHECK(branch.end == BranchEnd::reached);
  const auto found = special(branch);
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == BranchKind::hopf);
  CHECK(found[0].parameter == Approx(1 + a * a).margin(1e-8));  // 1e-10 of s, of a range of 4
  CHECK(found[0].frequency == Approx(a).margin(1e-8));
  CHECK(found[0].z(0, 1) == Approx((1 + a * a) / a).margin(1e-8));
}

TEST_CASE("a pitchfork is a branching, with an imperfection a fold of the branch beside it", "[continuation]") {
  // F = h + p z − z³. h = 0: z = 0 loses its stability at p = 0 and goes on. h < 0: the branch at z > 0 turns where p = 3 z²,
  // z = (−h/2)^{1/3}, and comes back below 0.
  const auto pitchfork = [](double h) {
    return [h](const Vec<double>& z, double p) { return vec({h + p * z(0) - std::pow(z(0), 3)}); };
  };
  const Slopes slopes = [](const Vec<double>& z, double p) { return scalar(p - 3 * z(0) * z(0)); };
  const Branch perfect = follow(pitchfork(0), slopes, -1, 1, vec({0}));
  CHECK(perfect.end == BranchEnd::reached);
  const auto branching = special(perfect);
  REQUIRE(branching.size() == 1);
  CHECK(branching[0].kind == BranchKind::branching);
  CHECK(branching[0].parameter == Approx(0).margin(1e-9));
  for (const double h : {-1e-3, -0.1}) {
    const Branch beside = follow(pitchfork(h), slopes, 2, -1, vec({1.4}));
    CAPTURE(h);
    const auto fold = special(beside);
    REQUIRE(fold.size() == 1);
    CHECK(fold[0].kind == BranchKind::fold);
    CHECK(fold[0].parameter == Approx(3 * std::pow(-h / 2, 2.0 / 3)).margin(1e-9));
    CHECK(beside.end == BranchEnd::returned);
    CHECK(special(follow(pitchfork(h), slopes, -1, 2, vec({0}))).empty());  // the branch below never loses its own
  }
}

TEST_CASE("a branch that ends with its force, or was never there, is lost, one that is long is unfinished",
          "[continuation]") {
  const Field half = [](const Vec<double>& z, double p) { return vec({p > 0.5 ? std::nan("") : p - z(0)}); };
  const Slopes one = [](const Vec<double>&, double) { return scalar(-1); };
  const Branch ended = follow(half, one, 0, 1, vec({1}));
  CHECK(ended.end == BranchEnd::lost);
  REQUIRE_FALSE(ended.points.empty());
  CHECK(ended.points.back().parameter < 0.5);
  CHECK(ended.points.back().parameter > 0.49);
  const Field none = [](const Vec<double>& z, double) { return vec({1 + z(0) * z(0)}); };
  const Branch never = follow(
      none, [](const Vec<double>& z, double) { return scalar(2 * z(0)); }, 0, 1, vec({1}));
  CHECK(never.end == BranchEnd::lost);
  CHECK(never.points.empty());
  ContinuationOptions few;
  few.max_points = 3;
  CHECK(follow(half, one, 0, 0.4, vec({1}), few).end == BranchEnd::unfinished);
}
