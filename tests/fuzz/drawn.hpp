// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace nudge::fuzz {

/// Decisions made from the fuzzer's bytes, one after another; zeros when they are used up.
class Drawn {
 public:
  Drawn(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

  bool done() const { return at_ >= bytes_.size(); }
  std::uint8_t byte() { return done() ? std::uint8_t{0} : bytes_[at_++]; }
  std::size_t below(std::size_t count) {
    const std::size_t low = byte();
    return count == 0 ? 0 : (count > 256 ? low << 8U | byte() : low) % count;
  }

  /// Numbers at which readers go wrong, small ones, or any.
  std::int64_t integer() {
    static constexpr std::array<std::int64_t, 14> edges = {0,
                                                           1,
                                                           -1,
                                                           2,
                                                           255,
                                                           256,
                                                           65536,
                                                           std::int64_t{1} << 31,
                                                           -(std::int64_t{1} << 31),
                                                           (std::int64_t{1} << 32) + 1,
                                                           std::int64_t{1} << 53,
                                                           std::numeric_limits<std::int64_t>::max(),
                                                           std::numeric_limits<std::int64_t>::min(),
                                                           1000000};
    const std::size_t which = below(edges.size() + 2);
    if (which < edges.size()) return edges[which];
    if (which == edges.size()) return static_cast<std::int8_t>(byte());
    std::uint64_t all = 0;
    for (int i = 0; i < 8; ++i) all = all << 8U | byte();
    return static_cast<std::int64_t>(all);
  }

  double real() {
    using Limits = std::numeric_limits<double>;
    static constexpr std::array<double, 14> edges = {0.0,
                                                     -0.0,
                                                     1.0,
                                                     -1.0,
                                                     0.5,
                                                     Limits::quiet_NaN(),
                                                     Limits::infinity(),
                                                     -Limits::infinity(),
                                                     Limits::max(),
                                                     -Limits::max(),
                                                     Limits::denorm_min(),
                                                     Limits::min(),
                                                     1e300,
                                                     9007199254740993.0};
    const std::size_t which = below(edges.size() + 1);
    return which < edges.size() ? edges[which] : static_cast<double>(integer()) / 256.0;
  }

  std::string text() {
    std::string out(below(24), '\0');
    for (char& c : out) c = static_cast<char>(byte());
    return out;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

}  // namespace nudge::fuzz
