// SPDX-License-Identifier: Apache-2.0
// Piecewise: the step as a table over the window, from measured pulses (`nudge devices fit`). With x = (g - g_lower)/
// (g_upper - g_lower) the tables hold the step in units of the mean pulse at equally spaced x from 0 to 1, linear between:
//     up: dg/dn = +s_up t_up(x),     down: dg/dn = -s_down t_down(x),    clipped to [g_lower, g_upper].
// Many pulses are the exact solution of this differential equation, an exponential within each interval. Where a table
// reaches zero the device stops. Empty tables are constant steps.
#include <fmt/format.h>

#include "devices/step_kernel.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Table in the order of the direction of its pulses: value k belongs to place k/(size − 1).
using Table = std::vector<double>;

/// (exp(y) − 1)/y. The series spares most single pulses the function: its next term is below y⁷/8! = 4e-15 of it.
double mean_growth(double y) {
  if (std::abs(y) > 0.04) return std::expm1(y) / y;
  return 1 + y * (1 / 2.0 + y * (1 / 6.0 + y * (1 / 24.0 + y * (1 / 120.0 + y * (1 / 720.0 + y * (1 / 5040.0))))));
}

/// Distance passed along a table from place x: dx/dm = t(x), m = n step/width for n pulses. u is the place in intervals of the table.
double advance(const Table& t, double x, double m) {
  const double cells = static_cast<double>(t.size() - 1);
  double u = x * cells;
  auto k = std::min(static_cast<std::size_t>(u), t.size() - 2);
  const double start = u;
  m *= cells;
  while (true) {
    const double slope = t[k + 1] - t[k];
    const double left = static_cast<double>(k), end = left + 1;
    const double value = t[k] + slope * (u - left);
    if (value <= 0) break;
    // u(m) = u + value (exp(slope m) − 1)/slope; the time to the end of the interval is ln(t_end/value)/slope.
    const double moved = value * m * mean_growth(slope * m);
    if (!(u + moved > end)) {
      u += moved;
      break;
    }
    const double bend = slope * (end - u) / value;  // t_end/value − 1
    m -= std::abs(bend) < 1e-12 ? (end - u) / value : std::log1p(bend) * (end - u) / (bend * value);
    u = end;
    if (++k == t.size() - 1) break;
  }
  return (std::min(u, cells) - start) / cells;
}

struct Piecewise {
  Table up, down;  // both in the order of their direction

  template <class S>
  S change(const Element<S>& e, Direction direction, S n) const {
    const Table& table = direction == Direction::up ? up : down;
    const double m = static_cast<double>(n * e.step / e.width);
    return static_cast<S>(advance(table, static_cast<double>(place(e)), m)) * e.width;
  }

  /// A cell per interval of the table: a pulse that stays in its interval moves by value (exp(slope m) − 1)/slope.
  std::vector<StraightCell> straight_cells(const Element<double>& e, Direction direction) const {
    const Table& table = direction == Direction::up ? up : down;
    const double cells = static_cast<double>(table.size() - 1), cell_S = e.width / cells, m = cells * e.step / e.width;
    std::vector<StraightCell> out;
    for (std::size_t k = 0; k + 1 < table.size(); ++k) {
      const double slope = table[k + 1] - table[k], grown = m * mean_growth(slope * m);
      const bool last = k + 2 == table.size();  // its pulses end at the bound
      const double until = last ? 1 : (1 - table[k] * grown) / (1 + slope * grown);
      out.push_back({until * cell_S, table[k] * grown * cell_S, slope * grown});
    }
    return out;
  }

  template <class S>
  S noise(const Element<S>& e, Direction direction, S n, S sigma) const {
    return equal_pulse_noise(*this, e, direction, n, sigma);
  }
};

Table table_of(const DeviceSpec& spec, const char* name) {
  const Table table = spec.table(name);
  return table.empty() ? Table{1.0, 1.0} : table;
}

void check(const DeviceSpec& spec) {
  for (const char* name : {"up", "down"}) {
    const Table table = table_of(spec, name);
    for (std::size_t k = 0; k < table.size(); ++k) {
      if (std::isfinite(table[k]) && table[k] >= 0) continue;
      throw UserError(fmt::format("device.piecewise.{}[{}] = {:g} (must be a finite number >= 0: the size of a pulse)",
                                  name, k, table[k]));
    }
    if (table.size() < 2) {
      throw UserError(fmt::format("device.piecewise.{} has {} value (must have at least 2: at both ends of the window)",
                                  name, table.size()));
    }
  }
}

}  // namespace

DeviceModel piecewise_model() {
  DeviceModel model;
  model.name = "piecewise";
  model.summary = "pulse size from tables over the window, from measured pulses (nudge devices fit)";
  model.equation = "dg/dn = s t(x), x = (g - g_lower)/(g_upper - g_lower), t linear between equally spaced points";
  model.source = "form: piecewise step of IBM aihwkit (MIT licence); the tables are yours";
  model.limits = "pulses of one amplitude and width; the step depends on the conductance alone";
  model.not_modelled = "history other than the conductance, device-to-device spread of the shape";
  model.tables = {{"up", "1", "up step over the window, in mean pulses, from g_lower to g_upper; empty: constant",
                   "to be measured: empty"},
                  {"down", "1", "down step over the window, in mean pulses, from g_lower to g_upper; empty: constant",
                   "to be measured: empty"}};
  model.make = [](const DeviceSpec& spec) -> std::unique_ptr<StepModel> {
    Table down = table_of(spec, "down");
    std::reverse(down.begin(), down.end());
    return std::make_unique<RuleModel<Piecewise>>(Piecewise{table_of(spec, "up"), std::move(down)});
  };
  model.check = check;
  return model;
}

}  // namespace nudge
