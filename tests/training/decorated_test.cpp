// SPDX-License-Identifier: Apache-2.0
// What stands between a circuit and those who train it must forget nothing of it: correction paths, arrays for every token,
// arrays that tokens take turns in, drives that leak while they wait. Loops over networks, schedules, laws and estimators.
#include <algorithm>
#include <cmath>

#include "circuits/correction_path.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/linearization_checks.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/learning/estimators/registry.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// Sums of some hundred products: a few tens of roundings.
constexpr double kRounding = 1e-13;

struct Decoration {
  const char* name;
  std::vector<std::string> settings;
  std::vector<std::string> only = {};  ///< kinds of networks; empty: all that have what it decorates
};

/// Devices without noise whose reads are products: what stands before them is all that differs.
const std::vector<Decoration>& decorations() {
  static const std::vector<Decoration> all = {
      {"plain", {}},
      {"shared", {"device.model=ideal", "circuit.tokens=shared"}},
      {"replicated", {"device.model=ideal", "circuit.tokens=replicated", "device.programming_error=0.02"}},
      {"multiplexed", {"device.model=ideal", "circuit.tokens=multiplexed"}},
      {"held", {"device.model=ideal", "circuit.tokens=multiplexed", "circuit.hold_time=1 us"}},
      {"skips", {"hopfield.hidden=[10, 10, 10]", "hopfield.skips=['1-3']"}, {"hopfield"}},
      {"skips", {"hopfield.hidden=[10, 10, 10]", "hopfield.skips=['2-4']"}, {"convolutional"}},
  };
  return all;
}

/// A path whose errors are far below what a gradient check sees: the estimator takes the road of a real one.
const std::vector<Decoration>& paths() {
  static const std::vector<Decoration> all = {
      {"gain", {"correction.gain_error=1e-10"}},
      {"spread", {"correction.gain_spread=1e-10"}},
      {"offset", {"correction.offset=1e-16"}},
      {"delay", {"correction.delay=1e-9"}},  // no whole step
  };
  return all;
}

/// The network of a config bound to an example, as it is simulated.
struct Bound {
  explicit Bound(const Config& config)
      : network(make_network<double>(config, network_plan(config, sizes_for(config)), Weights::configured)),
        dynamics(network->circuit(), network->rows(), 2),
        input(random_matrix<double>(network->rows(), network->circuit().inputs(), 5)) {
    ReadContext read;
    read.policy = ReadPolicy::all_ideal();
    dynamics.bind(input, read);
  }
  std::unique_ptr<Network<double>> network;
  CircuitDynamics<double> dynamics;
  Matrix<double> input;
};

std::vector<std::string> together(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Of the kinds whose rows are the tokens of a sequence; the others have no tokens to share an array.
bool applies(const Decoration& decoration, const std::string& kind) {
  if (!decoration.only.empty()) {
    return std::find(decoration.only.begin(), decoration.only.end(), kind) != decoration.only.end();
  }
  return decoration.settings.size() < 2 || decoration.settings[1] == "circuit.tokens=shared" || !of_samples(kind);
}

}  // namespace

TEST_CASE("decorated: J is the derivative of the force and its transpose the adjoint", "[decorated]") {
  for (const NetworkKind& kind : circuit_kinds()) {
    for (const Decoration& decoration : decorations()) {
      if (!applies(decoration, kind.name)) continue;
      CAPTURE(kind.name, decoration.name);
      Bound one(small(kind.name, decoration.settings));
      const Index rows = one.network->rows(), cols = one.network->cols();
      const Matrix<double> z = random_matrix<double>(rows, cols, 1), v = random_matrix<double>(rows, cols, 2);
      for (const Part part : {Part::all, Part::conservative, Part::nonconservative}) {
        CAPTURE(static_cast<int>(part));
        Linearization<double>& at = one.dynamics.linearize(z);
        check_adjoint(at, rows, cols, part);
        Matrix<double> jv(z), f(z), f0(z);
        at.jvp(v, jv, part);
        at.force(f0, part);
        one.dynamics.force(z, f, part);
        CHECK((f - f0).norm() <= kRounding * (1 + f.norm()));
        // Truncation and rounding of the difference: 3.7e-11 times the ratio of third derivatives and force to J v, below 100.
        CHECK((central_difference<double>(one.dynamics, z, v, part) - jv).norm() < 1e-8 * (1 + jv.norm()));
      }
    }
  }
}

