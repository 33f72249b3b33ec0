// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/block_export.hpp"

#include <fmt/format.h>

#include <span>

#include "apps/streams.hpp"
#include "circuits/crossbar/crossbar_config.hpp"
#include "sim/base/errors.hpp"
#include "sim/io/atomic_file.hpp"
#include "training/config/assembly.hpp"
#include "training/config/run_parts.hpp"
#include "training/models/registry.hpp"

namespace nudge {
namespace {

/// Terms of all behavioural sources, or resistors (chosen: a netlist of a few megabytes; ngspice is for small networks).
constexpr double most_terms = 5e4;

/// "block, transformer": what has a netlist.
std::string exported_kinds() {
  std::string names;
  for (const NetworkKind& kind : network_kinds()) {
    if (kind.netlist) names += (names.empty() ? "" : ", ") + kind.name;
  }
  return names;
}

void check_size(const Config& config, const NetlistExport& netlist, double terms) {
  if (terms <= most_terms) return;
  std::string keys;
  for (const std::string& key : netlist.sizes) {
    keys += fmt::format("{}{} = {}", keys.empty() ? "" : ", ", key, config.as_text(key));
  }
  throw UserError(fmt::format("crossbar: --block: {:g} source terms or resistors (must be <= {:g}): make {} smaller",
                              terms, most_terms, keys));
}

}  // namespace

void export_block(const Config& config, const std::filesystem::path& path) {
  const NetworkKind& kind = network_kind(config);
  if (!kind.netlist) {
    throw UserError(
        fmt::format("crossbar: --block: network.kind = {} is not exported ({} are)", kind.name, exported_kinds()));
  }
  const auto [task, plan] = circuit_parts(config);
  check_size(config, *kind.netlist, kind.netlist->terms(*plan));
  const auto network = make_network<double>(config, plan, Weights::configured);
  const CrossbarSpec arrays = crossbar_spec(config);
  NetlistOptions options{Matrix<double>(network->rows(), network->circuit().inputs()), arrays.circuit,
                         arrays.device.curve, path.filename().string() + ".data"};
  network->clamp(task->training(0), 0, options.clamp);
  const ExportedNetwork exported = kind.netlist->write(*network, options);
  write_atomically(path, std::as_bytes(std::span(exported.text)), Overwrite::must_not_exist);
  if (!exported.note.empty()) say("{}\n", exported.note);
}

}  // namespace nudge
