// SPDX-License-Identifier: Apache-2.0
#include "devices/memristor/memristor.hpp"

#include <fmt/format.h>
#include <boost/math/quadrature/gauss.hpp>

#include <algorithm>
#include <cmath>

#include "devices/device_array.hpp"
#include "devices/memristor/pulsed_memristor.hpp"
#include "devices/step_kernel.hpp"
#include "sim/base/errors.hpp"
#include "sim/ode/trajectory.hpp"

namespace nudge {
namespace {

/// d(state, clock)/ds = (rate(state, clock), speed) as a Dynamics of one row: time-dependent drives need a clock.
class Clocked final : public Dynamics<double> {
 public:
  Clocked(std::function<double(double, double)> rate, double speed) : rate_(std::move(rate)), speed_(speed) {}
  Index rows() const override { return 1; }
  Index cols() const override { return 2; }
  void force(ConstMatrixRef<double> z, MatrixRef<double> f, Part /*part*/) override {
    f(0, 0) = rate_(z(0, 0), z(0, 1));
    f(0, 1) = speed_;
  }
  Linearization<double>& linearize(ConstMatrixRef<double> /*z*/) override {
    throw ContractViolation("a driven memristor has no equilibrium to linearize at");
  }

 private:
  std::function<double(double, double)> rate_;
  double speed_;
};

/// State after each of `samples` equal parts of the unit interval of s. clock0, speed: clock at s = 0 and its rate; error: local error bound.
Trajectory<double> solve(std::function<double(double, double)> rate, double x0, double clock0, double speed,
                         int samples, double error) {
  Clocked dynamics(std::move(rate), speed);
  Matrix<double> z(1, 2);
  z << x0, clock0;
  IntegrateOptions options;
  options.samples = samples;
  options.step_s = 1.0 / samples;
  options.relative_error = error;
  auto trajectory = integrate<double>(dynamics, z, options);
  if (trajectory.status != Status::converged) {
    throw NumericalFailure(
        "memristor: its differential equation cannot be integrated. Lower the rates or the "
        "voltage");
  }
  return trajectory;
}

}  // namespace

MemristorTrace drive(const Memristor& memristor, double x0, const std::function<double(double)>& volts,
                     double duration_s, int samples, double error) {
  // Time in units of the duration, so that one local error fits any time scale.
  const auto rate = [&](double x, double s) {
    return duration_s * memristor.rate(std::clamp(x, 0.0, 1.0), volts(s * duration_s));
  };
  MemristorTrace trace;
  for (const Matrix<double>& z : solve(rate, x0, 0, 1, samples, error).states) {
    const double t = z(0, 1) * duration_s;
    const double x = std::clamp(z(0, 0), 0.0, 1.0);
    trace.time_s.push_back(t);
    trace.volts.push_back(volts(t));
    trace.state.push_back(x);
    trace.current_A.push_back(memristor.current(x, volts(t)));
  }
  return trace;
}

namespace {

constexpr double knee = 0.875;  // up to here the points are equally spaced
constexpr int straight = ConstantVoltageMotion::cells / 8 * 7;
// Cells in which d falls e-fold: the spacing does not jump at the knee.
constexpr double per_e_fold = ConstantVoltageMotion::cells * (1 - knee);
constexpr int graded = 9545;
/// Distance d at which the last cell begins: 1e-9.
const double nearest_share = (1 - knee) * std::exp(-graded / per_e_fold);

}  // namespace

double ConstantVoltageMotion::coordinate(double place) {
  if (place <= knee) return place * cells;
  const double d = 1 - place;
  if (d <= nearest_share) return straight + graded + (1 - d / nearest_share);
  return std::clamp<double>(straight - std::log(d / (1 - knee)) * per_e_fold, straight, straight + graded);
}

double ConstantVoltageMotion::place_of(double coordinate) {
  if (coordinate <= straight) return coordinate / cells;
  const double along = coordinate - straight;
  if (along >= graded) return 1 - nearest_share * std::max(graded + 1 - along, 0.0);
  return 1 - (1 - knee) * std::exp(-along / per_e_fold);
}

bool ConstantVoltageMotion::moves(const Memristor& memristor, double volts, bool up) {
  for (int k = 0; k <= cells; ++k) {
    const double rate = memristor.rate(static_cast<double>(k) / cells, volts);
    if ((up ? rate : -rate) > 0) return true;
  }
  return false;
}

ConstantVoltageMotion::ConstantVoltageMotion(const Memristor& memristor, double volts, bool up) {
  const auto speed = [&](double place) {
    const double x = up ? place : 1 - place;
    return std::max(up ? memristor.rate(x, volts) : -memristor.rate(x, volts), 0.0);
  };
  const int points = straight + graded + 1;
  double fastest = 0;
  for (int k = 0; k <= points; ++k) fastest = std::max(fastest, speed(place_of(k)));
  if (!(fastest > 0) || !std::isfinite(fastest)) {
    throw UserError(
        fmt::format("memristor: a pulse of {:g} V does not move the state {}. Check its sign, and that it exceeds "
                    "the threshold",
                    volts, up ? "up" : "down"));
  }
  time_s_ = {0.0};
  const auto slowness = [&](double place) { return 1 / speed(place); };
  for (int k = 0; k < points; ++k) {
    const double begin = place_of(k);
    const double end = place_of(k + 1);
    if (speed(begin) == 0 || (k + 1 < points && speed(end) == 0)) break;
    // Seven points are exact for polynomials of degree 13: rounding for any speed that a cell resolves. The bound itself
    // may take for ever: its cell is crossed at the speed of its beginning.
    const double seconds = k + 1 < points ? boost::math::quadrature::gauss<double, 7>::integrate(slowness, begin, end)
                                          : (end - begin) * slowness(begin);
    if (!std::isfinite(time_s_.back() + seconds)) break;
    time_s_.push_back(time_s_.back() + seconds);
  }
}

double ConstantVoltageMotion::advance(double place, double seconds) const {
  if (std::isnan(place) || std::isnan(seconds)) return place + seconds;
  const double limit = reach();
  if (place >= limit) return 0;
  // Just below the limit the logarithm may round to its cell.
  const double from = coordinate(place);
  const auto at = std::min(static_cast<std::size_t>(from), time_s_.size() - 2);
  const double now = time_s_[at] + (from - static_cast<double>(at)) * (time_s_[at + 1] - time_s_[at]);
  const double then = now + seconds;
  if (then >= time_s_.back()) return limit - place;
  const auto next = std::upper_bound(time_s_.begin() + static_cast<std::ptrdiff_t>(at), time_s_.end(), then);
  const auto k = static_cast<std::size_t>(next - time_s_.begin()) - 1;
  // Within a cell without the rounding of T, which grows along the way.
  const double to = k == at ? from + seconds / (time_s_[k + 1] - time_s_[k])
                            : static_cast<double>(k) + (then - time_s_[k]) / (time_s_[k + 1] - time_s_[k]);
  if (to <= straight) return (to - from) / cells;
  if (from >= straight && to <= straight + graded) return (1 - place) * -std::expm1((from - to) / per_e_fold);
  return std::max(place_of(to) - place, 0.0);
}

namespace {

/// Memristor behind a selector, driven by the voltage of the cell.
struct SelectedMemristor final : Memristor {
  std::shared_ptr<const Memristor> own;
  SelectorSpec selector;

