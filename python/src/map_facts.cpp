// SPDX-License-Identifier: Apache-2.0
#include "python/src/map_facts.hpp"

#include <nanobind/stl/string.h>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/rules/ruled_map.hpp"
#include "python/src/arrays.hpp"

namespace nudge::python {
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