TEST_CASE(
    "decorated: the laws of the nudged phase through a path have the derivative that they promise, node by node too",
    "[decorated]") {
  CorrectionSpec spec;
  spec.gain_error = 0.25;
  for (const NetworkKind& kind : circuit_kinds()) {
    for (const Decoration& decoration : decorations()) {
      if (!applies(decoration, kind.name)) continue;
      CAPTURE(kind.name, decoration.name);
      Bound one(small(kind.name, decoration.settings));
      const Index rows = one.network->rows(), cols = one.network->cols();
      CorrectionPath<double> path(rows, cols, spec, 2, 3, one.dynamics.read());
      const Matrix<double> z = random_matrix<double>(rows, cols, 1), v = random_matrix<double>(rows, cols, 2);
      const NudgedPoint<double> point{&one.dynamics, &one.dynamics.linearize(z), &z, &path};
      NudgedLaw<double> law;
      Matrix<double> j_c(z), j_n(z), jt_n(z), ahead(z), behind(z);
      point.at->jvp(v, j_c, Part::conservative);
      point.at->jvp(v, j_n, Part::nonconservative);
      point.at->vjp(v, jt_n, Part::nonconservative);
      const double h = 1e-5;  // h² of truncation and rounding over h, both about 1e-10
      law.corrected(point, z + h * v, ahead);
      law.corrected(point, z - h * v, behind);
      Matrix<double> expected = j_c + j_n - 1.25 * (j_n - jt_n);
      CHECK(((ahead - behind) / (2 * h) - expected).norm() < 1e-7 * (1 + expected.norm()));
      law.transposed(point, z + h * v, ahead);
      law.transposed(point, z - h * v, behind);
      expected = j_c + 1.25 * jt_n;
      CHECK(((ahead - behind) / (2 * h) - expected).norm() < 1e-7 * (1 + expected.norm()));
      Matrix<double> node(z);
      for (std::size_t k = 0; k < one.dynamics.nodes(); ++k) {
        const auto [begin, count] = one.dynamics.node_columns(k);
        law.transposed(point, z - h * v, node, static_cast<int>(k));
        CHECK((node.middleCols(begin, count) - behind.middleCols(begin, count)).norm() <=
              kRounding * (1 + behind.norm()));
      }
    }
  }
}

TEST_CASE("decorated: every estimator finds the exact gradient of the decorated circuit, by every schedule",
          "[decorated]") {
  for (const NetworkKind& kind : circuit_kinds()) {
    std::vector<Decoration> all = paths();
    for (const Decoration& decoration : decorations()) {
      if (applies(decoration, kind.name)) all.push_back(decoration);
    }
    std::vector<std::vector<std::string>> schedules = {{}, {"relaxation.schedule=sweep"}};
    if (of_samples(kind.name)) schedules.push_back({"relaxation.solver=second_order", "relaxation.friction=[1.5]"});
    if (kind.name == "resistive") schedules = {{}, {"relaxation.solver=coordinate"}};
    for (const Decoration& decoration : all) {
      for (const auto& schedule : schedules) {
        const Config config = small(kind.name, together(together(schedule, decoration.settings),
                                                        {"train.batch=1", "gradcheck.estimators=['implicit']"}));
        std::string names;
        for (const std::string& name : estimator_names()) {
          // ep and its kin, frequency among them, are biased by the asymmetry; dense differs from implicit in the solver alone.
          // Coupled learning is biased by what loads the outputs.
          const bool exact = name != "ep" && name != "ep_anchored" && name != "implicit_dense" && name != "aep" &&
                             name != "frequency" && name != "coupled_learning";
          if (exact && estimator_misfit(config, name).empty()) names += (names.empty() ? "'" : ", '") + name + "'";
        }
        CAPTURE(kind.name, decoration.name, schedule, names);
        const GradcheckReport report =
            gradcheck(small(kind.name, together(together(schedule, decoration.settings),
                                                {"train.batch=1", "gradcheck.finite_difference_entries=1",
                                                 "gradcheck.estimators=[" + names + "]"})));
        for (const auto& row : report.rows) {
          if (row.group != "all" || row.estimator == "finite_difference") continue;
          CAPTURE(row.estimator);
          // β = 1e-5 in double leaves 1e-10/β of rounding, and 1e-16/β of an offset; then the transient of the phases.
          CHECK(row.agreement.relative_l2 < 1e-4);
        }
      }
    }
  }
}
