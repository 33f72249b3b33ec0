// SPDX-License-Identifier: Apache-2.0
#include "python/src/results.hpp"

#include <nanobind/stl/string.h>

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

}  // namespace nudge::python
