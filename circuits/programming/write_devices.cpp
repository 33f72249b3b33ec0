// SPDX-License-Identifier: Apache-2.0
#include "circuits/programming/write_devices.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "circuits/wires/tiled_array.hpp"
#include "devices/device_levels.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

// A reset sends this many windows' worth of down pulses: soft bounds, q = 2/pulses at mid-window, keep exp(−6) = 0.25 %
// of their distance from the bound.
constexpr double reset_windows = 3;

template <class S>
void add_errors(const DeviceArray<S>& array, const std::vector<Index>& which, const Matrix<S>& target,
                WriteReport& report) {
  for (std::size_t k = 0; k < which.size(); ++k) {
    const double error =
        static_cast<double>(array.conductance().data()[which[k]] - target.data()[k]) / array.spec().window_S();
    report.error_sum += error;
    report.error_squares += error * error;
  }
  report.devices += which.size();
}

std::vector<Index> all_places(Index size) {
  std::vector<Index> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

/// Conductances that reads of each device alone give without noise; with floating lines they include the sneak paths through others.
template <class S>
Matrix<S> measured_conductance(const DeviceArray<S>& array, const ProgrammingSpec& spec) {
  if (spec.lines == VerifyLines::grounded) return array.conductance();
  const WriteLines& lines = array.spec().lines;
  return sneak_conductance(array.conductance().template cast<double>(), {lines.tile_rows, lines.tile_columns})
      .template cast<S>();
}

/// Conductance of the nominal device after 0, 1, …, limit up pulses from g_min.
std::vector<double> nominal_curve(const DeviceSpec& spec, Index limit) {
  DeviceArray<double> devices(nominal_device(spec), 1, limit + 1, {});
  Matrix<double> counts(1, limit + 1);
  for (Index k = 0; k <= limit; ++k) counts(0, k) = static_cast<double>(k);
  devices.pulse(counts, 0);
  return {devices.conductance().data(), devices.conductance().data() + limit + 1};
}

/// Device that a write has not finished with.
template <class S>
struct Pending {
  Index place;
  S target;
  double sent = 0;
  S next = 0;    ///< pulses of the next round, < 0: down
  int step = 0;  ///< growth of its pulses, in steps
};

/// Loop of one write–verify.
template <class S>
class VerifyLoop {
 public:
  VerifyLoop(DeviceArray<S>& array, const ProgrammingSpec& spec, std::uint64_t& operation)
      : array_(array), spec_(spec), operation_(operation) {}

  void run(const std::vector<Index>& which, const Matrix<S>& target, WriteReport& report) {
    for (std::size_t k = 0; k < which.size(); ++k) open_.push_back({which[k], target.data()[k]});
    while (!open_.empty()) {
      choose(report);
      const int last = spec_.grows() ? spec_.steps : 1;
      for (int step = 0; step < last; ++step) send(step, report);
      ++operation_;
    }
  }

 private:
  /// Reads all, drops devices that are done or have failed, and chooses the number of pulses of each other device.
  void choose(WriteReport& report) {
    const DeviceSpec& device = array_.spec();
    const double tolerance = spec_.tolerance * device.window_S(), pulse = device.window_S() / device.pulses;
    std::vector<Index> places;
    for (const Pending<S>& one : open_) places.push_back(one.place);
    const Matrix<S> read = verify_read(array_, places, spec_, operation_);
    report.reads += places.size();
    std::size_t kept = 0;
    for (std::size_t k = 0; k < open_.size(); ++k) {
      Pending<S> one = open_[k];
      const auto missing = static_cast<double>(one.target - read.data()[k]);
      if (std::abs(missing) <= tolerance) continue;
      const double left = spec_.pulse_limit(device) - one.sent;
      if (!(left >= 1) || !std::isfinite(missing)) {
        ++report.failures;
        continue;
      }
      const double wanted = spec_.grows() ? 1 : std::max(1.0, std::floor(spec_.burst * std::abs(missing) / pulse));
      const double n = std::min(wanted, left);
      const auto next = static_cast<S>(missing > 0 ? n : -n);
      one.step = one.next * next > 0 ? std::min(one.step + 1, spec_.steps - 1) : 0;  // turned around: small again
      one.next = next;
      one.sent += n;
      open_[kept++] = one;
    }
    open_.resize(kept);
  }

  /// Sends the pulses of devices whose growth is `step`; pulses that do not grow are all of step 0.
  void send(int step, WriteReport& report) {
    const bool grows = spec_.grows();
    std::vector<Index> which;
    std::vector<S> counts;
    for (const Pending<S>& one : open_) {
      if (grows && one.step != step) continue;
      which.push_back(one.place);
      counts.push_back(one.next);
    }
    if (which.empty()) return;
    const PulseChange change{1, step * spec_.step_V, std::pow(spec_.step_width, step)};
    const Matrix<S> row = Eigen::Map<const Matrix<S>>(counts.data(), 1, static_cast<Index>(counts.size()));
    if (step > 0) ++operation_;  // random numbers of its own
    report.pulses += array_.pulse(which, row, operation_, step > 0 ? change : PulseChange{});
  }

  DeviceArray<S>& array_;
  const ProgrammingSpec& spec_;
  std::uint64_t& operation_;
  std::vector<Pending<S>> open_;
};

/// Conductances that programming aims at.
template <class S>
Matrix<S> on_levels(const DeviceSpec& device, const Matrix<S>& target) {
  if (device.levels == 0) return target;
  Matrix<S> aims = target;
  for (S& g : aims.reshaped()) g = static_cast<S>(nearest_level_S(device, static_cast<double>(g)));
  return aims;
}

/// Brings all devices to `target` blindly: 3 · device.pulses down pulses reset them, then each gets the number of up
/// pulses after which the nominal device (no spreads, no noise), started at g_min, is nearest to its target.
template <class S>
WriteReport write_open_loop(DeviceArray<S>& array, const Matrix<S>& target, const ProgrammingSpec& spec,
                            std::uint64_t& operation) {
  const DeviceSpec& device = array.spec();
  const std::vector<double> curve = nominal_curve(device, static_cast<Index>(spec.pulse_limit(device)));
  const Matrix<S> aims = on_levels(device, target);
  Matrix<S> counts(target.rows(), target.cols());
  for (Index i = 0; i < target.size(); ++i) {
    const auto wanted = static_cast<double>(aims.data()[i]);
    const auto above = std::lower_bound(curve.begin(), curve.end(), wanted);
    auto nearest = above == curve.end() ? std::prev(above) : above;
    if (nearest != curve.begin() && wanted - *std::prev(nearest) < *nearest - wanted) --nearest;
    counts.data()[i] = static_cast<S>(nearest - curve.begin());
  }
  WriteReport report;
  const S reset = static_cast<S>(-std::ceil(reset_windows * device.pulses));
  report.pulses += array.pulse(Matrix<S>::Constant(target.rows(), target.cols(), reset), operation++);
  if (!array.bounded()) array.cells().g.setConstant(static_cast<S>(device.g_min_S));
  report.pulses += array.pulse(counts, operation++);
  add_errors(array, all_places(target.size()), target, report);
  return report;
}

}  // namespace

