// SPDX-License-Identifier: Apache-2.0
#include "netlist/operating_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/base/units.hpp"

namespace nudge {
namespace {

constexpr int kIterations = 150;  // of one Newton run
constexpr double kRelativeStep = 1e-9;
constexpr double kAbsoluteStep = 1e-12;
/// Net current of a node, in units of the sum of its currents, above which a point is none. The last step leaves its square,
/// some 1e-12 of them, and rounding 1e-15. Currents below 1 pA, which SPICE calls nothing (ABSTOL), are not weighed.
constexpr double kBalance = 1e-6;
constexpr double kBalance_A = 1e-12;
constexpr double kFirstGmin_S = 1e-2;
constexpr double kLastGmin_S = 1e-13;
constexpr double kDecline = 10;         // of gmin in a step
constexpr double kLeastDecline = 1.03;  // after six square roots
constexpr double kSmallestRise = 1e-6;  // of the sources
/// Limit on the factorisations of a solution: rises that stay near the smallest would take 10⁸ (found by tests/fuzz/netlist.cpp).
constexpr int kMostFactorisations = 50000;
/// Length of a step, in units of the final one, below which the factors are good for the next: an exponential over kT/q has
/// then changed by a hundredth. They serve as long as each such step is at most a tenth of the one before.
constexpr double kKeptFactors = 1e5;
constexpr double kLeastGain = 0.1;
/// Share of the final step that the step after it stays below: rounding, as after a step with factors of its own.
constexpr double kNextStep = 1e-6;
/// Limit on the numbers of factors of points that are solved side by side: 4 MB for kLanes, which a core may have of its
/// second and third cache.
constexpr std::size_t kMostLaneEntries = 131072;

}  // namespace

struct OperatingPointSolver::Attempt {
  const std::vector<double>& values;
  const std::vector<OutputAction>& actions;
  double held_S = 0;  ///< conductance that holds the nodes of Netlist::starts at their voltages
};

/// State of one point that is being solved. Complete where the vector of them is made.
struct OperatingPointSolver::Lane {
  std::vector<double> x, residual;
  JunctionState state;
  NodalEquations::Affine affine;
  bool moves = false;
};

OperatingPointSolver::OperatingPointSolver(const NodalEquations& equations)
    : equations_(&equations), lu_(equations.pattern()) {}

OperatingPointSolver::OperatingPointSolver(const OperatingPointSolver& other)
    : equations_(other.equations_), lu_(other.lu_) {}

OperatingPointSolver::~OperatingPointSolver() = default;

/// Chooses the pivots once, at the state 0 with the netlist's own values: every thread then has the same.
void OperatingPointSolver::prepare() {
  if (pivots_) return;
  pivots_ = true;
  const std::vector<double> rest(static_cast<std::size_t>(equations_->unknowns()), 0.0);
  equations_->evaluate(rest, equations_->values(), {}, {}, nullptr, residual_, jacobian_);
  if (!lu_.choose_pivots(jacobian_) || equations_->linear()) return;
  lanes_lu_ = std::make_unique<LaneLu>(lu_.pivots());
  if (lanes_lu_->entries() > kMostLaneEntries) lanes_lu_.reset();
}

namespace {

/// Takes the step x ← x − step. Returns the largest step in units of the final one and notes its unknown; nothing if x is not finite then.
std::optional<double> take(const std::vector<double>& step, std::vector<double>& x, OperatingPoint& found) {
  double most = -1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] -= step[i];
    if (!std::isfinite(x[i])) return std::nullopt;
    const double excess = std::abs(step[i]) / (kRelativeStep * std::abs(x[i]) + kAbsoluteStep);
    if (excess <= most) continue;
    most = excess;
    found.worst_unknown = static_cast<int>(i);
  }
  return most;
}

}  // namespace

namespace {

/// Adds currents held_S (v − start) out of the nodes that the netlist starts at given voltages.
void hold(const NodalEquations& equations, double held_S, const std::vector<double>& x, std::vector<double>& residual,
          std::vector<double>& jacobian) {
  if (!(held_S > 0)) return;
  const SparsePattern& pattern = equations.pattern();
  for (const auto& [node, volts] : equations.netlist().starts) {
    const auto i = static_cast<std::size_t>(node);
    const auto begin = pattern.row.begin() + pattern.column_begin[i],
               end = pattern.row.begin() + pattern.column_begin[i + 1];
    residual[i] += held_S * (x[i] - volts);
    jacobian[static_cast<std::size_t>(std::lower_bound(begin, end, node) - pattern.row.begin())] += held_S;
  }
}

}  // namespace

