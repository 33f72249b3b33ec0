// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/netlist_noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/commands/text_lines.hpp"
#include "apps/streams.hpp"
#include "circuits/netlist/current_noise.hpp"
#include "circuits/netlist/memristor_devices.hpp"
#include "netlist/ac_response.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

constexpr std::size_t kNamed = 5;  // elements of the table

/// Reads "v(a)" or "v(a,b)".
NodePair read_noise_output(const std::string& text, const Netlist& netlist) {
  const bool formed = text.size() > 3 && (text.starts_with("v(") || text.starts_with("V(")) && text.back() == ')';
  if (!formed) throw UserError(fmt::format("netlist: --noise: \"{}\" must begin as \"v(out) dec 10 1 1meg\"", text));
  const std::string inside = text.substr(2, text.size() - 3);
  const std::size_t comma = inside.find(',');
  const auto node = [&](const std::string& name) {
    if (name == "0" || name == "gnd") return kGround;
    const int found = find_node(netlist, name);
    if (found < 0)
      throw UserError(fmt::format("netlist: --noise: no node {} ({})", name, did_you_mean(name, netlist.nodes)));
    return found;
  };
  if (comma == std::string::npos) return {node(inside), kGround};
  return {node(inside.substr(0, comma)), node(inside.substr(comma + 1))};
}

/// Noise of one voltage over the frequencies, V²/Hz on one side, in all and by element.
struct OutputNoise {
  std::vector<double> all;
  std::map<std::size_t, std::vector<double>> by_element;
};

OutputNoise output_noise(AcResponse& response, const NodePair& output, const std::vector<NoiseCurrent>& currents,
                         const std::vector<double>& frequencies) {
  OutputNoise out;
  std::vector<std::complex<double>> y;
  for (std::size_t k = 0; k < frequencies.size(); ++k) {
    if (!response.adjoint_at(frequencies[k], output, y))
      throw NumericalFailure(fmt::format("the equations are singular at {:g} Hz", frequencies[k]));
    const auto at = [&y](int node) { return node < 0 ? std::complex<double>() : y[static_cast<std::size_t>(node)]; };
    double sum = 0;
    for (const NoiseCurrent& one : currents) {
      const double density = 2 * one.white_A2_per_Hz + one.flicker_A2 / frequencies[k];
      const double share = std::norm(at(one.from) - at(one.to)) * density;
      std::vector<double>& own = out.by_element[one.element];
      own.resize(frequencies.size(), 0.0);
      own[k] += share;
      sum += share;
    }
    out.all.push_back(sum);
  }
  return out;
}

/// Integral of a density over its frequencies, straight lines in a double-logarithmic plot between its points (as .noise of SPICE).
double noise_power_V2(const std::vector<double>& frequencies, const std::vector<double>& density) {
  double sum = 0;
  for (std::size_t k = 1; k < frequencies.size(); ++k) {
    const double f = frequencies[k - 1], g = frequencies[k], a = density[k - 1], b = density[k];
    const double power = a > 0 && b > 0 && f > 0 ? std::log(b / a) / std::log(g / f) : 0;
    if (a > 0 && b > 0 && std::abs(power + 1) > 1e-9) {
      sum += (b * g - a * f) / (power + 1);
    } else {
      sum += power != 0 ? a * f * std::log(g / f) : (a + b) / 2 * (g - f);
    }
  }
  return sum;
}

/// Says that the noise of reads is left out, where memristors have some.
void say_without_reads(const Netlist& netlist) {
  const Element* first = first_memristor(netlist);
  if (first == nullptr) return;
  const DeviceSpec device = device_of(*first->memristor);
  if (device.uniform_read_S2() == 0 && !device.reads_by_state()) return;
  say("nudge: note: {}: the noise of reads of {} is left out, because it depends on the time of a read. A training has "
      "it "
      "(network.kind = netlist)\n",
      to_string(first->place), first->name);
}

}  // namespace

std::string noise_text(const std::vector<std::string>& card) {
  std::size_t at = 1;
  while (at < card.size() && card[at] != "dec" && card[at] != "oct" && card[at] != "lin") ++at;
  const bool formed = at >= 4 && at <= 5 && card[1] == "v" && at < card.size();
  if (!formed) throw UserError("netlist: --noise .noise: the card must be .noise v(out) SOURCE dec 10 1 1meg");
  std::string text = fmt::format("v({}{})", card[2], at == 5 ? "," + card[3] : "");
  for (std::size_t k = at; k < std::min(at + 4, card.size()); ++k) text += " " + card[k];
  return text;
}

ExitCode print_noise(const std::string& text, bool json, const NodalEquations& equations, const std::vector<double>& x,
                     const std::vector<double>& node_capacitance_F) {
  const std::size_t end = text.find(' ');
  const Netlist& netlist = equations.netlist();
  const NodePair output = read_noise_output(text.substr(0, end), netlist);
  const std::vector<double> frequencies =
      sweep_frequencies(end == std::string::npos ? "" : text.substr(end + 1), "netlist: --noise");
  if (!(frequencies.front() > 0)) throw UserError("netlist: --noise: the first frequency must be above 0 Hz");
  say_without_reads(netlist);
  AcResponse response(equations, x, node_capacitance_F);
  const double kelvin = netlist.celsius + zero_celsius_K;
  const OutputNoise noise =
      output_noise(response, output, noise_currents(equations, equations.values(), x, kelvin), frequencies);
  const double power_V2 = noise_power_V2(frequencies, noise.all);
  std::vector<std::pair<double, std::string>> shares;
  nlohmann::json elements = nlohmann::json::object();
  for (const auto& [k, density] : noise.by_element) {
    shares.emplace_back(noise_power_V2(frequencies, density), netlist.elements[k].name);
    elements[netlist.elements[k].name] = {{"density_V2_per_Hz", density}, {"power_V2", shares.back().first}};
  }
  if (json) {
    const nlohmann::json out{{"output", text.substr(0, end)},  {"temperature_K", kelvin}, {"frequency_Hz", frequencies},
                             {"density_V2_per_Hz", noise.all}, {"power_V2", power_V2},    {"elements", elements}};
    answer("{}\n", json_text(out, 2));
    return ExitCode::ok;
  }
  std::vector<std::vector<std::string>> cells = {{"frequency", "noise, V/sqrt(Hz)"}};
  for (std::size_t k = 0; k < frequencies.size(); ++k)
    cells.push_back({format_quantity(frequencies[k], Unit::hertz, 5), fmt::format("{:.4g}", std::sqrt(noise.all[k]))});
  std::sort(shares.rbegin(), shares.rend());
  std::vector<std::vector<std::string>> parts = {{"element", "share"}};
  for (std::size_t k = 0; k < std::min(shares.size(), kNamed) && power_V2 > 0; ++k)
    parts.push_back({shares[k].second, fmt::format("{:.3g} %", 100 * shares[k].first / power_V2)});
  answer("{}{}{} in all from {} to {}, at {:g} K\n", text_table(cells, 0), text_table(parts, 0),
         format_quantity(std::sqrt(power_V2), Unit::volt, 4), format_quantity(frequencies.front(), Unit::hertz, 5),
         format_quantity(frequencies.back(), Unit::hertz, 5), kelvin);
  return ExitCode::ok;
}

}  // namespace nudge
