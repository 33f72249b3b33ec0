// SPDX-License-Identifier: Apache-2.0
#include "circuits/spice/exports.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {
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
