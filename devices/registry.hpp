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

/// How the state x of a memristor shows in its conductance at the read voltage.
enum class StateScale {
  conductance,  ///< g = g_lower + x (g_upper − g_lower)
  resistance,   ///< 1/g = 1/g_lower + x (1/g_upper − 1/g_lower)
};

/// The state, in [0, 1], of a conductance between `lower` and `lower + width`.
inline double memristor_state(StateScale scale, double g, double lower, double width) {
  const double linear = std::clamp((g - lower) / width, 0.0, 1.0);
  if (scale == StateScale::conductance) return linear;
  return std::clamp(linear * (lower + width) / std::max(g, lower), 0.0, 1.0);
}

/// What a change dx of the state at x does to the conductance.
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

/// How a kind of device answers pulses. One virtual call per array, never per device.
class StepModel {
 public:
  virtual ~StepModel() = default;

  /// Whether conductances stay inside [lower, upper]; false only for the ideal element.
  virtual bool bounded() const = 0;

  /// Changes what was sampled for each device (static): called once, before anything is programmed.
  virtual void prepare(DeviceCells<float>& /*cells*/, const StaticNormals<float>& /*normals*/) const {}
  virtual void prepare(DeviceCells<double>& /*cells*/, const StaticNormals<double>& /*normals*/) const {}

  /// Moves cells.g as far as the devices can follow the request. The result depends on the request and its stream of
  /// random numbers only, not on threads. A non-finite request makes the conductance NaN (a numerical failure upstream).
  virtual PulseCount update(DeviceCells<float>& cells, const UpdateRequest<float>& request) const = 0;
  virtual PulseCount update(DeviceCells<double>& cells, const UpdateRequest<double>& request) const = 0;
};

/// A number that every device of a model has besides its conductance (DeviceCells::own): in checkpoints under its name. A device that is
/// programmed, and not pulsed, begins with it again.
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
  std::string limits;  ///< where the model holds
  std::string not_modelled;
  std::vector<DeviceParameter> shape;  ///< parameters of its own
  std::unique_ptr<StepModel> (*make)(const DeviceSpec& spec);
  std::vector<DeviceList> tables = {};              ///< lists of its own
  void (*check)(const DeviceSpec& spec) = nullptr;  ///< throws UserError for numbers that do not go together
  /// Its up and down pulse, of a model that has volts and widths: V is what heats a conductance G by V² G. Null: unknown.
  std::pair<WritePulse, WritePulse> (*pulses)(const DeviceSpec& spec) = nullptr;
  /// Its differential equation, of a model that has one: what a pulse of any volts does follows from it, of those that its own numbers
  /// pulse_up, pulse_down and pulse_width name in the first place. Null: its pulses are counted and have no volts.
  std::shared_ptr<const Memristor> (*memristor)(const DeviceSpec& spec) = nullptr;
  StateScale scale = StateScale::conductance;  ///< of that equation's state
  std::vector<CellState> states = {};          ///< what its pulses and parts may read and change
  /// How many times as fast its states change at the spec's temperature as at that of its numbers. Null: heat does nothing to them.
  double (*acceleration)(const DeviceSpec& spec) = nullptr;
  std::vector<DevicePartKind> parts = {};  ///< of its own, after those of every model (device_parts)
  /// What its states do in a netlist whose node x is its place in the window, on state_F to ground: the sources of x and of its own nodes
  /// where `rate` is the current by which pulses charge x. Null: x alone, or nothing can be said of its states.
  std::string (*netlist)(const DeviceSpec& spec, const std::string& rate, double state_F) = nullptr;
};

/// The device.model that stands for no device at all: weights as floating-point numbers (circuits/digital_matrix.hpp).
inline constexpr const char* digital_model = "digital";

/// Every device model, in the order of the list in devices/CMakeLists.txt, then those that a program has added.
const std::vector<DeviceModel>& device_models();
/// Adds one of a program's own, before anything else of nudge is used (OpenList).
void add_device_model(DeviceModel model);

/// The model of that name; UserError with the closest names otherwise.
const DeviceModel& device_model(const std::string& name);

/// How many times as fast devices change by themselves at this temperature: of relaxation, else of the model's own states; 1: heat does nothing.
double heat_acceleration(DeviceSpec spec, double temperature_K);

}  // namespace nudge
