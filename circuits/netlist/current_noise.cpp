// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/current_noise.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "circuits/circuit_spec.hpp"
#include "circuits/crossbar/read_noise.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

constexpr double kCharge_C = 1.602176634e-19;  // SI, exact
/// Number of its draws, among those of nodes.
constexpr std::uint32_t kCurrents = 1U << 20U;

/// Voltage between two nodes of an element.
double between(const Element& e, std::size_t plus, std::size_t minus, const std::vector<double>& v) {
  const auto at = [&v](int node) { return node < 0 ? 0 : v[static_cast<std::size_t>(node)]; };
  return at(e.nodes[plus]) - at(e.nodes[minus]);
}

BipolarLaw::Point bipolar_at(const Element& e, const std::vector<double>& v) {
  return e.bipolar->at(between(e, 1, 2, v), between(e, 1, 0, v));
}

/// Current I of S(f) = a |I|^AF/f.
double flickering_A(const Element& e, const std::vector<double>& v) {
  if (e.kind == ElementKind::diode) return e.junction.at(across(e, v)).current;
  if (e.kind == ElementKind::bipolar) return bipolar_at(e, v).base;
  return e.mosfet.at(between(e, 1, 2, v), between(e, 0, 2, v), between(e, 3, 2, v)).current;
}

/// Its density times f, in A².
double flicker_A2(const Element& e, const std::vector<double>& v) {
  return e.flicker.factor > 0 ? e.flicker.factor * std::pow(std::abs(flickering_A(e, v)), e.flicker.power) : 0;
}

/// Conductance of a switch at its control, a voltage or a current; 0 of other formulas.
double switch_S(const NodalEquations& equations, const Element& e, const std::vector<double>& x) {
  if (e.formula->switched == nullptr) return 0;
  const SwitchLaw& law = *e.formula->switched;
  const auto [plus, minus] = equations.input_unknowns(e, e.formula->inputs[static_cast<std::size_t>(law.input)]);
  const auto at = [&x](int unknown) { return unknown < 0 ? 0 : x[static_cast<std::size_t>(unknown)]; };
  const double control = law.scale * (at(plus) - at(minus));
  return control >= (law.on ? law.off_at : law.on_at) ? law.on_S : law.off_S;
}

/// Two-sided spectral density of the white noise of an element's current at the unknowns v, in A²/Hz; `value`
/// NodalEquations::values.
///     resistor    2 k T g                              thermal (Nyquist, Phys. Rev. 32 (1928) 110): 4 k T g on one side; switches as well
///     curved      2 k T dI/dv                          as at rest, where it is Nyquist's
///     diode       q (I + 2 I_s), q |I| in breakdown, and 2 k T gmin: shot of both directions (ngspice manual: 2 q I on one side); at rest 2 k T of its slope
///     transistor  2 k T G                              channel (MosfetLaw::noise_S); its junctions are left out
///     bipolar     q |I_c|; of its base q |I_b|         shot (ngspice manual: 2 q I on one side); 2 k T/r of a base that spreads
/// All other elements have none.
double current_noise_A2_per_Hz(const NodalEquations& equations, const Element& e, double value,
                               const std::vector<double>& v, double temperature_K) {
  const double thermal = 2 * boltzmann_J_per_K * temperature_K;
  switch (e.kind) {
    case ElementKind::resistor: return thermal * std::max(value, 0.0);
    case ElementKind::curved_resistor: return thermal * e.memristor->curve->at(value, across(e, v)).by_volts;
    case ElementKind::formula_current: return thermal * switch_S(equations, e, v);
    case ElementKind::diode: {
      const double current = e.junction.at(across(e, v)).current;
      return kCharge_C * std::max(current + 2 * e.junction.saturation_A, -current) +
             thermal * equations.netlist().gmin_S;
    }
    case ElementKind::mosfet:
      return thermal * e.mosfet.noise_S(between(e, 1, 2, v), between(e, 0, 2, v), between(e, 3, 2, v));
    case ElementKind::bipolar: return kCharge_C * std::abs(bipolar_at(e, v).collector);
    default: return 0;
  }
}

/// Calls take(from, to, density) for the white currents of noise in the base of a bipolar transistor, first that of the base's current.
template <class Take>
void take_base_noise(const Element& e, const std::vector<double>& v, double temperature_K, const Take& take) {
  const BipolarLaw::Point at = bipolar_at(e, v);
  take(e.nodes[1], e.nodes[2], kCharge_C * std::abs(at.base));
  if (e.bipolar->spreads()) take(e.nodes[3], e.nodes[1], 2 * boltzmann_J_per_K * temperature_K / at.base_Ohm);
}

/// Number of the node at which an element's current of noise ends.
std::size_t noise_end(const Element& e) {
  return e.kind == ElementKind::mosfet || e.kind == ElementKind::bipolar ? 2 : 1;
}

}  // namespace

std::vector<NoiseCurrent> noise_currents(const NodalEquations& equations, const std::vector<double>& values,
                                         const std::vector<double>& v, double temperature_K) {
  const Netlist& netlist = equations.netlist();
  std::vector<NoiseCurrent> all;
  for (std::size_t k = 0; k < netlist.elements.size(); ++k) {
    const Element& e = netlist.elements[k];
    const double white = current_noise_A2_per_Hz(equations, e, values[k], v, temperature_K);
    double flicker = flicker_A2(e, v);
    const bool base = e.kind == ElementKind::bipolar;
    if (white > 0 || flicker > 0) all.push_back({k, e.nodes[0], e.nodes[noise_end(e)], white, base ? 0 : flicker});
    if (!base) continue;
    take_base_noise(e, v, temperature_K, [&](int from, int to, double base_A2_per_Hz) {
      all.push_back({k, from, to, base_A2_per_Hz, std::exchange(flicker, 0)});
    });
  }
  return all;
}

