// SPDX-License-Identifier: Apache-2.0
#include "circuits/spice/crossbar_netlist.hpp"

#include <fmt/format.h>

#include <iterator>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// A device from `from` and its selector on to `to`; a threshold selector as it is when it conducts.
std::string selected_cell(const std::string& name, const std::string& from, const std::string& to, double g,
                          const SelectorSpec& selector) {
  const std::string device = fmt::format("rg{0} {1} x{0} {2:.17g}\n", name, from, 1.0 / g);
  if (selector.kind == SelectorKind::exponential) {
    return device + fmt::format("bx{0} x{0} {1} i={2:.17g}*sinh(v(x{0},{1})/{3:.17g})\n", name, to, selector.current_A,
                                selector.voltage_V);
  }
  return device + fmt::format("rx{0} x{0} {1} {2:.17g}\n", name, to, selector.on_ohm);
}

}  // namespace

std::string crossbar_netlist(const Matrix<double>& g, const WireSpec& w, const Matrix<double>& volts,
                             const CurrentCurve& curve, const SelectorSpec& selector, const OpenLines& open) {
  NUDGE_EXPECT(volts.rows() == 1 && volts.cols() == g.rows());
  w.validate();
  const Index rows = g.rows();
  const Index cols = g.cols();
  const auto row_node = [&](Index i, Index j) {
    return w.row_ohm > 0 ? fmt::format("r{}_{}", i, j) : fmt::format("in{}", i);
  };
  const auto column_node = [&](Index i, Index j) {
    return w.column_ohm > 0 ? fmt::format("c{}_{}", i, j) : fmt::format("out{}", j);
  };
  std::string text = fmt::format("crossbar of {} x {} devices, written by nudge\n", rows, cols);
  const auto line = [&text](const std::string& one) { text += one + "\n"; };
  const auto row_open = [&](Index i) { return !open.rows.empty() && open.rows[static_cast<std::size_t>(i)]; };
  const auto column_open = [&](Index j) { return !open.columns.empty() && open.columns[static_cast<std::size_t>(j)]; };
  for (Index i = 0; i < rows; ++i) {
    if (!row_open(i)) line(fmt::format("vin{0} in{0} 0 dc {1:.17g}", i, volts(0, i)));
  }
  for (Index j = 0; j < cols; ++j) {
    if (!column_open(j)) line(fmt::format("vs{0} out{0} 0 dc 0", j));
  }
  for (Index i = 0; i < rows && w.row_ohm > 0; ++i) {
    line(fmt::format("rd{0} in{0} r{0}_0 {1:.17g}", i, w.row_ohm + w.driver_ohm));
    for (Index j = 0; j + 1 < cols; ++j)
      line(fmt::format("rr{0}_{1} r{0}_{1} r{0}_{2} {3:.17g}", i, j, j + 1, w.row_ohm));
    if (w.rows_driven == LineEnds::both) {
      line(fmt::format("re{0} in{0} r{0}_{1} {2:.17g}", i, cols - 1, w.row_ohm + w.driver_ohm));
    }
  }
  for (Index j = 0; j < cols && w.column_ohm > 0; ++j) {
    for (Index i = 0; i + 1 < rows; ++i) {
      line(fmt::format("rc{0}_{1} c{0}_{1} c{2}_{1} {3:.17g}", i, j, i + 1, w.column_ohm));
    }
    line(fmt::format("rs{0} c{1}_{0} out{0} {2:.17g}", j, rows - 1, w.column_ohm + w.sense_ohm));
    if (w.columns_sensed == LineEnds::both) {
      line(fmt::format("rt{0} c0_{0} out{0} {1:.17g}", j, w.column_ohm + w.sense_ohm));
    }
  }
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      if (g(i, j) > 0 && selector.any()) {
        text += selected_cell(fmt::format("{}_{}", i, j), row_node(i, j), column_node(i, j), g(i, j), selector);
      } else if (g(i, j) > 0 && !curve.linear()) {
        const std::string v = fmt::format("v({},{})", row_node(i, j), column_node(i, j));
        const std::string odd = curve.sinh_V > 0 ? fmt::format("{0:.17g}*sinh({1}/{0:.17g})", curve.sinh_V, v) : v;
        line(fmt::format("bg{0}_{1} {2} {3} i={4:.17g}*({5}+{6:.17g}*{7}*{7}*{7})", i, j, row_node(i, j),
                         column_node(i, j), g(i, j), odd, curve.cubic_per_V2, v));
      } else if (g(i, j) > 0) {
        line(fmt::format("rg{0}_{1} {2} {3} {4:.17g}", i, j, row_node(i, j), column_node(i, j), 1.0 / g(i, j)));
      }
    }
  }
  if (!curve.linear() || selector.kind == SelectorKind::exponential)
    line(".options reltol=1e-9 abstol=1e-18 vntol=1e-12");
  text += ".control\nset numdgt=15\nop\n";
  for (Index j = 0; j < cols; ++j) {
    if (!column_open(j)) line(fmt::format("print i(vs{})", j));
  }
  return text + "quit 0\n.endc\n.end\n";
}

}  // namespace nudge
