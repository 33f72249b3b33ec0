// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "devices/device_part.hpp"
#include "devices/memristor/memristor.hpp"

namespace nudge {

/// Relation between the state x of a memristor and its conductance at the read voltage.
enum class StateScale {
  conductance,  ///< g = g_lower + x (g_upper − g_lower)
  resistance,   ///< 1/g = 1/g_lower + x (1/g_upper − 1/g_lower)
};

/// State, in [0, 1], of a conductance between `lower` and `lower + width`.
inline double memristor_state(StateScale scale, double g, double lower, double width) {
  const double linear = std::clamp((g - lower) / width, 0.0, 1.0);
  if (scale == StateScale::conductance) return linear;
  return std::clamp(linear * (lower + width) / std::max(g, lower), 0.0, 1.0);
}

/// Change of the conductance by a change dx of the state at x.
inline double memristor_change(StateScale scale, double x, double dx, double lower, double width) {
  if (scale == StateScale::conductance) return dx * width;
  // With r = 1/g linear in x: g(x + dx) − g(x) = −g(x) g(x + dx) (r(x + dx) − r(x)).
  const double slope = -width / (lower * (lower + width));
  const double r = 1 / lower + x * slope;
  return -dx * slope / (r * (r + dx * slope));
}

enum class Direction { up, down };

enum class StaticDraw : std::uint64_t;  // devices/device_draws.hpp

/// A standard normal number for every device of an array, by the name of the draw.
template <class S>
using StaticNormals = std::function<Matrix<S>(StaticDraw)>;

/// Response of a kind of device to pulses. One virtual call per array, never per device.
class StepModel {
 public:
  virtual ~StepModel() = default;

  /// True if conductances stay inside [lower, upper]; false only for the ideal element.
  virtual bool bounded() const = 0;

  /// Changes the sampled numbers of each device (static). Called once, before anything is programmed.
  virtual void prepare(DeviceCells<float>& /*cells*/, const StaticNormals<float>& /*normals*/) const {}
  virtual void prepare(DeviceCells<double>& /*cells*/, const StaticNormals<double>& /*normals*/) const {}

  /// Moves cells.g as far as the devices can follow the request. The result depends on the request and its stream of
  /// random numbers only, not on threads. A non-finite request makes the conductance NaN (a numerical failure upstream).
  virtual PulseCount update(DeviceCells<float>& cells, const UpdateRequest<float>& request) const = 0;
  virtual PulseCount update(DeviceCells<double>& cells, const UpdateRequest<double>& request) const = 0;
};

/// State that every device of a model has besides its conductance (DeviceCells::own): in checkpoints under its name. A device
/// that is programmed, not pulsed, begins with it again.
struct CellState {
  std::string name;
  std::string unit;
  std::string description;
  double initial = 0;
};

/// A registered model: its documentation and how to make it.
struct DeviceModel {
  std::string name;
  std::string summary;
  std::string equation;
  std::string source;
  std::string limits;  ///< range in which the model holds
  std::string not_modelled;
  std::vector<DeviceParameter> shape;  ///< parameters of the model's own
  std::unique_ptr<StepModel> (*make)(const DeviceSpec& spec);
  std::vector<DeviceList> tables = {};              ///< lists of the model's own
  void (*check)(const DeviceSpec& spec) = nullptr;  ///< throws UserError for numbers that do not go together
  /// Up and down pulse of a model that has volts and widths: V is the voltage that heats a conductance G by V² G. Null: unknown.
  std::pair<WritePulse, WritePulse> (*pulses)(const DeviceSpec& spec) = nullptr;
  /// Differential equation of the model, from which the effect of a pulse of any volts follows. Its own pulses are pulse_up,
  /// pulse_down, pulse_width. Null: its pulses are counted and have no volts.
  std::shared_ptr<const Memristor> (*memristor)(const DeviceSpec& spec) = nullptr;
  StateScale scale = StateScale::conductance;  ///< scale of the state of that equation
  std::vector<CellState> states = {};          ///< states that its pulses and parts may read and change
  /// Factor by which the model's states change faster at the spec's temperature than at the temperature of its numbers. Null:
  /// heat does nothing to them.
  double (*acceleration)(const DeviceSpec& spec) = nullptr;
  std::vector<DevicePartKind> parts = {};  ///< parts of the model's own, after the common ones (device_parts)
  /// Netlist of the model's states: the sources of x and of its own nodes. The node x of the netlist is the place in the window, on
  /// state_F to ground. `rate` is the current by which pulses charge x. Null: x alone, or its states cannot be written as a netlist.
  std::string (*netlist)(const DeviceSpec& spec, const std::string& rate, double state_F) = nullptr;
};

/// The device.model that stands for no device at all: weights as floating-point numbers (circuits/digital_matrix.hpp).
inline constexpr const char* digital_model = "digital";

/// Device models in the order of the list in devices/CMakeLists.txt, then those that a program has added.
const std::vector<DeviceModel>& device_models();
/// Adds a model of a program's own, before anything else of nudge is used (OpenList).
void add_device_model(DeviceModel model);

/// Model of that name; UserError with the closest names otherwise.
const DeviceModel& device_model(const std::string& name);

/// Factor by which devices change faster by themselves at this temperature: by relaxation, else by the model's own states; 1:
/// heat does nothing.
double heat_acceleration(DeviceSpec spec, double temperature_K);

}  // namespace nudge
