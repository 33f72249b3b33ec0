// SPDX-License-Identifier: Apache-2.0
#include "sim/settle.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "sim/steady/solvers.hpp"

namespace nudge {
namespace {

template <class S>
struct Entry {
  const char* name;
  Solver<S> solve;
};

/// The list of solvers: a new one is one file and one line here.
template <class S>
const std::vector<Entry<S>>& solvers() {
  static const std::vector<Entry<S>> list = {
      {"euler", settle_euler<S>},
      {"rk4", settle_rk4<S>},
      {"dopri5", settle_dopri5<S>},
      {"anderson", settle_anderson<S>},
      {"newton_gmres", settle_newton_gmres<S>},
  };
  return list;
}

template <class S>
Solver<S> find_solver(const std::string& name) {
  if (name == coordinate_solver) return settle_coordinate<S>;
  for (const Entry<S>& entry : solvers<S>()) {
    if (name == entry.name) return entry.solve;
  }
  throw UserError(fmt::format("solver = \"{}\" is not a solver: {}", name, did_you_mean(name, settle_solvers())));
}

void require(bool rule, const char* name, double value, const char* text) {
  if (!rule) throw UserError(fmt::format("settling option {} = {} must be {}", name, value, text));
}

void check(const SettleOptions& o) {
  require(o.step > 0 && std::isfinite(o.step), "step", o.step, "positive and finite (dt in units of tau)");
  require(o.max_steps >= 0, "max_steps", o.max_steps, "0 or more");
  require(o.tolerance >= 0, "tolerance", o.tolerance, "0 (never stop early) or positive");
  require(o.lag >= 0 && std::isfinite(o.lag), "lag", o.lag, "0 or positive (time constant in units of tau)");
  if (o.lag > 0 && o.solver != "euler") {
    throw UserError(
        fmt::format("settling option lag = {} must be 0 for solver {}: only euler knows amplifiers", o.lag, o.solver));
  }
  if (o.schedule == RelaxationSchedule::sweep && (o.solver != "euler" || o.lag > 0)) {
    throw UserError(
        fmt::format("settling schedule sweep needs solver = euler (not {}) and no amplifier lag", o.solver));
  }
  require(o.average_last >= 1, "average_last", o.average_last, "1 (no averaging) or more");
  require(o.divergence_ratio > 0, "divergence_ratio", o.divergence_ratio, "positive");
  require(o.window >= 2, "window", o.window, "2 or more");
  require(o.ode_relative_error > 0, "ode_relative_error", o.ode_relative_error, "positive");
  require(o.memory >= 1, "memory", o.memory, "1 or more");
}

}  // namespace

const std::vector<std::string>& settle_solvers() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& entry : solvers<double>()) list.emplace_back(entry.name);
    return list;
  }();
  return names;
}

template <class S>
SettleResult settle(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options, SettleWorkspace<S>& scratch) {
  NUDGE_EXPECT(z.rows() == dynamics.rows() && z.cols() == dynamics.cols());
  check(options);
  if (dynamics.box() != nullptr && options.solver != "euler" && options.solver != coordinate_solver) {
    throw UserError(
        fmt::format("settling with solver {}: states are kept in a box, which only euler and {} project onto",
                    options.solver, coordinate_solver));
  }
  if (sweeping(dynamics, options.schedule) != nullptr) return settle_sweep<S>(dynamics, z, options, scratch);
  return find_solver<S>(options.solver)(dynamics, z, options, scratch);
}

#define NUDGE_INSTANTIATE(S) \
  template SettleResult settle<S>(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
