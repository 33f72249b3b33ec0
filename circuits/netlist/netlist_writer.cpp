// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/netlist_writer.hpp"

#include <fmt/format.h>

#include <map>

namespace nudge {
namespace {

constexpr double kWritten_m = 1e-6;  // W and L of transistors

/// Writes one netlist, card by card.
class CardWriter {
 public:
  explicit CardWriter(const Netlist& netlist) : netlist_(&netlist) {}

  std::string text(const std::string& note) {
    out_ = fmt::format("{}\n* {}\n", netlist_->title, note);
    for (const Element& e : netlist_->elements) card(e);
    for (const auto& [law, name] : models_) out_ += fmt::format(".model {} {}\n", name, law);
    out_ += fmt::format(".options gmin={}", netlist_->gmin_S);
    if (netlist_->shunt_S > 0) out_ += fmt::format(" rshunt={}", 1 / netlist_->shunt_S);
    return out_ + "\n.end\n";
  }

 private:
  /// What stands in front says what it is.
  static std::string name_of(const Element& e) {
    static const char letters[] = {'r', 'c', 'v', 'i', 'd', 'e', 'g', 'f', 'h', 'm'};
    const char letter = letters[static_cast<std::size_t>(e.kind)];
    const bool plain = e.name.front() == letter && e.name.find_first_of(".#") == std::string::npos;
    return plain ? e.name : fmt::format("{}_{}", letter, e.name);
  }
  std::string nodes_of(const Element& e) const {
    std::string text;
    for (const int node : e.nodes) text += " " + (node < 0 ? "0" : netlist_->nodes[static_cast<std::size_t>(node)]);
    return text;
  }
  static std::string flicker(double factor, double power) {
    return factor > 0 ? fmt::format(" KF={} AF={}", factor, power) : "";
  }
  const std::string& model(const std::string& law) {
    return models_.emplace(law, fmt::format("model{}", models_.size() + 1)).first->second;
  }

  void card(const Element& e) {
    out_ += name_of(e) + nodes_of(e);
    switch (e.kind) {
      case ElementKind::diode:
        out_ +=
            " " + model(fmt::format("D(IS={} N={}{})", e.junction.saturation_A, e.junction.thermal_V / kSpiceThermal_V,
                                    flicker(e.flicker.factor, e.flicker.power)));
        break;
      case ElementKind::mosfet:
        out_ += " " +
                model(fmt::format(
                    "{}(LEVEL=1 VTO={} KP={} LAMBDA={} IS={} N={}{})", e.mosfet.sign < 0 ? "PMOS" : "NMOS",
                    e.mosfet.threshold_V, e.mosfet.beta_A_per_V2, e.mosfet.modulation_per_V, e.mosfet.body.saturation_A,
                    e.mosfet.body.thermal_V / kSpiceThermal_V,
                    flicker(e.flicker.factor * gate_F2(kWritten_m, kWritten_m, kDefaultOxide_m), e.flicker.power))) +
                " W=1u L=1u";
        break;
      case ElementKind::cccs:
      case ElementKind::ccvs:
        out_ += fmt::format(" {} {}", name_of(netlist_->elements[static_cast<std::size_t>(e.control)]), e.value);
        break;
      case ElementKind::voltage:
      case ElementKind::current:
        out_ += fmt::format(" DC {}", e.value);
        if (e.wave.kind != Waveform::Kind::none) out_ += " " + e.wave.text();
        break;
      default: out_ += fmt::format(" {}", e.value);
    }
    out_ += "\n";
  }

  const Netlist* netlist_;
  std::string out_;
  std::map<std::string, std::string> models_;  ///< names by their laws
};

}  // namespace

std::string netlist_text(const Netlist& netlist, const std::string& note) { return CardWriter(netlist).text(note); }

}  // namespace nudge