/// Iterates x ← x − J⁻¹ r until a step is small and no junction is held back; with the J of an earlier x where steps are short.
bool OperatingPointSolver::newton(const Attempt& attempt, const Easing& easing, std::vector<double>& x,
                                  OperatingPoint& found) {
  JunctionState state = equations_->junctions_at(x);
  bool keep = false;
  double before = 0;
  for (int n = 0; n < kIterations; ++n) {
    equations_->evaluate(x, attempt.values, attempt.actions, easing, &state, residual_, jacobian_);
    hold(*equations_, attempt.held_S, x, residual_, jacobian_);
    found.iterations += keep ? 0 : 1;
    found.finite = state.finite;
    found.worst_element = state.limited ? state.worst : -1;
    if (!keep && !lu_.factor(jacobian_, true)) {
      found.singular = lu_.singular_column();
      return false;
    }
    lu_.solve(residual_.data());
    const std::optional<double> most = take(residual_, x, found);
    if (!most) return false;
    const bool last = *most <= 1 && !state.limited && (!keep || *most * *most <= kNextStep * before);
    if ((equations_->linear() && !lu_.coarse()) || last) return true;
    keep = !state.limited && *most <= kKeptFactors && (!keep || *most <= kLeastGain * before);
    before = *most;
  }
  return false;
}

/// Runs Newton's method on up to kLanes points. Points that it does not solve stay `stalled`, x as it was.
void OperatingPointSolver::newton_side_by_side(std::span<Request> points) {
  lanes_.resize(kLanes);
  for (std::size_t k = 0; k < points.size(); ++k) {
    points[k].found = {.status = Status::stalled};
    lanes_[k].x = *points[k].x;
    lanes_[k].state = equations_->junctions_at(lanes_[k].x);
    equations_->evaluate_affine(*points[k].values, *points[k].actions, lanes_[k].affine);
    lanes_[k].moves = true;
  }
  const auto moving = [&](const auto& act) {
    bool any = false;
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (!lanes_[k].moves) continue;
      act(k, lanes_[k]);
      any = true;
    }
    return any;
  };
  for (int n = 0; n < kIterations; ++n) {
    const bool any = moving([&](std::size_t k, Lane& lane) {
      equations_->evaluate(lane.affine, *points[k].values, lane.x, &lane.state, lane.residual, jacobian_);
      ++points[k].found.iterations;
      lanes_lu_->set(static_cast<int>(k), jacobian_);
    });
    if (!any) return;
    const unsigned good = lanes_lu_->factor();
    moving([&](std::size_t k, Lane& lane) {
      lane.moves = (good >> k & 1U) != 0;
      if (lane.moves) lanes_lu_->set_right(static_cast<int>(k), lane.residual);
    });
    lanes_lu_->solve();
    moving([&](std::size_t k, Lane& lane) {
      OperatingPoint& found = points[k].found;
      for (std::size_t i = 0; i < lane.residual.size(); ++i)
        lane.residual[i] = lanes_lu_->solution(static_cast<int>(k), i);
      const std::optional<double> most = take(lane.residual, lane.x, found);
      lane.moves = most.has_value();
      if (!most || *most > 1 || lane.state.limited) return;
      lane.moves = false;
      equations_->evaluate(lane.affine, *points[k].values, lane.x, nullptr, lane.residual, jacobian_);
      weigh(lane.x, lane.residual, found);
      if (found.unbalanced >= 0) return;
      found.status = Status::converged;
      points[k].x->swap(lane.x);
    });
  }
}

namespace {

constexpr double kHeld_S = 1e6;  // far above the conductances of circuits: within a millionth of the voltages given

/// True if the solution that begins at x is to be that which .nodeset chooses: x is 0, and there may be several.
bool starts(const NodalEquations& equations, const std::vector<double>& x) {
  return !equations.linear() && !equations.netlist().starts.empty() &&
         std::all_of(x.begin(), x.end(), [](double value) { return value == 0; });
}

}  // namespace

