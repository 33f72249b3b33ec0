// SPDX-License-Identifier: Apache-2.0
#include "circuits/sample_hold.hpp"

#include <cmath>
#include <span>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

constexpr std::uint32_t kFresh = 0, kOffsets = 1;  // streams

template <class S>
std::span<S> numbers_of(Matrix<S>& m) {
  return {m.data(), static_cast<std::size_t>(m.size())};
}

}  // namespace

template <class S>
SampleHold<S>::SampleHold(Index rows, const Matrix<S>& scale, const HoldSpec& spec, std::uint64_t seed,
                          const ReadContext& read)
    : rows_(rows), spec_(spec), scale_(scale), offset_(rows, scale.cols()), read_(&read) {
  fill_normal<S>({seed, Purpose::sample_hold, kOffsets}, 0, 0, numbers_of(offset_));
  offset_.array() *= static_cast<S>(spec.offset);
  offset_.array().rowwise() *= scale_.row(0).array();
}

template <class S>
void SampleHold<S>::take(MatrixRef<S> z, int samples) {
  NUDGE_EXPECT(z.rows() % rows_ == 0 && z.cols() == scale_.cols() && samples >= 1);
  const double variance = spec_.noise * spec_.noise + spec_.node_noise * spec_.node_noise / samples;
  if (variance > 0) {
    draws_.resize(z.rows(), z.cols());
    const std::uint64_t place = (static_cast<std::uint64_t>(read_->sequence) << 32) | read_->step;
    fill_normal<S>({read_->seed, Purpose::sample_hold, kFresh}, place, (read_->phase << 24U) + taken_++,
                   numbers_of(draws_));
    draws_.array() *= static_cast<S>(std::sqrt(variance));
    z.array() += draws_.array().rowwise() * scale_.row(0).array();
  }
  if (spec_.offset > 0) {
    for (Index row = 0; row < z.rows(); row += rows_) z.middleRows(row, rows_) += offset_;
  }
  convert<S>(spec_.adc, z);
}

NUDGE_BOTH_PRECISIONS_OF(SampleHold)

}  // namespace nudge
