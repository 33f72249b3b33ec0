// SPDX-License-Identifier: Apache-2.0
#include "training/models/hopfield/hopfield_config.hpp"

#include <fmt/format.h>

#include <cmath>

#include "circuits/spice/exports.hpp"
#include "sim/base/errors.hpp"
#include "sim/settle.hpp"

namespace nudge {
namespace {

const HopfieldPlan& hopfield_of(const NetworkPlan& plan) {
  const auto* found = dynamic_cast<const HopfieldPlan*>(&plan);
  if (found == nullptr) {
    throw UserError(fmt::format("network.kind = {}: only hopfield and convolutional are exported here", plan.kind()));
  }
  if (!found->shape().skips.empty()) throw UserError("hopfield.skips: skip connections are not exported. Set it to []");
  for (int l = 1; l <= found->shape().layers(); ++l) {
    if (found->units(l) != nullptr) throw UserError("neuron.*: exported units have no mismatch. Set these keys to 0");
  }
  return *found;
}

/// Writes the elements of one network, layer by layer.
class Writer {
 public:
  Writer(const Network<double>& network, const HopfieldNetlist& spec)
      : network_(network),
        plan_(hopfield_of(network.plan())),
        shape_(plan_.shape()),
        spec_(spec),
        unit_(spec.capacitance_F / spec.time_constant_s) {}

  std::string text(const std::string& data_file) {
    line("layered Hopfield network of {} layers, written by nudge", shape_.layers());
    for (Index i = 0; i < spec_.input.cols(); ++i) line("vx{0} x{0} 0 dc {1:.17g}", i, spec_.input(0, i));
    for (int l = 1; l <= shape_.layers(); ++l) {
      units(l);
      links(l);
      bias(l);
    }
    if (spec_.beta != 0) nudge();
    control(data_file);
    return std::move(out_);
  }

 private:
  template <class... Values>
  void line(fmt::format_string<Values...> form, Values&&... values) {
    out_ += fmt::format(form, std::forward<Values>(values)...) + "\n";
  }
  Index width(int l) const { return shape_.widths[static_cast<std::size_t>(l)]; }
  bool bent(int l) const { return l > 0 && plan_.activation(l) != NodeActivation::identity; }
  /// Name of the voltage r_j of a layer; sum(): node that collects currents into a unit; scale(): conductance of a
  /// weight of 1 there.
  std::string drive(int l, Index j) const {
    return l == 0 ? fmt::format("x{}", j) : fmt::format("{}{}_{}", bent(l) ? 'a' : 's', l, j);
  }
  std::string sum(int l, Index j) const { return fmt::format("{}{}_{}", bent(l) ? 'h' : 's', l, j); }
  double scale(int l) const { return bent(l) ? 1.0 : unit_; }

  void units(int l) {
    const Node& node = network_.circuit().nodes()[static_cast<std::size_t>(l - 1)];
    for (Index j = 0; j < width(l); ++j) {
      const std::string s = fmt::format("s{}_{}", l, j);
      line("c{0} {0} 0 {1:.17g} ic={2:.17g}", s, spec_.capacitance_F, spec_.start(0, node.columns.begin + j));
      line("r{0} {0} 0 {1:.17g}", s, 1.0 / (node.leak * unit_));
      if (bent(l)) activation(l, j, s);
      if (!node.bounded()) continue;
      const auto beyond = [&](char sign, double bound) {
        return std::isfinite(bound) ? fmt::format("v({0}){1}{2:.17g} ? {3:.17g}*(v({0})-{2:.17g}) : ", s, sign, bound,
                                                  spec_.on_ratio * unit_)
                                    : std::string();
      };
      line("bc{0} {0} 0 i={1}{2}0", s, beyond('<', node.lower), beyond('>', node.upper));
    }
  }

