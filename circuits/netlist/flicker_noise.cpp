// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/current_noise.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "circuits/crossbar/read_noise.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

constexpr double kLeastRead = 1e-9;  // in units of the slowest time constant: ten processes at most
/// Number of its states and draws, among those of arrays and nodes.
constexpr std::uint32_t kFlicker = (1U << 20U) + 1;

}  // namespace

FlickerNoise::FlickerNoise(const Netlist& netlist, double slowest_s) : slowest_s_(slowest_s) {
  for (std::size_t k = 0; k < netlist.elements.size(); ++k)
    if (netlist.elements[k].flicker.factor > 0) elements_.push_back(k);
}

void FlickerNoise::draw(Index rows, double seconds, const ReadContext& read) {
  static thread_local LineMemory<double> none;
  if (read.memory == nullptr) none.clear();
  LineMemory<double>& memory = read.memory != nullptr ? read.memory->at<double>(kFlicker, true) : none;
  const auto lines = static_cast<Index>(elements_.size());
  const LineBlock block{rows, 0, lines, lines};
  const auto each = static_cast<std::size_t>(block.numbers());
  // What is faster than a read has nearly none of its variance left in the mean. A read of no time has them all as they are.
  const double decades = std::log10(slowest_s_ / std::max(seconds, kLeastRead * slowest_s_));
  const int processes = 1 + std::max(0, static_cast<int>(std::ceil(decades)));
  numbers_.resize(3 * each * static_cast<std::size_t>(processes));
  sums_.assign(each, 0.0);
  const std::uint64_t place = (static_cast<std::uint64_t>(read.sequence) << 32U) | read.step;
  fill_normal<double>({read.seed, Purpose::moving_noise, kFlicker}, place, (read.phase << 24U) + read.read, numbers_);
  const double* next = numbers_.data();
  double time_s = slowest_s_;
  for (int k = 0; k < processes; ++k, time_s /= 10, next += 3 * each) {
    average<double>(ReadAverage(seconds / time_s), block, memory.process(static_cast<std::size_t>(k), rows, lines),
                    next, next + each, next + 2 * each, sums_.data());
  }
  // Each has the variance a |I|^AF ln 10 of a decade.
  for (double& sum : sums_) sum *= std::sqrt(std::numbers::ln10);
}

}  // namespace nudge
