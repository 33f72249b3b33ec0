// SPDX-License-Identifier: Apache-2.0
#include "circuits/correction_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {

void CorrectionSpec::validate() const {
  converter.validate("correction.converter");
  const auto not_negative = [](const char* key, double value) {
    if (value >= 0 && std::isfinite(value)) return;
    throw UserError(fmt::format("correction.{} = {:g} (must be a finite number >= 0)", key, value));
  };
  not_negative("gain_spread", gain_spread);
  not_negative("offset", offset);
  not_negative("noise", noise);
  not_negative("delay", delay);
  if (!(gain_error > -1 && std::isfinite(gain_error))) {
    throw UserError(
        fmt::format("correction.gain_error = {:g} (must be a finite number > -1: at -1 nothing passes)", gain_error));
  }
}

template <class S>
CorrectionPath<S>::CorrectionPath(Index rows, Index cols, const CorrectionSpec& spec, Index max_copies,
                                  std::uint64_t seed, const ReadContext& read)
    : rows_(rows), spec_(spec), read_(&read), draws_(max_copies * rows, cols) {
  spec_.validate();
  for (std::uint32_t way = 0; way < 2; ++way) {
    const auto spread = [&](std::uint32_t lane, double mean, double deviation) {
      Matrix<S> m(rows, cols);
      fill_normal<S>({seed, Purpose::correction_path, way}, 0, lane, {m.data(), static_cast<std::size_t>(m.size())});
      m.array() = static_cast<S>(mean) + static_cast<S>(deviation) * m.array();
      return m;
    };
    gain_[way] = spread(0, 1 + spec_.gain_error, spec_.gain_spread);
    offset_[way] = spread(1, 0, spec_.offset);
  }
}

/// Delay in steps; reads that take no time have no delay.
template <class S>
std::size_t CorrectionPath<S>::delay_steps() const {
  const double duration = read_->relaxation.duration;
  return duration > 0 ? static_cast<std::size_t>(std::lround(spec_.delay / duration)) : 0;
}

/// Replaces v by its value `delay` steps ago: zero before the nudge, which starts at the free equilibrium.
template <class S>
void CorrectionPath<S>::delay(MatrixRef<S> v) {
  if (spec_.delay == 0) return;
  const std::size_t late = delay_steps();
  if (late == 0) return;
  history_.resize(late + 1, Matrix<S>(draws_.rows(), draws_.cols()));
  const std::size_t now = steps_++;
  history_[now % history_.size()].topRows(v.rows()) = v;
  Matrix<S>& past = history_[(now + 1) % history_.size()];
  if (now + 1 < history_.size()) past.setZero();
  v = past.topRows(v.rows());
}

template <class S>
void CorrectionPath<S>::pass(CorrectionWay way, MatrixRef<S> p) {
  const ReadContext& read = *read_;
  if (read.exact) return;
  const auto index = static_cast<std::size_t>(way);
  const double sigma = spec_.noise * read.noise_scale() / std::sqrt(std::max(read.reads(), 1));
  if (spec_.noise > 0) {
    const std::uint64_t place = (static_cast<std::uint64_t>(read.sequence) << 32) | read.step;
    const std::uint32_t lane = 2 + passes_++;  // lanes 0 and 1 of this purpose are static
    fill_normal<S>({read.seed, Purpose::correction_path, 2 + static_cast<std::uint32_t>(way)}, place, lane,
                   {draws_.data(), static_cast<std::size_t>(p.size())});
    const double rms = std::sqrt(p.template cast<double>().squaredNorm() / static_cast<double>(p.size()));
    p += static_cast<S>(sigma * rms) * draws_.topRows(p.rows());
  }
  convert<S>(spec_.converter, p);
  for (Index row = 0; row < p.rows(); row += rows_) {
    auto q = p.middleRows(row, rows_);
    q.array() = gain_[index].array() * q.array() + offset_[index].array();
  }
}

NUDGE_BOTH_PRECISIONS_OF(CorrectionPath)

}  // namespace nudge