  double across(double x, double volts) const {
    return selector.device_volts(volts, [&](double v) { return own->current(x, v); });
  }
  double rate(double x, double volts) const override { return own->rate(x, across(x, volts)); }
  double current(double x, double volts) const override { return own->current(x, across(x, volts)); }
};

/// Differential equation of a device under the voltage of its cell, behind the spec's selector. Needs has_equation().
std::shared_ptr<const Memristor> cell_memristor(const DeviceSpec& spec) {
  std::shared_ptr<const Memristor> own = device_model(spec.model).memristor(spec);
  if (!spec.selector.any()) return own;
  auto cell = std::make_shared<SelectedMemristor>();
  cell->own = std::move(own);
  cell->selector = spec.selector;
  return cell;
}

/// Rule of a memristor under pulses of constant amplitude and width: n pulses last n · width, longer or shorter for a device
/// whose pulse size differs from the mean.
struct PulsedMemristor {
  std::shared_ptr<const ConstantVoltageMotion> up, down;  ///< null: it does not move
  double width_up_s, width_down_s;
  double mean_step_S;  ///< window/pulses: devices with this step have the nominal speed
  StateScale scale;

  template <class S>
  S change(const Element<S>& e, Direction direction, S n) const {
    const bool rising = direction == Direction::up;
    if ((rising ? up : down) == nullptr) return S(0);
    const double width = static_cast<double>(e.width);
    double lower = static_cast<double>(rising ? e.upper - e.width : -e.upper);
    // A lower bound that a spread has pushed to zero would be an infinite resistance.
    if (scale == StateScale::resistance) lower = std::max(lower, 1e-4 * width);
    const double g = static_cast<double>(rising ? e.g : -e.g);
    const double x = memristor_state(scale, g, lower, width);
    const double seconds =
        static_cast<double>(n) * (rising ? width_up_s : width_down_s) * static_cast<double>(e.step) / mean_step_S;
    const double moved = (rising ? *up : *down).advance(rising ? x : 1 - x, seconds);
    return static_cast<S>(std::abs(memristor_change(scale, x, rising ? moved : -moved, lower, width)));
  }

