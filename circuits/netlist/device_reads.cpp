// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/device_reads.hpp"

#include <cmath>

#include "circuits/netlist/netlist_ports.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

/// Number of its draws, among those of arrays.
constexpr std::uint32_t kDevices = (1U << 20U) + 2;

}  // namespace

DeviceReads::DeviceReads(const Netlist& netlist, const std::vector<ElementRow>& learned, DeviceSpec device)
    : device_(std::move(device)) {
  std::vector<bool> is_device(netlist.elements.size(), false);
  for (const ElementRow& row : learned) {
    for (const std::size_t k : row.elements) is_device[k] = row.devices;
  }
  for (std::size_t k = 0; k < is_device.size(); ++k) {
    if (is_device[k] || netlist.elements[k].memristor != nullptr) elements_.push_back(k);
  }
}

void DeviceReads::draw(Index rows, double interval, ReadContext& read) {
  scale_ = read.noisy() ? 1 / std::sqrt(interval * read.reads()) : 0;
  draws_.resize(static_cast<std::size_t>(rows) * elements_.size());
  const std::uint64_t place = (static_cast<std::uint64_t>(read.sequence) << 32U) | read.step;
  fill_normal<double>({read.seed, Purpose::read_noise, kDevices}, place, (read.phase << 24U) + read.read++, draws_);
}

void DeviceReads::deviate(Index row, std::vector<double>& values) const {
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    double& siemens = values[elements_[i]];
    siemens = std::max(0.0, siemens + deviation_S(row, i, siemens));
  }
}

void DeviceReads::leave(Index row, const Netlist& netlist, const std::vector<double>& values,
                        const std::vector<double>& v, std::vector<double>& out) const {
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    const Element& e = netlist.elements[elements_[i]];
    const double siemens = values[elements_[i]];
    const double amperes = deviation_S(row, i, siemens) * current_by_siemens(e, siemens, across(e, v));
    if (e.nodes[0] >= 0) out[static_cast<std::size_t>(e.nodes[0])] += amperes;
    if (e.nodes[1] >= 0) out[static_cast<std::size_t>(e.nodes[1])] -= amperes;
  }
}

}  // namespace nudge
