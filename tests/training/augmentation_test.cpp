// SPDX-License-Identifier: Apache-2.0
#include "training/data/augmentation.hpp"

#include <cmath>
#include <map>

#include "tests/support/catch.hpp"
#include "tests/training/network_kinds.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

constexpr Index kHeight = 3, kWidth = 4, kChannels = 2;

/// Pictures of two channels whose pixels all differ, scaled by "unit": 10 becomes 0, so a black pixel lies below 0.
SampleParts pictures(Index count) {
  LabelledData data;
  data.shape = {kChannels, kHeight, kWidth};
  data.features.resize(count, kChannels * kHeight * kWidth);
  for (Index i = 0; i < data.features.size(); ++i) data.features.data()[i] = 10 + static_cast<double>(i);
  for (Index i = 0; i < count; ++i) data.labels.push_back(static_cast<int>(i % 2));
  SampleOptions options;
  options.validation.fraction = options.test.fraction = 0.1;
  return prepare_samples(std::move(data), "pictures", {}, "", options);
}

/// The picture of a row, shifted and mirrored by the book: set into a frame of zeros, cut out, and read from right to left.
std::vector<float> changed(const Eigen::RowVectorXf& row, float black, Index crop, Index down, Index right,
                           bool mirror) {
  std::vector<float> out;
  for (Index c = 0; c < kChannels; ++c) {
    Matrix<float> frame = Matrix<float>::Constant(kHeight + 2 * crop, kWidth + 2 * crop, black);
    for (Index y = 0; y < kHeight; ++y)
      frame.block(crop + y, crop, 1, kWidth) = row.segment((c * kHeight + y) * kWidth, kWidth);
    Matrix<float> cut = frame.block(crop - down, crop - right, kHeight, kWidth);
    if (mirror) cut = cut.rowwise().reverse().eval();
    for (Index y = 0; y < kHeight; ++y) {
      for (Index x = 0; x < kWidth; ++x) out.push_back(cut(y, x));
    }
  }
  return out;
}

std::vector<float> row_of(const Matrix<float>& features, Index b) {
  const Eigen::RowVectorXf row = features.row(b);
  return {row.data(), row.data() + row.size()};
}

}  // namespace

TEST_CASE("pictures are cropped and flipped evenly, as a frame of zeros and a mirror do it", "[data]") {
  const SampleParts parts = pictures(40);
  const auto black = static_cast<float>(-parts.scaling.offset().front() * parts.scaling.gain().front());
  CHECK(black < 0);
  constexpr Index crop = 2, batch = 500, steps = 10;
  const Augmentation change({"crop 2", "flip"}, parts);
  std::map<std::vector<Index>, int> seen;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const Batch plain = epoch_batch(parts.training, batch, 7, step);
    Batch augmented = plain;
    change.apply(augmented, 7, step);
    CHECK(augmented.targets == plain.targets);
    for (Index b = 0; b < batch; ++b) {
      std::vector<Index> found;
      for (Index down = -crop; down <= crop; ++down) {
        for (Index right = -crop; right <= crop; ++right) {
          for (const bool mirror : {false, true}) {
            if (row_of(augmented.features, b) == changed(plain.features.row(b), black, crop, down, right, mirror))
              found = {down, right, mirror ? 1 : 0};
          }
        }
      }
      REQUIRE(found.size() == 3);
      ++seen[found];
    }
  }
  // 5000 draws of 50 equal cells of 100 ± 9.9: one in 1e6 leaves 5.7 deviations (union of 50 cells, two sides).
  CHECK(seen.size() == 50);
  for (const auto& [cell, count] : seen) CHECK(std::abs(count - 100) < 5.7 * std::sqrt(100 * 0.98));
}

TEST_CASE("augmentation depends on seed and place alone, and is off by default", "[data]") {
  const SampleParts parts = pictures(40);
  const Augmentation change({"crop 1"}, parts);
  // Four batches of 5 are one of 20.
  Batch all = epoch_batch(parts.training, 20, 3, 0);
  change.apply(all, 3, 0);
  for (std::uint64_t step = 0; step < 4; ++step) {
    Batch one = epoch_batch(parts.training, 5, 3, step);
    change.apply(one, 3, step);
    CHECK(one.features == all.features.middleRows(static_cast<Index>(step) * 5, 5));
  }
  Batch other = epoch_batch(parts.training, 20, 3, 0);
  change.apply(other, 4, 0);
  CHECK(other.features != all.features);
  CHECK_FALSE(Augmentation({"off"}, parts).on());
}

TEST_CASE("channels are scaled to mean 0 and deviation 1, and only pictures of one scale are augmented", "[data]") {
  SampleParts parts = pictures(40);
  const Matrix<double> raw = parts.training.features.cast<double>();
  const FeatureScaling scaling("channel", raw, kChannels);
  const Matrix<double> y = scaling.applied(raw).cast<double>();
  for (Index c = 0; c < kChannels; ++c) {
    const auto channel = y.middleCols(c * kHeight * kWidth, kHeight * kWidth);
    CHECK(std::abs(channel.mean()) < 1e-6);  // numbers up to 2, rounded to float
    CHECK(channel.squaredNorm() / static_cast<double>(channel.size()) == Approx(1).epsilon(1e-6));
  }
  const auto refused = [&](const std::vector<std::string>& words) {
    try {
      const Augmentation change(words, parts);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(refused({"rotate"}), Contains("\"rotate\"") && Contains("crop N"));
  CHECK_THAT(refused({"crop"}), Contains("crop N"));
  CHECK_THAT(refused({"crop -1"}), Contains("crop N"));
  CHECK_THAT(refused({"flip", "flip"}), Contains("twice"));
  CHECK_THAT(refused({"crop 3"}), Contains("3 x 4 pixels"));
  parts.scaling = FeatureScaling("standard", raw);
  CHECK_THAT(refused({"flip"}), Contains("data.scaling"));
  parts.shape = {24};
  CHECK_THAT(refused({"flip"}), Contains("data.shape"));
}