  template <class S>
  S noise(const Element<S>& e, Direction direction, S n, S sigma) const {
    return equal_pulse_noise(*this, e, direction, n, sigma);
  }
};

std::unique_ptr<StepModel> make(const DeviceSpec& spec, bool may_rest) {
  const DeviceModel& model = device_model(spec.model);
  const std::shared_ptr<const Memristor> memristor = cell_memristor(spec);
  const double width = spec.shape_value("pulse_width");
  const auto motion = [&](const char* pulse, bool up) -> std::shared_ptr<const ConstantVoltageMotion> {
    const double volts = spec.shape_value(pulse);
    if (may_rest && !ConstantVoltageMotion::moves(*memristor, volts, up)) return nullptr;
    return std::make_shared<ConstantVoltageMotion>(*memristor, volts, up);
  };
  PulsedMemristor rule = {
      motion("pulse_up", true), motion("pulse_down", false), width, width, spec.window_S() / spec.pulses, model.scale};
  return std::make_unique<RuleModel<PulsedMemristor>>(std::move(rule));
}

}  // namespace

bool has_equation(const DeviceSpec& spec) { return device_model(spec.model).memristor != nullptr; }

std::unique_ptr<StepModel> make_pulsed_memristor(const DeviceSpec& spec) { return make(spec, false); }

std::unique_ptr<StepModel> make_resting_memristor(const DeviceSpec& spec) { return make(spec, true); }

double pulses_across(const DeviceSpec& spec) {
  DeviceSpec one = spec;
  one.update = PulseMode::continuous;
  DeviceArray<double> array(one, 1, 2, {});
  const double middle = 0.5 * (spec.g_min_S + spec.g_max_S);
  array.cells().g.setConstant(middle);
  Matrix<double> counts(1, 2);
  counts << 1, -1;
  array.pulse(counts, 0);
  const double step = 0.5 * (array.conductance().array() - middle).abs().sum();
  return std::clamp(spec.window_S() / std::max(step, 1e-9 * spec.window_S()), 2.0, 1e6);
}

}  // namespace nudge
