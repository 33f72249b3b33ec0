// SPDX-License-Identifier: Apache-2.0
#include "circuits/spice/exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Card of a device of conductance g from `from` and its selector on to `to`; a threshold selector as it is when it conducts.
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
    return w.rows_ideal() ? fmt::format("in{}", i) : fmt::format("r{}_{}", i, w.row_ohm > 0 ? j : 0);
  };
  const auto column_node = [&](Index i, Index j) {
    return w.columns_ideal() ? fmt::format("out{}", j) : fmt::format("c{}_{}", w.column_ohm > 0 ? i : 0, j);
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
  for (Index i = 0; i < rows && !w.rows_ideal(); ++i) {
    line(fmt::format("rd{0} in{0} {1} {2:.17g}", i, row_node(i, 0), w.row_ohm + w.driver_ohm));
    for (Index j = 0; j + 1 < cols && w.row_ohm > 0; ++j)
      line(fmt::format("rr{0}_{1} r{0}_{1} r{0}_{2} {3:.17g}", i, j, j + 1, w.row_ohm));
    if (w.rows_driven == LineEnds::both) {
      line(fmt::format("re{0} in{0} {1} {2:.17g}", i, row_node(i, cols - 1), w.row_ohm + w.driver_ohm));
    }
  }
  for (Index j = 0; j < cols && !w.columns_ideal(); ++j) {
    for (Index i = 0; i + 1 < rows && w.column_ohm > 0; ++i) {
      line(fmt::format("rc{0}_{1} c{0}_{1} c{2}_{1} {3:.17g}", i, j, i + 1, w.column_ohm));
    }
    line(fmt::format("rs{0} {1} out{0} {2:.17g}", j, column_node(rows - 1, j), w.column_ohm + w.sense_ohm));
    if (w.columns_sensed == LineEnds::both) {
      line(fmt::format("rt{0} {1} out{0} {2:.17g}", j, column_node(0, j), w.column_ohm + w.sense_ohm));
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

std::string combination(const std::string& stem, const Eigen::VectorXd& weights) {
  return sum_of(0, weights.size(), [&](Index k) { return fmt::format("({:.17g})*v({}{})", weights(k), stem, k); });
}

std::string transient_end(double print_step_s, double stop_s, const std::string& data_file, const std::string& voltages,
                          const char* options) {
  return fmt::format(
      ".options {}reltol=1e-6 abstol=1e-15 vntol=1e-9\n.control\nset numdgt=15\nset wr_singlescale\n"
      "tran {:.17g} {:.17g} uic\nwrdata {}{}\nquit 0\n.endc\n.end\n",
      options, print_step_s, stop_s, data_file, voltages);
}

std::string block_netlist(const Circuit<double>& block, Index heads, const LinearMap<double>& output,
                          const BlockNetlist& spec, const std::string& data_file) {
  const auto* found = block.find<SharedArray<double>>();
  NUDGE_EXPECT(found != nullptr && block.nodes().size() == 1);
  const SharedArray<double>& array = *found;
  const Index tokens = spec.drive.rows();
  const Index channels = block.cols();
  NUDGE_EXPECT(spec.drive.cols() == channels && spec.start.rows() == tokens && channels % heads == 0);
  const Matrix<double>& w = array.input().weights();
  const bool coupled = std::ranges::any_of(array.terms(), [](const auto& at) { return at.traits.name == "coupling"; });
  const Index memories = w.cols() - (coupled ? 4 : 3) * channels;
  const Index width = channels / heads;
  const double gain = block.damping().gain;
  const double root = std::sqrt(static_cast<double>(width));
  std::string text = fmt::format("equilibrium block, {} tokens, {} channels, written by nudge\n", tokens, channels);
  const auto source = [&text](const std::string& node, const std::string& value) {
    text += fmt::format("b{0} {0} 0 v={1}\n", node, value);
  };
  // What drives the devices: the node itself, or behind curved devices the straight drive of the same current.
  const bool curved = !spec.curve.linear();
  const auto bend = [&](const std::string& node, const std::string& bent) {
    if (!curved) return;
    const std::string volts = fmt::format("({:.17g}*v({}))", spec.read_voltage_V, node);
    const std::string odd =
        spec.curve.sinh_V > 0 ? fmt::format("{0:.17g}*sinh({1}/{0:.17g})", spec.curve.sinh_V, volts) : volts;
    source(bent, fmt::format("({0}+{1:.17g}*{2}*{2}*{2})/{3:.17g}", odd, spec.curve.cubic_per_V2, volts,
                             spec.read_voltage_V));
  };
  for (Index t = 0; t < tokens; ++t) {
    const auto stem = [&](char straight, char bent) { return fmt::format("{}{}_", curved ? bent : straight, t); };
    const std::string z = stem('z', 'y'), r = stem('r', 's'), o = stem('o', 'p');
    for (Index k = 0; k < channels; ++k) bend(fmt::format("z{}_{}", t, k), fmt::format("y{}_{}", t, k));
    for (Index k = 0; k < channels; ++k) {
      source(fmt::format("q{}_{}", t, k), combination(z, w.col(k)));
      source(fmt::format("k{}_{}", t, k), combination(z, w.col(channels + k)));
      source(fmt::format("v{}_{}", t, k), combination(z, w.col(2 * channels + k)));
    }
    for (Index m = 0; m < memories; ++m) {
      source(fmt::format("r{}_{}", t, m), fmt::format("2*max({},0)", combination(z, w.rightCols(memories).col(m))));
      bend(fmt::format("r{}_{}", t, m), fmt::format("s{}_{}", t, m));
    }
    for (Index h = 0; h < heads; ++h) {
      const auto exponential = [&](Index s) { return fmt::format("e{}_{}_{}", h, t, s); };
      for (Index s = 0; s <= t; ++s) {
        const std::string score =
            sum_of(h * width, (h + 1) * width, [&](Index k) { return fmt::format("v(q{}_{})*v(k{}_{})", t, k, s, k); });
        source(exponential(s), fmt::format("exp(({})/{:.17g})", score, root));
      }
      const std::string total = sum_of(0, t + 1, [&](Index s) { return fmt::format("v({})", exponential(s)); });
      for (Index k = h * width; k < (h + 1) * width; ++k) {
        const std::string mixed =
            sum_of(0, t + 1, [&](Index s) { return fmt::format("v({})*v(v{}_{})", exponential(s), s, k); });
        source(fmt::format("o{}_{}", t, k), fmt::format("({:.17g})*({})/({})", gain, mixed, total));
        bend(fmt::format("o{}_{}", t, k), fmt::format("p{}_{}", t, k));
      }
    }
    for (Index c = 0; c < channels; ++c) {
      const Eigen::VectorXd back = w.row(c).rightCols(memories).transpose();
      std::string linear = memories > 0 ? fmt::format("+{}", combination(r, back)) : std::string();
      if (coupled) linear += fmt::format("+{}", combination(z, w.col(3 * channels + c)));
      const std::string attention = combination(o, output.weights().col(c));
      const double constant = spec.drive(t, c) + (spec.nudge.size() > 0 ? spec.nudge(t, c) : 0.0);
      text += fmt::format("cz{0}_{1} z{0}_{1} 0 {2:.17g} ic={3:.17g}\n", t, c, spec.capacitance_F, spec.start(t, c));
      text += fmt::format("bf{0}_{1} 0 z{0}_{1} i={2:.17g}*({3:.17g}-({4:.17g})*v(z{0}_{1}){5}+({6}))\n", t, c,
                          spec.capacitance_F / spec.time_constant_s, constant, block.leak(block.nodes().front()),
                          linear, attention);
    }
  }
  std::string voltages;
  for (Index t = 0; t < tokens; ++t) {
    for (Index c = 0; c < channels; ++c) voltages += fmt::format(" v(z{}_{})", t, c);
  }
  return text + transient_end(spec.print_step_s, spec.stop_s, data_file, voltages);
}

namespace {

/// Conductance of an open resistor: gmin of the netlist, nothing beside any load.
constexpr double kOpen_S = 1e-20;

/// Writes the elements of one network, layer by layer.
class Writer {
 public:
  Writer(const ResistiveNetwork& network, double on_ratio, const std::optional<ShockleyDiode>& diode)
      : net_(network), on_ratio_(on_ratio), diode_(diode) {
    text_ = fmt::format("deep resistive network of {} layers, written by nudge\n", net_.depth());
  }

  void sources(ConstMatrixRef<double> v) {
    for (Index i = 0; i < v.cols(); ++i) line("vx{0} x{0} 0 dc {1:.17g}", i, net_.gain(0) * v(0, i));
    if (net_.bias() != ResistiveBias::rails) return;
    line("vrail_p rail_p 0 dc {:.17g}", net_.rail_V());
    line("vrail_m rail_m 0 dc {:.17g}", -net_.rail_V());
  }

  void layer(Index l) {
    const auto& [g, bias] = net_.layer(l);
    for (Index i = 0; i < g.rows(); ++i) {
      for (Index j = 0; j < g.cols(); ++j) {
        line("r{0}_{1}_{2} {3} n{0}_{2} {4:.17g}", l, i, j, terminal(l - 1, i), ohms(g(i, j)));
      }
    }
    for (Index j = 0; j < g.cols(); ++j) {
      if (net_.bias() == ResistiveBias::rails) {
        line("rp{0}_{1} rail_p n{0}_{1} {2:.17g}", l, j, ohms(bias(0, j)));
        line("rm{0}_{1} rail_m n{0}_{1} {2:.17g}", l, j, ohms(bias(1, j)));
      } else if (net_.bias() == ResistiveBias::current) {
        line("ib{0}_{1} 0 n{0}_{1} dc {2:.17g}", l, j, bias(0, j));
      }
    }
    if (!net_.has_diodes(l)) return;
    for (Index j = 0; j < g.cols(); ++j) {
      const double on = on_ratio_ * net_.node_conductance()(0, net_.columns(l).begin + j);
      const bool above = j < net_.nodes_above_zero(l);
      if (!diode_) {
        line("bd{0}_{1} n{0}_{1} 0 i=v(n{0}_{1}) {2} 0 ? {3:.17g}*v(n{0}_{1}) : 0", l, j, above ? '<' : '>', on);
      } else if (above) {
        line("d{0}_{1} 0 n{0}_{1} shockley", l, j);
      } else {
        line("d{0}_{1} n{0}_{1} 0 shockley", l, j);
      }
      if (net_.gain(l) == 1.0) continue;
      line("ea{0}_{1} e{0}_{1} 0 n{0}_{1} 0 {2:.17g}", l, j, net_.gain(l));
      line("va{0}_{1} e{0}_{1} t{0}_{1} dc 0", l, j);
      line("fa{0}_{1} n{0}_{1} 0 va{0}_{1} {2:.17g}", l, j, 1.0 / net_.gain(l));
    }
  }

  void nudge(const ResistiveNudge& nudge) {
    if (nudge.beta == 0) return;
    const Index l = net_.depth();
    for (Index j = 0; j < net_.width(l); ++j) {
      line("gy{1} n{0}_{1} 0 n{0}_{1} 0 {2:.17g}", l, j, nudge.beta);
      line("iy{1} 0 n{0}_{1} dc {2:.17g}", l, j, nudge.beta * nudge.target(0, j));
    }
  }

  std::string finish(const std::string& data_file) {
    if (diode_) {
      line(".model shockley d(is={:.17g} n={:.17g})", diode_->saturation_A, diode_->emission);
      const double celsius = diode_->temperature_K - 273.15;
      line(".options temp={0:.17g} tnom={0:.17g}", celsius);
    }
    line(".options reltol=1e-12 abstol=1e-18 vntol=1e-13 gmin=1e-20 itl1=1000");
    text_ += ".control\nset numdgt=15\nset wr_singlescale\nop\nwrdata " + data_file;
    for (Index l = 1; l <= net_.depth(); ++l) {
      for (Index j = 0; j < net_.width(l); ++j) text_ += fmt::format(" v(n{}_{})", l, j);
    }
    return text_ + "\nquit 0\n.endc\n.end\n";
  }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> form, Values&&... values) {
    text_ += fmt::format(form, std::forward<Values>(values)...) + "\n";
  }
  static double ohms(double siemens) { return 1 / std::max(siemens, kOpen_S); }
  std::string terminal(Index l, Index i) const {
    if (l == 0) return fmt::format("x{}", i);
    return fmt::format("{}{}_{}", net_.gain(l) == 1.0 ? 'n' : 't', l, i);
  }

  const ResistiveNetwork& net_;
  double on_ratio_;
  const std::optional<ShockleyDiode>& diode_;
  std::string text_;
};

}  // namespace

std::string resistive_netlist(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                              const ResistiveNudge& nudge, const std::string& data_file, double on_ratio,
                              const std::optional<ShockleyDiode>& diode) {
  NUDGE_EXPECT(sources.rows() == 1 && sources.cols() == network.width(0) && on_ratio > 1);
  NUDGE_EXPECT(nudge.beta == 0 || nudge.target.cols() == network.width(network.depth()));
  Writer writer(network, on_ratio, diode);
  writer.sources(sources);
  for (Index l = 1; l <= network.depth(); ++l) writer.layer(l);
  writer.nudge(nudge);
  return writer.finish(data_file);
}

}  // namespace nudge
