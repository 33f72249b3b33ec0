// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "circuits/netlist/netlist_ports.hpp"
#include "circuits/read_context.hpp"
#include "devices/device_spec.hpp"
#include "netlist/netlist.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Fresh noise of the devices of a netlist, σ(g) of DeviceSpec::read_sigma_S per √τ. Every read deviates anew by σ(g)/√Δ, Δ its interval in τ. The
/// draws are a pure function of the read's place (ReadContext).
class DeviceReads {
 public:
  DeviceReads() = default;
  /// Reads of the memristors of a netlist, and of the resistors that learn as devices.
  DeviceReads(const Netlist& netlist, const std::vector<ElementRow>& learned, DeviceSpec device);

  /// True if a device has such noise.
  bool any() const { return !elements_.empty() && (device_.uniform_read_S2() > 0 || device_.reads_by_state()); }

  /// Draws the next read of `rows` states side by side, which lasts `interval` in τ.
  void draw(Index rows, double interval, ReadContext& read);
  /// Adds the deviations of the read to the conductances of one state (NodalEquations::values). None becomes negative.
  void deviate(Index row, std::vector<double>& values) const;
  /// Adds the currents δg ∂I/∂g that the read adds at the voltages v to those that leave the nodes.
  void leave(Index row, const Netlist& netlist, const std::vector<double>& values, const std::vector<double>& v,
             std::vector<double>& out) const;

 private:
  double deviation_S(Index row, std::size_t i, double siemens) const {
    return scale_ * device_.read_sigma_S(siemens) * draws_[static_cast<std::size_t>(row) * elements_.size() + i];
  }

  std::vector<std::size_t> elements_;
  DeviceSpec device_;
  double scale_ = 0;
  std::vector<double> draws_;
};

/// States that reads with noise have solved for, with the conductances of these reads. At such a state the force has the conductances of its own read.
template <class S>
class SolvedReads {
 public:
  void clear() { all_.clear(); }
  bool empty() const { return all_.empty(); }
  void add(ConstMatrixRef<S> z, Index row, const std::vector<double>& values) { all_.emplace_back(z.row(row), values); }
  /// Values of the read that solved for this very state; `otherwise` if none did.
  const std::vector<double>& values(ConstMatrixRef<S> z, Index row, const std::vector<double>& otherwise) const {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& one) { return one.first == z.row(row); });
    return found == all_.end() ? otherwise : found->second;
  }

 private:
  std::vector<std::pair<Matrix<S>, std::vector<double>>> all_;
};

}  // namespace nudge