DeviceSpec nominal_device(const DeviceSpec& spec) {
  DeviceSpec nominal = spec;
  nominal.step_spread = nominal.asymmetry_spread = nominal.upper_bound_spread = nominal.lower_bound_spread = 0;
  nominal.programming_error = nominal.update_noise = nominal.update_noise_floor = nominal.step_log_spread = 0;
  nominal.joint_covariance.clear();
  nominal.programming = {};
  nominal.retention = {};
  nominal.relaxation = {};
  nominal.telegraph = {};
  nominal.flicker = {};
  nominal.noise = {};
  nominal.faults = {};
  for (const DeviceParameter& row : device_model(spec.model).shape) {  // symmetry_spread, gamma_spread
    if (row.name.ends_with("_spread")) nominal.shape[row.name] = 0;
  }
  return nominal;
}

template <class S>
Matrix<S> verify_read(const DeviceArray<S>& array, const std::vector<Index>& which, const ProgrammingSpec& spec,
                      std::uint64_t operation) {
  const ArrayIdentity& id = array.identity();
  const double shorter = 1 / std::sqrt(spec.read_time);
  Matrix<S> read = Matrix<S>::Zero(1, static_cast<Index>(which.size()));
  const double uniform = array.spec().uniform_read_S2();
  const bool by_state = array.reads_by_state(), noisy = uniform > 0 || by_state;
  const Matrix<double> of_state = by_state ? array.state_read_variance_S2() : Matrix<double>();
  if (noisy) {
    fill_normal<S>({id.seed, Purpose::verify_read, id.entity}, operation, id.side,
                   std::span<S>(read.data(), which.size()));
  }
  const Matrix<S> measured = measured_conductance(array, spec);
  for (std::size_t k = 0; k < which.size(); ++k) {
    const S g = measured.data()[which[k]];
    S& one = read.data()[k];
    const double variance = uniform + (by_state ? of_state.data()[which[k]] : 0);
    one = noisy ? g + static_cast<S>(shorter * std::sqrt(variance)) * one : g;
  }
  return read;
}