  /// Writes the formulas of NodeActivation, kinks included.
  void activation(int l, Index j, const std::string& s) {
    const std::string at = fmt::format("{}_{}", l, j), r = fmt::format("v(a{})", at);
    std::string value, slope;
    switch (plan_.activation(l)) {
      case NodeActivation::identity:
      case NodeActivation::cosine:
      case NodeActivation::sine: break;  // of no layered network
      case NodeActivation::tanh:
        value = fmt::format("tanh(v({}))", s);
        slope = fmt::format("1-{0}*{0}", r);
        break;
      case NodeActivation::sigmoid:
        value = fmt::format("1/(1+exp(-4*(v({})-0.5)))", s);
        slope = fmt::format("4*{0}*(1-{0})", r);
        break;
      case NodeActivation::relu:
        value = fmt::format("max(v({}),0)", s);
        slope = fmt::format("v({}) > 0 ? 1 : 0", s);
        break;
      case NodeActivation::hard_sigmoid:
        value = fmt::format("min(max(v({}),0),1)", s);
        slope = fmt::format("v({0}) > 0 ? (v({0}) < 1 ? 1 : 0) : 0", s);
        break;
      case NodeActivation::softplus:
        value = fmt::format("max(v({0}),0)+log(1+exp(-abs(v({0}))))", s);
        slope = fmt::format("1-exp(-{})", r);
        break;
    }
    line("ba{0} a{0} 0 v={1}", at, value);
    line("bd{0} d{0} 0 v={1}", at, slope);
    line("rh{0} h{0} 0 1", at);
    line("bf{0} 0 {1} i={2:.17g}*v(d{0})*v(h{0})", at, s, unit_);
  }

  /// Returns the matrix M (n_{l−1}, n_l) of link l with the weights of a parameter.
  Matrix<double> matrix(int l, int parameter) const {
    const Matrix<double>& w = network_.map(parameter).weights();
    if (!shape_.convolutional(l)) return w;
    const Convolution& shape = shape_.convolutions[static_cast<std::size_t>(l - 1)];
    Matrix<double> patches(shape.inputs() * shape.positions(), shape.patch());
    Patches<double>(shape).gather(Matrix<double>::Identity(shape.inputs(), shape.inputs()), patches);
    Matrix<double> m = Matrix<double>::Zero(shape.inputs(), shape.outputs());
    add_positions<double>(shape.maps, patches * w, m);
    return m;
  }

  /// Writes the transconductance `name` from unit i of layer `from` to unit j of layer `to`.
  void current(const std::string& name, int from, Index i, int to, Index j, double weight) {
    if (weight == 0) return;
    line("{0} 0 {1} {2} 0 {3:.17g}", name, sum(to, j), drive(from, i), weight * scale(to));
  }

  void links(int l) {
    const Matrix<double> up = matrix(l, plan_.link(l));
    const bool heard = l > 1 && !shape_.feed_forward;
    Matrix<double> down = up;
    if (heard && shape_.asymmetric) {
      down = matrix(l, plan_.feedback(l));
      if (!shape_.convolutional(l)) down.transposeInPlace();
    }
    for (Index i = 0; i < up.rows(); ++i) {
      for (Index j = 0; j < up.cols(); ++j) {
        current(fmt::format("gu{}_{}_{}", l, i, j), l - 1, i, l, j, up(i, j));
        if (heard) current(fmt::format("gd{}_{}_{}", l, i, j), l, j, l - 1, i, down(i, j));
      }
    }
  }

  void bias(int l) {
    const Matrix<double>& b = network_.map(plan_.bias(l)).weights();
    const Index positions = width(l) / b.cols();
    for (Index j = 0; j < width(l); ++j) {
      line("ib{0}_{1} 0 {2} dc {3:.17g}", l, j, sum(l, j), b(0, j / positions) * scale(l));
    }
  }

  void nudge() {
    const int last = shape_.layers();
    const double beta = spec_.beta * unit_;
    if (shape_.classes == 0) {
      for (Index j = 0; j < width(last); ++j) {
        line("gy{1} s{0}_{1} 0 s{0}_{1} 0 {2:.17g}", last, j, beta);
        line("iy{1} 0 s{0}_{1} dc {2:.17g}", last, j, beta * spec_.target(0, j));
      }
      return;
    }
    const Matrix<double>& w = network_.map(plan_.readout().parameter).weights();
    const Matrix<double>& b = network_.map(plan_.readout().bias).weights();
    const std::string total = sum_of(0, shape_.classes, [](Index k) { return fmt::format("v(e{})", k); });
    for (Index k = 0; k < shape_.classes; ++k) {
      line("rl{0} l{0} 0 1", k);
      line("il{0} 0 l{0} dc {1:.17g}", k, b(0, k));
      line("be{0} e{0} 0 v=exp(v(l{0}))", k);
      line("bp{0} p{0} 0 v=v(e{0})/({1})", k, total);
      for (Index j = 0; j < width(last); ++j) {
        line("gl{1}_{2} 0 l{2} s{0}_{1} 0 {3:.17g}", last, j, k, w(j, k));
        line("gy{1}_{2} s{0}_{1} 0 p{2} 0 {3:.17g}", last, j, k, beta * w(j, k));
        line("iy{1}_{2} 0 s{0}_{1} dc {3:.17g}", last, j, k, beta * w(j, k) * spec_.target(0, k));
      }
    }
  }

