// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/current_noise.hpp"

#include <algorithm>
#include <cmath>

#include "circuits/circuit_spec.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

constexpr double kCharge_C = 1.602176634e-19;  // SI, exact
/// Number of its draws, among those of nodes.
constexpr std::uint32_t kCurrents = 1U << 20U;

/// Noise conductance β V_ov ⅔ (1 + η + η²)/(1 + η) of a channel.
double channel_noise_S(const MosfetLaw& law, double gate_source, double drain_source) {
  double vgs = law.sign * gate_source, vds = law.sign * drain_source;
  if (vds < 0) {  // source and drain change places
    vgs -= vds;
    vds = -vds;
  }
  const double over = vgs - law.sign * law.threshold_V;
  if (over <= 0) return 0;
  const double eta = std::max(0.0, 1 - vds / over);
  return law.beta_A_per_V2 * over * (1 + law.modulation_per_V * vds) * 2.0 / 3.0 * (1 + eta + eta * eta) / (1 + eta);
}

/// Current I of S(f) = a |I|^AF/f.
double flickering_A(const Element& e, const std::vector<double>& v) {
  const auto at = [&v](int node) { return node < 0 ? 0 : v[static_cast<std::size_t>(node)]; };
  if (e.kind == ElementKind::diode) return e.junction.at(across(e, v)).current;
  return e.mosfet.at(at(e.nodes[1]) - at(e.nodes[2]), at(e.nodes[0]) - at(e.nodes[2])).current;
}

}  // namespace

double current_noise_A2_per_Hz(const Element& e, double value, const std::vector<double>& v, double gmin_S,
                               double temperature_K) {
  const double thermal = 2 * boltzmann_J_per_K * temperature_K;
  const auto at = [&v](int node) { return node < 0 ? 0 : v[static_cast<std::size_t>(node)]; };
  switch (e.kind) {
    case ElementKind::resistor: return thermal * std::max(value, 0.0);
    case ElementKind::diode:
      return kCharge_C * (e.junction.at(across(e, v)).current + 2 * e.junction.saturation_A) + thermal * gmin_S;
    case ElementKind::mosfet:
      return thermal * channel_noise_S(e.mosfet, at(e.nodes[1]) - at(e.nodes[2]), at(e.nodes[0]) - at(e.nodes[2]));
    default: return 0;
  }
}

void CurrentNoise::draw(Index rows, double tau_s, ReadContext& read) {
  scale_ = read.noise_scale() / std::sqrt(read.reads() * tau_s);
  if (flicker_.any()) flicker_.draw(rows, read.reads() * read.duration() * tau_s, read);
  draws_.resize(static_cast<std::size_t>(rows) * equations_->netlist().elements.size());
  const std::uint64_t place = (static_cast<std::uint64_t>(read.sequence) << 32) | read.step;
  fill_normal<double>({read.seed, Purpose::node_noise, kCurrents}, place, (read.phase << 24U) + read.read++, draws_);
}

void CurrentNoise::leave(Index row, double temperature_K, const std::vector<double>& values,
                         const std::vector<double>& v, std::vector<double>& out) const {
  const Netlist& netlist = equations_->netlist();
  const std::size_t count = netlist.elements.size();
  std::fill(out.begin(), out.end(), 0.0);
  auto flickers = flicker_.elements().begin();
  for (std::size_t k = 0; k < count; ++k) {
    const Element& e = netlist.elements[k];
    const double density = current_noise_A2_per_Hz(e, values[k], v, netlist.gmin_S, temperature_K);
    double amperes = scale_ * std::sqrt(density) * draws_[static_cast<std::size_t>(row) * count + k];
    if (flickers != flicker_.elements().end() && *flickers == k) {
      amperes += std::sqrt(e.flicker.factor * std::pow(std::abs(flickering_A(e, v)), e.flicker.power)) *
                 flicker_.deviate(row, static_cast<std::size_t>(flickers - flicker_.elements().begin()));
      ++flickers;
    }
    if (amperes == 0) continue;
    const int from = e.nodes[0], to = e.kind == ElementKind::mosfet ? e.nodes[2] : e.nodes[1];
    if (from >= 0) out[static_cast<std::size_t>(from)] += amperes;
    if (to >= 0) out[static_cast<std::size_t>(to)] -= amperes;
  }
}

}  // namespace nudge
