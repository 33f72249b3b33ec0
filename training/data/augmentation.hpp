// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/data/samples.hpp"

namespace nudge {

/// Random changes of pictures while they are learnt (data.augment); validation and test are left as they are:
///   crop N   shifts the picture by (u, v), uniform in {−N, …, N}². What enters is 0 in the file's numbers, as they are scaled: a
///            crop of the picture with a frame of N zeros (He et al., CVPR 2016, section 4.2)
///   flip     mirrors left and right with probability ½
class Augmentation {
 public:
  Augmentation() = default;
  /// Reads the words of data.augment for samples of a shape: (height, width) or (channels, height, width). UserError for other words,
  /// other shapes, and for scalings by which pixels of a channel differ.
  Augmentation(const std::vector<std::string>& words, const SampleParts& parts);

  bool on() const { return crop_ > 0 || flip_; }

  /// Changes the features of a training batch. Sample b stands at place step · B + b of the endless sequence (epoch_batch()). A change
  /// is a pure function of (seed, place), so each epoch sees another one and a resumed run the same.
  void apply(Batch& batch, std::uint64_t seed, std::uint64_t step) const;

 private:
  Index channels_ = 1, height_ = 0, width_ = 0, crop_ = 0;
  bool flip_ = false;
  std::vector<float> empty_;  ///< scaled 0 of each channel
};

}  // namespace nudge