  void control(const std::string& data_file) {
    std::string voltages;
    for (int l = 1; l <= shape_.layers(); ++l) {
      for (Index j = 0; j < width(l); ++j) voltages += fmt::format(" v(s{}_{})", l, j);
    }
    out_ += transient_end(spec_.print_step_s, spec_.stop_s, data_file, voltages, "method=gear ");
  }

  const Network<double>& network_;
  const HopfieldPlan& plan_;
  const HopfieldShape& shape_;
  const HopfieldNetlist& spec_;
  double unit_;  ///< conductance C/τ of a leak of 1
  std::string out_;
};

double terms(const NetworkPlan& plan) {
  const HopfieldShape& shape = hopfield_of(plan).shape();
  double count = 0;
  for (int l = 1; l <= shape.layers(); ++l) {
    const auto at = static_cast<std::size_t>(l);
    double entries = static_cast<double>(shape.widths[at - 1]) * static_cast<double>(shape.widths[at]);
    if (shape.convolutional(l)) {
      const Convolution& c = shape.convolutions[at - 1];
      const Index side = c.kernel + c.stride * (c.pool - 1);  // of what a pooled unit sees
      entries = static_cast<double>(c.outputs() * c.channels * side * side);
    }
    count += l > 1 && !shape.feed_forward ? 2 * entries : entries;
  }
  return count;
}

ExportedNetwork write(const Network<double>& network, const NetlistOptions& options) {
  if (!options.curve.linear()) {
    throw UserError(
        "crossbar: --block: of a layered Hopfield network only linear devices are exported (device.iv_sinh = 0)");
  }
  for (const Convolution& each : hopfield_of(network.plan()).shape().convolutions) {
    if (each.maximum) {
      throw UserError(
          "crossbar: --block: convolutional.pooling = max is not exported (must be average: no transconductance "
          "chooses the largest of a block)");
    }
  }
  const double tau = options.circuit.time_constant_s;
  HopfieldNetlist spec;
  spec.input = options.clamp.topRows(1);
  spec.start.resize(1, network.cols());
  network.initial_state(spec.input, spec.start);
  CircuitDynamics<double> dynamics(network.circuit(), 1, 1);
  ReadContext read;
  read.policy = ReadPolicy::all_ideal();
  dynamics.bind(spec.input, read);
  Matrix<double> s = spec.start;
  SettleOptions relax;
  relax.step = 0.05;  // follows the circuit: modes up to 20 times as fast as the leak
  relax.max_steps = 20000;
  relax.tolerance = 1e-9;
  SettleWorkspace<double> scratch;
  const SettleResult settled = settle<double>(dynamics, s, relax, scratch);
  spec.time_constant_s = tau;
  spec.capacitance_F = options.circuit.node_capacitance_F;
  spec.stop_s = (5 + 1.25 * settled.time) * tau;
  spec.print_step_s = 0.01 * tau;
  const std::string end =
      settled.status == Status::converged
          ? fmt::format("settles in {:.3g} tau", settled.time)
          : fmt::format("has not settled after {:.3g} tau, and ngspice will not either", settled.time);
  return {hopfield_netlist(network, spec, options.data_file),
          fmt::format("{:g} transconductances; the simulation {} (|F|/|s| = {:.1e})", terms(network.plan()), end,
                      settled.residual)};
}

}  // namespace

std::string hopfield_netlist(const Network<double>& network, const HopfieldNetlist& spec,
                             const std::string& data_file) {
  [[maybe_unused]] const HopfieldShape& shape = hopfield_of(network.plan()).shape();
  NUDGE_EXPECT(spec.input.rows() == 1 && spec.input.cols() == shape.widths.front());
  NUDGE_EXPECT(spec.start.rows() == 1 && spec.start.cols() == network.cols() && spec.on_ratio > 1);
  NUDGE_EXPECT(spec.beta == 0 || spec.target.cols() == (shape.classes > 0 ? shape.classes : shape.widths.back()));
  return Writer(network, spec).text(data_file);
}

NetlistExport hopfield_export() { return {terms, {"hopfield.hidden", "convolutional.maps"}, write}; }

}  // namespace nudge
