// SPDX-License-Identifier: Apache-2.0
// nudge.devices: models, presets, virtual measurements and fits.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>

#include "devices/device_config.hpp"
#include "devices/characterize/characterize.hpp"
#include "devices/fit/fit_pulses.hpp"
#include "python/src/bindings.hpp"
#include "python/src/computing.hpp"
#include "python/src/lent.hpp"
#include "sim/io/run_record.hpp"
#include "training/config/config_table.hpp"

namespace nudge::python {
namespace {

/// Measures `devices` devices of a config into the file `out`; returns the page of numbers as JSON. Other parameters as
/// in CharacterizeOptions; device: a Python device, or None.
std::string measure(const std::string& name, const std::vector<std::string>& settings, const std::string& out,
                    Index devices, int samples, double interval_s, int cycles, int points, bool one_by_one,
                    std::uint64_t seed, const nb::object& device) {
  return compute(OwnParts::of_device(device), [&] {
    const auto start = std::chrono::steady_clock::now();
    const std::string started = now_utc();
    const DeviceSpec spec = device_spec(parse_program_config("device", "", settings));
    const Characterization c = characterize(spec, {devices, samples, interval_s, cycles, points, 0, one_by_one, seed});
    H5Document file;
    write(file, c);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    add_run_record(
        file, {"characterize", device_toml(spec), static_cast<std::int64_t>(seed), "double", 1, started, wall.count()});
    file.attribute("device", name);
    file.write(out, Overwrite::must_not_exist);
    return summary_json(c, name);
  });
}

nb::dict dict_of(const DeviceEstimate& estimate) {
  nb::dict out;
  out["mean"] = estimate.mean;
  out["mean_interval"] = nb::make_tuple(estimate.mean_low, estimate.mean_high);
  out["deviation"] = estimate.deviation;
  out["deviation_interval"] = nb::make_tuple(estimate.deviation_low, estimate.deviation_high);
  return out;
}

/// Fits one curve to all records, and where there are several devices their differences.
nb::dict fit(const std::string& csv, const std::string& model, int points) {
  const PopulationFit found = compute([&] {
    const std::vector<LabRecord> records = read_lab_csv(csv);
    PopulationFit fit = fit_population(records, model, points);
    add_intervals(fit, records);
    return fit;
  });
  nb::dict out;
  out["model"] = model;
  out["devices"] = found.devices;
  out["records"] = found.records;
  out["step_residual_pulses"] = found.common.step_residual;
  out["curve_residual"] = found.common.curve_residual;
  out["toml"] = found.records > 1 ? fit_toml(found, csv) : fit_toml(found.common, csv);
  if (found.devices > 1) {
    nb::dict population;
    population["g_min"] = dict_of(found.g_min_S);
    population["g_max"] = dict_of(found.g_max_S);
    population["step"] = dict_of(found.step_S);
    population["asymmetry"] = dict_of(found.asymmetry);
    out["population"] = population;
  }
  if (std::isfinite(found.repeat)) out["repeatability"] = found.repeat;
  return out;
}

}  // namespace

void bind_devices(nb::module_& m) {
  using namespace nb::literals;
  m.def("device_list", device_list_json);
  m.def("device_show", device_show_json, "name"_a);
  m.def("device_measure", measure, "name"_a, "settings"_a, "out"_a, "devices"_a, "samples"_a, "interval_s"_a,
        "cycles"_a, "points"_a, "one_by_one"_a, "seed"_a, "device"_a.none());
  m.def("device_fit", fit, "csv"_a, "model"_a, "points"_a);
}

}  // namespace nudge::python