void OperatingPointSolver::solve(std::span<Request> points) {
  prepare();
  for (std::size_t begin = 0; begin < points.size(); begin += kLanes) {
    const auto pack = points.subspan(begin, std::min<std::size_t>(kLanes, points.size() - begin));
    const bool started =
        std::any_of(pack.begin(), pack.end(), [&](const Request& one) { return starts(*equations_, *one.x); });
    const bool together = lanes_lu_ != nullptr && pack.size() > 1 && !started;
    if (together) newton_side_by_side(pack);
    for (Request& one : pack) {
      if (!together || one.found.status != Status::converged) one.found = solve(*one.values, *one.actions, *one.x);
    }
  }
}

bool OperatingPointSolver::by_gmin(const Attempt& attempt, std::vector<double>& x, OperatingPoint& found) {
  std::fill(x.begin(), x.end(), 0.0);
  if (!newton(attempt, {kFirstGmin_S, 1}, x, found)) return false;
  std::vector<double> reached = x;
  double gmin = kFirstGmin_S, decline = kDecline;
  while (gmin / decline > kLastGmin_S) {
    if (found.iterations > kMostFactorisations) return false;
    if (newton(attempt, {gmin / decline, 1}, x, found)) {
      gmin /= decline;
      reached = x;
      decline = std::min(kDecline, decline * decline);
    } else {
      x = reached;
      decline = std::sqrt(decline);
      if (decline < kLeastDecline) return false;
    }
  }
  return newton(attempt, {}, x, found);
}

bool OperatingPointSolver::by_sources(const Attempt& attempt, std::vector<double>& x, OperatingPoint& found) {
  std::fill(x.begin(), x.end(), 0.0);
  std::vector<double> reached = x;
  double share = 0, rise = 0.1;
  while (share < 1) {
    if (found.iterations > kMostFactorisations) return false;
    const double next = std::min(1.0, share + rise);
    if (newton(attempt, {0, next}, x, found)) {
      share = next;
      reached = x;
      rise *= 2;
    } else {
      x = reached;
      rise /= 4;
      if (rise < kSmallestRise) return false;
    }
  }
  return true;
}