CurrentNoise::CurrentNoise(const NodalEquations& equations, double slowest_s)
    : equations_(&equations), flicker_(equations.netlist(), slowest_s) {
  for (const Element& e : equations.netlist().elements) {
    if (e.kind == ElementKind::bipolar) bases_ += e.bipolar->spreads() ? 2 : 1;
  }
}

void CurrentNoise::draw(Index rows, double tau_s, ReadContext& read) {
  scale_ = read.noise_scale() / std::sqrt(read.reads() * tau_s);
  if (flicker_.any()) flicker_.draw(rows, read.reads() * read.duration() * tau_s, read);
  draws_.resize(static_cast<std::size_t>(rows) * (equations_->netlist().elements.size() + bases_));
  const std::uint64_t place = (static_cast<std::uint64_t>(read.sequence) << 32) | read.step;
  fill_normal<double>({read.seed, Purpose::node_noise, kCurrents}, place, (read.phase << 24U) + read.read++, draws_);
}

void CurrentNoise::leave(Index row, double temperature_K, const std::vector<double>& values,
                         const std::vector<double>& v, std::vector<double>& out) const {
  const Netlist& netlist = equations_->netlist();
  const std::size_t count = netlist.elements.size();
  std::fill(out.begin(), out.end(), 0.0);
  auto flickers = flicker_.elements().begin();
  const double* draws = draws_.data() + static_cast<std::size_t>(row) * (count + bases_);
  const double* of_bases = draws + count;
  const auto add = [&out](int from, int to, double amperes) {
    if (from >= 0) out[static_cast<std::size_t>(from)] += amperes;
    if (to >= 0) out[static_cast<std::size_t>(to)] -= amperes;
  };
  for (std::size_t k = 0; k < count; ++k) {
    const Element& e = netlist.elements[k];
    const double density = current_noise_A2_per_Hz(*equations_, e, values[k], v, temperature_K);
    double amperes = scale_ * std::sqrt(density) * draws[k], flickering = 0;
    if (flickers != flicker_.elements().end() && *flickers == k) {
      flickering = std::sqrt(flicker_A2(e, v)) *
                   flicker_.deviate(row, static_cast<std::size_t>(flickers - flicker_.elements().begin()));
      ++flickers;
    }
    if (e.kind == ElementKind::bipolar) {
      add(e.nodes[1], e.nodes[2], std::exchange(flickering, 0));
      take_base_noise(e, v, temperature_K, [&](int from, int to, double base_A2_per_Hz) {
        add(from, to, scale_ * std::sqrt(base_A2_per_Hz) * *of_bases++);
      });
    }
    amperes += flickering;
    if (amperes != 0) add(e.nodes[0], e.nodes[noise_end(e)], amperes);
  }
}

namespace {

constexpr double kLeastRead = 1e-9;  // in units of the slowest time constant: ten processes at most
/// Number of its states and draws, among those of arrays and nodes.
constexpr std::uint32_t kFlicker = (1U << 20U) + 1;

}  // namespace

FlickerNoise::FlickerNoise(const Netlist& netlist, double slowest_s) : slowest_s_(slowest_s) {
  for (std::size_t k = 0; k < netlist.elements.size(); ++k)
    if (netlist.elements[k].flicker.factor > 0) elements_.push_back(k);
}

void FlickerNoise::draw(Index rows, double seconds, const ReadContext& read) {
  static thread_local LineMemory<double> none;
  if (read.memory == nullptr) none.clear();
  LineMemory<double>& memory = read.memory != nullptr ? read.memory->at<double>(kFlicker, true) : none;
  const auto lines = static_cast<Index>(elements_.size());
  const LineBlock block{rows, 0, lines, lines};
  const auto each = static_cast<std::size_t>(block.numbers());
  // What is faster than a read has nearly none of its variance left in the mean. A read of no time has them all as they are.
  const double decades = std::log10(slowest_s_ / std::max(seconds, kLeastRead * slowest_s_));
  const int processes = 1 + std::max(0, static_cast<int>(std::ceil(decades)));
  numbers_.resize(3 * each * static_cast<std::size_t>(processes));
  sums_.assign(each, 0.0);
  const std::uint64_t place = (static_cast<std::uint64_t>(read.sequence) << 32U) | read.step;
  fill_normal<double>({read.seed, Purpose::moving_noise, kFlicker}, place, (read.phase << 24U) + read.read, numbers_);
  const double* next = numbers_.data();
  double time_s = slowest_s_;
  for (int k = 0; k < processes; ++k, time_s /= 10, next += 3 * each) {
    average<double>(ReadAverage(seconds / time_s), block, memory.process(static_cast<std::size_t>(k), rows, lines),
                    next, next + each, next + 2 * each, sums_.data());
  }
  // Each has the variance a |I|^AF ln 10 of a decade.
  for (double& sum : sums_) sum *= std::sqrt(std::numbers::ln10);
}

}  // namespace nudge
