// SPDX-License-Identifier: Apache-2.0
#include "training/models/transformer/transformer_config.hpp"

#include <fmt/format.h>

#include <cmath>

#include "circuits/spice/exports.hpp"
#include "sim/base/errors.hpp"
#include "training/learning/row_norm.hpp"

namespace nudge {
namespace {

/// Writes the dependent sources of one network, token by token.
class Writer {
 public:
  Writer(const Network<double>& network, const TransformerPlan& plan, const TransformerNetlist& spec)
      : network_(network), plan_(plan), s_(plan.shape()), spec_(spec) {}

  std::string text(const std::string& data_file) {
    out_ = fmt::format("layered equilibrium transformer, {} nodes, {} tokens, {} channels, written by nudge\n",
                       s_.nodes(), s_.tokens, s_.channels);
    for (Index t = 0; t < s_.tokens; ++t) {
      for (Index c = 0; c < s_.channels; ++c) source(at("x", t, c), fmt::format("{:.17g}", spec_.input(t, c)));
    }
    for (Index j = 0; j < s_.nodes(); ++j) {
      norms(j);
      const TransformerPlan::Layer layer = plan_.layer(j / 2 % s_.layers);
      if (j % 2 == 0) {
        attention(j, layer);
      } else {
        feed_forward(j, layer);
      }
    }
    control(data_file);
    return std::move(out_);
  }

 private:
  static std::string at(const std::string& name, Index row, Index column) {
    return fmt::format("{}_{}_{}", name, row, column);
  }
  std::string state(Index j) const { return fmt::format("z{}", j); }
  /// Name of the drive of node j: the node below, or the input.
  std::string below(Index j) const { return j == 0 ? "x" : state(j - 1); }
  const Matrix<double>& weights(int parameter) const { return network_.map(parameter).weights(); }

  void source(const std::string& node, const std::string& value) {
    out_ += fmt::format("b{0} {0} 0 v={1}\n", node, value);
  }

  /// Writes m = u (mean u² + ε)^(−1/2) of the drive of node j.
  void norms(Index j) {
    for (Index t = 0; t < s_.tokens; ++t) {
      const std::string squares =
          sum_of(0, s_.channels, [&](Index c) { return fmt::format("v({0})*v({0})", at(below(j), t, c)); });
      source(fmt::format("r{}_{}", j, t),
             fmt::format("1/sqrt(({})/{}+{:.17g})", squares, s_.channels, RowNorm<double>::epsilon));
      for (Index c = 0; c < s_.channels; ++c) {
        source(at(fmt::format("m{}", j), t, c), fmt::format("v({})*v(r{}_{})", at(below(j), t, c), j, t));
      }
    }
  }

  /// Writes projection number k (q, k, v) of node j, turned by its position where positions are rotary.
  void projection(Index j, int parameter, Index k) {
    const Index c = s_.channels, d = c / s_.heads, half = d / 2;
    const bool turned = s_.rotary && k < 2;
    const std::string name = fmt::format("{}{}", "qkv"[k], j), straight = turned ? "p" + name : name;
    for (Index t = 0; t < s_.tokens; ++t) {
      for (Index i = 0; i < c; ++i) {
        source(at(straight, t, i), combination(fmt::format("m{}_{}_", j, t), weights(parameter).col(k * c + i)));
      }
      for (Index i = 0; turned && i < c; ++i) {
        const Index pair = i % d % half;
        const bool first = i % d < half;
        const double angle =
            static_cast<double>(t) * std::pow(1e4, -2.0 * static_cast<double>(pair) / static_cast<double>(d));
        source(at(name, t, i),
               fmt::format("({:.17g})*v({})+({:.17g})*v({})", std::cos(angle), at(straight, t, i),
                           first ? -std::sin(angle) : std::sin(angle), at(straight, t, first ? i + half : i - half)));
      }
    }
  }

  void attention(Index j, const TransformerPlan::Layer& layer) {
    for (const Index k : {0, 1, 2}) projection(j, layer.qkv(), k);
    const Index d = s_.channels / s_.heads;
    const auto name = [j](const char* prefix) { return fmt::format("{}{}", prefix, j); };
    for (Index t = 0; t < s_.tokens; ++t) {
      for (Index h = 0; h < s_.heads; ++h) {
        const auto exponential = [&](Index u) { return fmt::format("e{}_{}_{}_{}", j, h, t, u); };
        for (Index u = 0; u <= t; ++u) {
          const std::string score = sum_of(h * d, (h + 1) * d, [&](Index i) {
            return fmt::format("v({})*v({})", at(name("q"), t, i), at(name("k"), u, i));
          });
          source(exponential(u), fmt::format("exp(({})/{:.17g})", score, std::sqrt(static_cast<double>(d))));
        }
        const std::string total = sum_of(0, t + 1, [&](Index u) { return fmt::format("v({})", exponential(u)); });
        for (Index i = h * d; i < (h + 1) * d; ++i) {
          const std::string mixed = sum_of(
              0, t + 1, [&](Index u) { return fmt::format("v({})*v({})", exponential(u), at(name("v"), u, i)); });
          source(at(name("o"), t, i), fmt::format("({})/({})", mixed, total));
        }
      }
      charge(j, t, name("o"), weights(layer.o()));
    }
  }