/// Notes the largest net current of a node at x, and a node whose net current is not small beside its currents, Σ |J x|. jacobian_: at x.
void OperatingPointSolver::weigh(const std::vector<double>& x, const std::vector<double>& residual,
                                 OperatingPoint& found) {
  const auto nodes = static_cast<std::size_t>(equations_->nodes());
  found.residual_A = 0;
  found.unbalanced = -1;
  for (std::size_t i = 0; i < nodes; ++i) {
    if (const double net = std::abs(residual[i]); !(net <= found.residual_A)) found.residual_A = net;
  }
  if (found.residual_A <= kBalance_A) return;  // balanced whatever the currents are
  const SparsePattern& pattern = equations_->pattern();
  currents_.assign(x.size(), 0.0);
  for (std::size_t column = 0; column < x.size(); ++column) {
    for (int k = pattern.column_begin[column]; k < pattern.column_begin[column + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
      currents_[static_cast<std::size_t>(pattern.row[entry])] += std::abs(jacobian_[entry] * x[column]);
    }
  }
  for (std::size_t i = 0; i < nodes && found.unbalanced < 0; ++i) {
    if (!(std::abs(residual[i]) <= kBalance * currents_[i] + kBalance_A)) found.unbalanced = static_cast<int>(i);
  }
}

OperatingPoint OperatingPointSolver::solve(const std::vector<double>& values, const std::vector<OutputAction>& actions,
                                           std::vector<double>& x) {
  NUDGE_EXPECT(static_cast<int>(x.size()) == equations_->unknowns());
  prepare();
  const Attempt attempt{values, actions};
  OperatingPoint found;
  trial_ = x;
  if (starts(*equations_, x)) {
    // As SPICE does (Nagel 1975): the nodes of .nodeset are held, and let go where the rest has followed.
    const Attempt held{values, actions, kHeld_S};
    if (!newton(held, {}, trial_, found) && !by_gmin(held, trial_, found)) trial_ = x;
  }
  const bool alike = lanes_lu_ != nullptr && !starts(*equations_, x);
  if (alike) begun_ = trial_;
  bool done = newton(attempt, {}, trial_, found);
  if (!done && alike) {  // as side by side, so that both find the same
    Request one{&values, &actions, &begun_};
    newton_side_by_side({&one, 1});
    found.iterations += one.found.iterations;
    done = one.found.status == Status::converged;
    if (done) trial_ = begun_;
  }
  if (!done && !equations_->linear()) done = by_gmin(attempt, trial_, found) || by_sources(attempt, trial_, found);
  equations_->evaluate(trial_, values, actions, {}, nullptr, residual_, jacobian_);
  weigh(trial_, residual_, found);
  if (!done) found.unbalanced = -1;
  if (!done || found.unbalanced >= 0) {
    found.status = Status::stalled;
    return found;
  }
  found.singular = found.worst_element = -1;
  x.swap(trial_);
  return found;
}

OperatingPoint OperatingPointSolver::solve_transposed(const std::vector<double>& values, const std::vector<double>& x,
                                                      std::vector<double>& b) {
  prepare();
  OperatingPoint found;
  equations_->evaluate(x, values, {}, {}, nullptr, residual_, jacobian_);
  ++found.iterations;
  if (lu_.factor(jacobian_)) {
    lu_.solve_transposed(b.data());
  } else {
    found.status = Status::stalled;
    found.singular = lu_.singular_column();
  }
  return found;
}

namespace {

/// Least resistance at a node, if it is so small that a junction's gmin there is a rounding of its conductance; null: none is.
const Element* outweighing(const NodalEquations& equations, int node) {
  const Element* least = nullptr;
  for (const Element& e : equations.netlist().elements) {
    if (!has_resistance(e.kind) || (e.nodes[0] != node && e.nodes[1] != node)) continue;
    if (least == nullptr || std::abs(e.value) < std::abs(least->value)) least = &e;
  }
  const bool small = least != nullptr && std::abs(least->value) * equations.netlist().gmin_S < SparseLu::kLeastPivot;
  return small ? least : nullptr;
}

}  // namespace

std::string describe_failure(const NodalEquations& equations, const OperatingPoint& found) {
  const std::string residual = format_quantity(found.residual_A, Unit::ampere, 3);
  if (found.singular >= 0) {
    if (const Element* small = outweighing(equations, found.singular)) {
      return fmt::format(
          "the equations are singular at {} (residual {}): {} ({}) of {} hides in rounding what else loads it (make it "
          "larger)",
          equations.unknown_name(found.singular), residual, small->name, to_string(small->place),
          format_quantity(small->value, Unit::ohm, 3));
    }
    return fmt::format(
        "the equations are singular at {} (residual {}): what sets it depends on others (a node that nothing "
        "loads, a source that contradicts another)",
        equations.unknown_name(found.singular), residual);
  }
  if (found.unbalanced >= 0) {
    return fmt::format(
        "the net current at {} is up to {}, not small beside the currents there: the numbers of a device are out of "
        "range",
        equations.unknown_name(found.unbalanced), residual);
  }
  std::string at = fmt::format("{} moved most", equations.unknown_name(found.worst_unknown));
  if (found.worst_element >= 0) {
    const Element& element = equations.netlist().elements[static_cast<std::size_t>(found.worst_element)];
    if (!found.finite) {
      return fmt::format("the {} ({}) is {} at the voltages that {} steps reached",
                         element.formula != nullptr ? "expression of " + element.name : "current of " + element.name,
                         to_string(element.place),
                         element.formula != nullptr ? "not finite" : "steeper than that of any circuit",
                         found.iterations);
    }
    at += fmt::format(", {} ({}) was held back most", element.name, to_string(element.place));
  }
  const auto& elements = equations.netlist().elements;
  const bool switches =
      std::any_of(elements.begin(), elements.end(), [](const Element& e) { return e.formula && e.formula->switched; });
  return fmt::format("Newton's method did not converge in {} steps, with gmin and source stepping: {}, residual {}{}",
                     found.iterations, at, residual,
                     switches ? " (a switch that turns itself back has no rest: nudge netlist --tran follows it)" : "");
}

}  // namespace nudge
