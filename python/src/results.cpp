// SPDX-License-Identifier: Apache-2.0
#include "python/src/results.hpp"

#include <nanobind/stl/string.h>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/rules/ruled_map.hpp"
#include "python/src/arrays.hpp"

namespace nudge::python {
namespace {

nb::object object_of(const nlohmann::json& value) {
  switch (value.type()) {
    case nlohmann::json::value_t::object: {
      nb::dict out;
      for (const auto& [key, one] : value.items()) out[key.c_str()] = object_of(one);
      return out;
    }
    case nlohmann::json::value_t::array: {
      nb::list out;
      for (const nlohmann::json& one : value) out.append(object_of(one));
      return out;
    }
    case nlohmann::json::value_t::string: return nb::cast(value.get<std::string>());
    case nlohmann::json::value_t::boolean: return nb::bool_(value.get<bool>());
    case nlohmann::json::value_t::number_integer: return nb::int_(value.get<std::int64_t>());
    case nlohmann::json::value_t::number_unsigned: return nb::int_(value.get<std::uint64_t>());
    case nlohmann::json::value_t::number_float: return nb::float_(value.get<double>());
    default: return nb::none();
  }
}

}  // namespace

nb::dict dict_of(const nlohmann::json& object) { return nb::cast<nb::dict>(object_of(object)); }

nb::dict dict_of(const SettleResult& result) {
  nb::dict out;
  out["status"] = std::string(to_string(result.status));
  out["steps"] = result.steps;
  out["force_evaluations"] = result.force_evaluations;
  out["residual"] = result.residual;
  out["time"] = result.time;
  out["decay"] = result.decay;
  return out;
}

nb::dict dict_of(const SequenceReport& report) {
  nb::dict out;
  out["free"] = dict_of(report.free);
  out["loss"] = report.loss;
  out["nudged"] = std::string(to_string(report.nudged));
  out["nudged_residual"] = report.nudged_residual;
  out["nudged_time"] = report.nudged_time;
  out["nudge_ratio"] = report.nudge_ratio;
  out["adjoint_norm"] = report.adjoint.norm;
  out["cost_in_forces"] = report.cost_in_forces;
  return out;
}

namespace {

template <class S>
void add_devices(nb::dict& out, const std::string& name, const DeviceArray<S>& devices, nb::handle owner) {
  const DeviceCells<S>& cells = devices.cells();
  const auto add = [&](const std::string& what, const Matrix<S>& values) {
    out[(name + what).c_str()] = view_of(values, owner);
  };
  add("conductance", devices.conductance());
  add("lower", cells.lower);
  add("upper", cells.upper);
  add("pulses", cells.writes);
}

}  // namespace

template <class S>
nb::dict facts_of(const LinearMap<S>& map, nb::handle owner) {
  nb::dict out;
  nb::dict readings;
  for (const MapReading& r : map.readings()) {
    readings[r.name.c_str()] = nb::make_tuple(r.value, r.unit, r.description);
  }
  out["readings"] = readings;
  out["noisy"] = map.noisy();
  const auto* crossbar = dynamic_cast<const Crossbar<S>*>(&map);
  if (const auto* ruled = dynamic_cast<const RuledMap<S>*>(&map); ruled != nullptr && ruled->arrays().alone()) {
    crossbar = ruled->arrays().all.front().get();
  }
  if (crossbar == nullptr) return out;
  add_devices(out, "", crossbar->plus(), owner);
  if (crossbar->minus().cells().g.size() > 0) add_devices(out, "reference_", crossbar->minus(), owner);
  out["siemens_per_weight"] = static_cast<double>(crossbar->siemens_per_weight());
  out["w_max"] = static_cast<double>(crossbar->w_max());
  out["pulses_up"] = crossbar->pulses().up;
  out["pulses_down"] = crossbar->pulses().down;
  return out;
}

template nb::dict facts_of(const LinearMap<float>&, nb::handle);
template nb::dict facts_of(const LinearMap<double>&, nb::handle);

}  // namespace nudge::python