  void feed_forward(Index j, const TransformerPlan::Layer& layer) {
    const std::string h = fmt::format("h{}", j);
    for (Index t = 0; t < s_.tokens; ++t) {
      const bool memory = s_.feed_forward == FeedForward::memory;
      for (Index i = 0; i < s_.hidden; ++i) {
        const std::string drive = combination(fmt::format("m{}_{}_", j, t), weights(layer.first).col(i));
        source(at(h, t, i), memory ? fmt::format("2*max({},0)", drive) : fmt::format("max({},0)^2", drive));
      }
      charge(j, t, h, memory ? Matrix<double>(weights(layer.first).transpose()) : weights(layer.second));
    }
  }

  /// Writes C dz/dt = C/τ F, F = z_below + G − z + κ (z_above − z), G = name w.
  void charge(Index j, Index t, const std::string& name, const Matrix<double>& w) {
    for (Index c = 0; c < s_.channels; ++c) {
      const std::string z = at(state(j), t, c);
      std::string force =
          fmt::format("v({})-v({})+{}", at(below(j), t, c), z, combination(fmt::format("{}_{}_", name, t), w.col(c)));
      if (s_.feedback > 0 && j + 1 < s_.nodes()) {
        force += fmt::format("+({:.17g})*(v({})-v({}))", s_.feedback, at(state(j + 1), t, c), z);
      }
      out_ +=
          fmt::format("c{0} {0} 0 {1:.17g} ic={2:.17g}\n", z, spec_.capacitance_F, spec_.start(t, j * s_.channels + c));
      out_ += fmt::format("bf{0} 0 {0} i={1:.17g}*({2})\n", z, spec_.capacitance_F / spec_.time_constant_s, force);
    }
  }

  void control(const std::string& data_file) {
    std::string voltages;
    for (Index t = 0; t < s_.tokens; ++t) {
      for (Index j = 0; j < s_.nodes(); ++j) {
        for (Index c = 0; c < s_.channels; ++c) voltages += fmt::format(" v({})", at(state(j), t, c));
      }
    }
    out_ += transient_end(spec_.print_step_s, spec_.stop_s, data_file, voltages);
  }

  const Network<double>& network_;
  const TransformerPlan& plan_;
  const TransformerShape& s_;
  const TransformerNetlist& spec_;
  std::string out_;
};

const TransformerPlan& transformer_of(const NetworkPlan& plan) {
  const auto* found = dynamic_cast<const TransformerPlan*>(&plan);
  if (found == nullptr)
    throw UserError(fmt::format("network.kind = {}: only a transformer is exported here", plan.kind()));
  return *found;
}

double terms(const NetworkPlan& plan) {
  const TransformerShape& s = transformer_of(plan).shape();
  const auto n = [](Index k) { return static_cast<double>(k); };
  const double half = n(s.nodes()) / 2;
  return n(s.tokens) * (n(s.nodes()) * n(s.channels) * (n(s.channels) + 1) +
                        half * (5 * n(s.channels) * n(s.channels) + 2 * n(s.channels) * n(s.hidden)) +
                        half * n(s.heads) * n(s.tokens) * (2 * n(s.channels) / n(s.heads) + 2));
}

ExportedNetwork write(const Network<double>& network, const NetlistOptions& options) {
  if (!options.curve.linear()) {
    throw UserError("crossbar: --block: of a transformer only linear devices are exported (device.iv_sinh = 0)");
  }
  const double tau = options.circuit.time_constant_s;
  TransformerNetlist spec;
  spec.input = options.clamp;
  spec.start.resize(network.rows(), network.cols());
  network.initial_state(spec.input, spec.start);
  spec.time_constant_s = tau;
  spec.capacitance_F = options.circuit.node_capacitance_F;
  spec.stop_s = (20 + 4.0 * static_cast<double>(network.circuit().nodes().size())) * tau;
  spec.print_step_s = 0.01 * tau;
  return {transformer_netlist(network, spec, options.data_file), {}};
}

}  // namespace

NetlistExport transformer_export() {
  return {
      terms, {"model.tokens", "model.channels", "model.memories", "transformer.layers", "transformer.loops"}, write};
}

std::string transformer_netlist(const Network<double>& network, const TransformerNetlist& spec,
                                const std::string& data_file) {
  const TransformerPlan& plan = transformer_of(network.plan());
  NUDGE_EXPECT(spec.input.rows() == network.rows() && spec.start.cols() == network.cols());
  if (!plan.shape().mixer.is_fused()) {
    throw UserError(
        fmt::format("transformer.mixer = {} cannot be exported: only attention is", plan.shape().mixer.kind));
  }
  if (plan.shape().activation == Activation::gelu && plan.shape().feed_forward == FeedForward::two_layer) {
    throw UserError("transformer.activation = gelu cannot be exported: ngspice has no error function (use relu2)");
  }
  return Writer(network, plan, spec).text(data_file);
}

}  // namespace nudge