template <class S>
WriteReport write_verify(DeviceArray<S>& array, const std::vector<Index>& which, const Matrix<S>& target,
                         const ProgrammingSpec& spec, std::uint64_t& operation) {
  NUDGE_EXPECT(static_cast<std::size_t>(target.size()) == which.size());
  WriteReport report;
  VerifyLoop<S>(array, spec, operation).run(which, on_levels(array.spec(), target), report);
  add_errors(array, which, target, report);
  return report;
}

template <class S>
WriteReport write_array(DeviceArray<S>& array, const Matrix<S>& target, const ProgrammingSpec& spec,
                        std::uint64_t programming, std::uint64_t& operation) {
  if (spec.scheme == ProgrammingScheme::write_verify) {
    return write_verify(array, all_places(target.size()), target, spec, operation);
  }
  if (spec.scheme == ProgrammingScheme::open_loop_pulses) return write_open_loop(array, target, spec, operation);
  array.program(on_levels(array.spec(), target), programming);
  WriteReport report;
  add_errors(array, all_places(target.size()), target, report);
  return report;
}

#define NUDGE_WRITE_DEVICES(S)                                                                                  \
  template WriteReport write_verify<S>(DeviceArray<S>&, const std::vector<Index>&, const Matrix<S>&,            \
                                       const ProgrammingSpec&, std::uint64_t&);                                 \
  template Matrix<S> verify_read<S>(const DeviceArray<S>&, const std::vector<Index>&, const ProgrammingSpec&,   \
                                    std::uint64_t);                                                             \
  template WriteReport write_array<S>(DeviceArray<S>&, const Matrix<S>&, const ProgrammingSpec&, std::uint64_t, \
                                      std::uint64_t&);
NUDGE_BOTH_PRECISIONS(NUDGE_WRITE_DEVICES)

template <class S>
void ShadowWeights<S>::reset(const Matrix<S>& weights) {
  weights_ = weights;
  written_ = weights;
}

template <class S>
std::vector<Index> ShadowWeights<S>::move(const Matrix<S>& delta, S threshold, S least, S most) {
  NUDGE_EXPECT(delta.rows() == weights_.rows() && delta.cols() == weights_.cols());
  std::vector<Index> moved;
  for (Index i = 0; i < delta.size(); ++i) {
    S& weight = weights_.data()[i];
    weight = std::clamp(weight + delta.data()[i], least, most);
    S& last = written_.data()[i];
    if (std::abs(weight - last) < threshold) continue;
    last = weight;
    moved.push_back(i);
  }
  return moved;
}

NUDGE_BOTH_PRECISIONS_OF(ShadowWeights)

}  // namespace nudge
