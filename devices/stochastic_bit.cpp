// SPDX-License-Identifier: Apache-2.0
#include "devices/stochastic_bit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

// A Gaussian spread must not turn a gain around; one that would is set to this share of the mean (chosen by us, as in
// DeviceArray: such a device answers almost at random).
constexpr double smallest_gain = 0.01;

// Places of the static draws among the device-to-device numbers of an array: DeviceArray uses the numbers below 64.
constexpr std::uint64_t gain_draw = 64;
constexpr std::uint64_t offset_draw = 65;

void require(bool ok, const char* field, double value, const char* rule) {
  if (!ok) throw UserError(fmt::format("stochastic_bit.{} = {:g} (must be {})", field, value, rule));
}

std::vector<double> normals(const ArrayIdentity& identity, std::uint64_t which, Index count) {
  std::vector<double> out(static_cast<std::size_t>(count));
  fill_normal<double>({identity.seed, Purpose::device_to_device, identity.entity}, which, identity.side, out);
  return out;
}

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

void StochasticBitSpec::validate() const {
  require(std::isfinite(gain) && gain > 0, "gain", gain, "a finite number > 0: the slope of the log-odds");
  require(std::isfinite(offset), "offset", offset, "a finite number");
  require(std::isfinite(gain_spread) && gain_spread >= 0, "gain_spread", gain_spread, "a finite number >= 0");
  require(std::isfinite(offset_spread) && offset_spread >= 0, "offset_spread", offset_spread, "a finite number >= 0");
  require(correlation >= 0 && correlation < 1, "correlation", correlation, "in [0, 1): 1 would never change its value");
}

StochasticBits::StochasticBits(const StochasticBitSpec& spec, Index devices, const ArrayIdentity& identity)
    : identity_(identity), correlation_((spec.validate(), spec.correlation)) {
  NUDGE_EXPECT(devices >= 0 && devices < (Index{1} << 31));
  gain_ = normals(identity, gain_draw, devices);
  offset_ = normals(identity, offset_draw, devices);
  for (double& g : gain_) g = spec.gain * std::max(1 + spec.gain_spread * g, smallest_gain);
  for (double& o : offset_) o = spec.offset + spec.offset_spread * o;
}

double StochasticBits::probability(Index device, double x) const {
  return 1 / (1 + std::exp(-gain(device) * (x - offset(device))));
}

// The number of the last step at which it was drawn anew; step 0 always draws.
double StochasticBits::uniform(Index device, std::uint64_t step, std::uint32_t lane) const {
  const RngKey key = {identity_.seed, Purpose::latent_bits, 2 * identity_.entity + identity_.side};
  const auto place = 2 * static_cast<std::uint32_t>(device);
  if (correlation_ > 0) {
    while (step > 0 && unit(random_bits(key, step, lane, place + 1)) < correlation_) --step;
  }
  return unit(random_bits(key, step, lane, place));
}

bool StochasticBits::sample(Index device, double x, std::uint64_t step, std::uint32_t lane) const {
  NUDGE_EXPECT(device >= 0 && device < devices());
  return uniform(device, step, lane) < probability(device, x);
}

template <class S>
void StochasticBits::probability(ConstMatrixRef<S> x, MatrixRef<S> probabilities) const {
  NUDGE_EXPECT(x.cols() == devices() && probabilities.rows() == x.rows() && probabilities.cols() == x.cols());
  for (Index n = 0; n < x.rows(); ++n) {
    for (Index i = 0; i < x.cols(); ++i) {
      probabilities(n, i) = static_cast<S>(probability(i, static_cast<double>(x(n, i))));
    }
  }
}

template <class S>
void StochasticBits::sample(ConstMatrixRef<S> x, MatrixRef<S> bits, std::uint64_t step,
                            std::uint32_t first_lane) const {
  NUDGE_EXPECT(x.cols() == devices() && bits.rows() == x.rows() && bits.cols() == x.cols());
  for (Index n = 0; n < x.rows(); ++n) {
    const std::uint32_t lane = first_lane + static_cast<std::uint32_t>(n);
    for (Index i = 0; i < x.cols(); ++i) {
      bits(n, i) = sample(i, static_cast<double>(x(n, i)), step, lane) ? S(1) : S(0);
    }
  }
}

const DeviceModel& stochastic_bit_description() {
  static const DeviceModel description = [] {
    constexpr double none = std::numeric_limits<double>::infinity();
    const std::string ours = "chosen: the plain sigmoid, without spread or memory";
    DeviceModel d;
    d.name = "stochastic_bit";
    d.summary = "binary device with known probability and telegraph memory (p-bit); a sampler, not a weight";
    d.equation = "P(1 | x) = 1/(1 + exp(-gain (x - offset))); values k steps apart correlate with correlation^k";
    d.source =
        "Camsari, Faria, Sutton and Datta, Phys. Rev. X 7, 031014 (2017), arXiv:1610.00377: tanh convention, gain 2";
    d.limits = "inputs are constant during one draw; gain and offset do not change with time";
    d.not_modelled = "drift of gain and offset, temperature";
    d.shape = {{"gain", "1", 0, none, true, false, 1, "slope of the log-odds per unit of input", ours},
               {"offset", "1", -none, none, true, true, 0, "input at which both values are equally likely", ours},
               {"gain_spread", "1", 0, none, false, false, 0, "device-to-device spread of the gain, relative", ours},
               {"offset_spread", "1", 0, none, false, false, 0, "device-to-device spread of the offset", ours},
               {"correlation", "1", 0, 1, false, true, 0, "correlation of values at consecutive steps", ours}};
    d.make = nullptr;
    return d;
  }();
  return description;
}

#define NUDGE_STOCHASTIC_BIT(S)                                                        \
  template void StochasticBits::probability<S>(ConstMatrixRef<S>, MatrixRef<S>) const; \
  template void StochasticBits::sample<S>(ConstMatrixRef<S>, MatrixRef<S>, std::uint64_t, std::uint32_t) const;
NUDGE_BOTH_PRECISIONS(NUDGE_STOCHASTIC_BIT)

}  // namespace nudge
