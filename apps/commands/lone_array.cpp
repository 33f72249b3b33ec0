// SPDX-License-Identifier: Apache-2.0
#include "apps/commands/lone_array.hpp"

#include <fmt/format.h>

#include <cmath>

#include "circuits/crossbar/array_memory.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "training/config/stuck_maps.hpp"
#include "training/data/matrix_file.hpp"

namespace nudge {
namespace {

/// The spec of the array, whose name alone is known to device.stuck_map.
CrossbarSpec lone_spec(CrossbarSpec spec, Index rows, Index cols) {
  check_array_memory(rows, cols, spec.mapping.kind, sizeof(double), physical_memory_bytes());
  check_stuck_names(spec, {lone_array_name});
  set_stuck_map(spec, lone_array_name, rows, cols);
  return spec;
}

Matrix<double> conductances_of(const MatrixFile& file, const std::string& unit) {
  const double siemens = parse_quantity("1 " + unit, Unit::siemens);
  for (Index i = 0; i < file.values.rows(); ++i) {
    for (Index j = 0; j < file.values.cols(); ++j) {
      if (file.values(i, j) >= 0) continue;
      throw UserError(
          fmt::format("{}: {} {} (a conductance must be at least 0)", file.place(i, j), file.values(i, j), unit));
    }
  }
  return siemens * file.values;
}

/// What reads of a measured conductance need to know of its device: nothing is drawn and nothing moves.
DeviceSpec bare_device(const DeviceSpec& device, double largest_S) {
  DeviceSpec bare;
  bare.model = "ideal";
  bare.curve = device.curve;
  if (device.model == digital_model) {
    bare.g_min_S = 0;
    bare.g_max_S = largest_S;
    return bare;
  }
  bare.g_min_S = device.g_min_S;
  bare.g_max_S = device.g_max_S;
  bare.read_noise = device.read_noise;
  bare.read_saturating_S = device.read_saturating_S;
  bare.read_scale_S = device.read_scale_S;
  if (device.noise.has_white()) {
    bare.noise.level_S = device.noise.level_S;
    bare.noise.white_S = device.noise.white_S;
  }
  return bare;
}

}  // namespace

LoneArray programmed_array(const std::string& path, const CrossbarSpec& spec, std::uint64_t seed) {
  LoneArray out;
  out.nominal = read_matrix_file(path, "weights").values;
  if (out.nominal.isZero(0)) throw UserError(fmt::format("weights file \"{}\": all weights are 0", path));
  out.spec = lone_spec(spec, out.nominal.rows(), out.nominal.cols());
  out.array = std::make_unique<Crossbar<double>>(out.spec, out.nominal, 0, seed);
  return out;
}

LoneArray measured_array(const std::string& path, const std::string& unit, const CrossbarSpec& spec,
                         std::uint64_t seed) {
  if (spec.device.selector.any()) {
    throw UserError(fmt::format(
        "crossbar: --conductances with device.selector = {} (a measured matrix is of cells as they are read, selectors "
        "included: leave it none)",
        selector_name(spec.device.selector.kind)));
  }
  const MatrixFile file = read_matrix_file(path, "conductances");
  Matrix<double> g = conductances_of(file, unit);
  if (g.isZero(0)) throw UserError(fmt::format("{}: all conductances are 0", file.name));
  LoneArray out;
  CrossbarSpec own = spec;
  own.device = bare_device(spec.device, g.maxCoeff());
  own.programming = {};
  own.mapping.kind = MappingKind::single;
  if (own.mapping.w_max == 0) own.mapping.w_max = 1;
  out.spec = lone_spec(own, g.rows(), g.cols());
  if (const auto& stuck = out.spec.stuck.first_S) g = stuck->array().isNaN().select(g, *stuck);
  out.nominal = (own.mapping.w_max / own.device.g_max_S) * g;
  out.array = std::make_unique<Crossbar<double>>(out.spec, out.nominal, 0, seed);
  // Programming rounds to and fro: the numbers of the file instead.
  for (const StateArray<double>& state : out.array->state()) {
    if (state.name == "g_plus") *state.values = g;
  }
  out.array->state_restored();
  return out;
}

}  // namespace nudge
