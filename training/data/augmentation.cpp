// SPDX-License-Identifier: Apache-2.0
#include "training/data/augmentation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

UserError no_augmentation(const std::vector<std::string>& words, const std::string& why) {
  return UserError(fmt::format("data.augment = [\"{}\"]: {}", fmt::join(words, "\", \""), why));
}

/// N of "crop N"; 0: it is none.
Index crop_of(const std::string& word) {
  const std::string start = "crop ";
  int pixels = 0;
  if (!word.starts_with(start)) return 0;
  const char* end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data() + start.size(), end, pixels);
  return error == std::errc() && at == end ? pixels : 0;
}

}  // namespace

Augmentation::Augmentation(const std::vector<std::string>& words, const SampleParts& parts) {
  if (words == std::vector<std::string>{"off"}) return;
  for (const std::string& word : words) {
    const Index pixels = crop_of(word);
    const bool again = (pixels > 0 && crop_ > 0) || (word == "flip" && flip_);
    if (again || (pixels <= 0 && word != "flip"))
      throw no_augmentation(
          words, again ? "a change is listed twice" : "known are \"crop N\", of N pixels, \"flip\" and \"off\"");
    if (pixels > 0) crop_ = pixels;
    flip_ = flip_ || word == "flip";
  }
  if (!on()) return;
  const std::vector<Index>& shape = parts.shape;
  if (shape.size() < 2 || shape.size() > 3) {
    throw no_augmentation(words,
                          "only pictures are cropped and flipped. Set data.shape to [height, width] or [channels, "
                          "height, width]");
  }
  if (shape.size() == 3) channels_ = shape.front();
  height_ = shape[shape.size() - 2];
  width_ = shape.back();
  if (crop_ >= std::min(height_, width_))
    throw no_augmentation(words, fmt::format("pictures have {} x {} pixels: crop fewer", height_, width_));
  const std::vector<double>&offset = parts.scaling.offset(), &gain = parts.scaling.gain();
  const Index pixels = height_ * width_;
  for (Index c = 0; c < channels_; ++c) {
    const auto first = static_cast<std::size_t>(c * pixels);
    for (std::size_t j = first; j < first + static_cast<std::size_t>(pixels); ++j) {
      if (offset[j] == offset[first] && gain[j] == gain[first]) continue;
      throw no_augmentation(words, "data.scaling scales each pixel apart. Use unit, channel or none");
    }
    empty_.push_back(static_cast<float>(-offset[first] * gain[first]));
  }
}

void Augmentation::apply(Batch& batch, std::uint64_t seed, std::uint64_t step) const {
  if (!on()) return;
  const RngKey key{seed, Purpose::batch_order, 2};  // 1 is the order of the samples
  const Index rows = batch.features.rows(), side = 2 * crop_ + 1;
  Eigen::RowVectorXf before(batch.features.cols());
  for (Index b = 0; b < rows; ++b) {
    std::array<double, 3> draws{};
    const std::uint64_t place = step * static_cast<std::uint64_t>(rows) + static_cast<std::uint64_t>(b);
    fill_uniform<double>(key, place, 0, draws);
    const auto shift = [&](double u) { return static_cast<Index>(u * static_cast<double>(side)) - crop_; };
    const Index down = shift(draws[0]), right = shift(draws[1]);
    const bool mirrored = flip_ && draws[2] < 0.5;
    before = batch.features.row(b);
    for (Index c = 0; c < channels_; ++c) {
      for (Index y = 0; y < height_; ++y) {
        for (Index x = 0; x < width_; ++x) {
          const Index from_y = y - down, from_x = (mirrored ? width_ - 1 - x : x) - right;
          const bool inside = from_y >= 0 && from_y < height_ && from_x >= 0 && from_x < width_;
          batch.features(b, (c * height_ + y) * width_ + x) =
              inside ? before((c * height_ + from_y) * width_ + from_x) : empty_[static_cast<std::size_t>(c)];
        }
      }
    }
  }
}

}  // namespace nudge
