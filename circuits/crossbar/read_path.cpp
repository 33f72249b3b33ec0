// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/read_path.hpp"

#include <span>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

// The place of a read in the stream of its array: no two reads share (step, lane) while these limits (contracts) hold.
[[maybe_unused]] constexpr std::uint64_t max_step = std::uint64_t{1} << 32;
[[maybe_unused]] constexpr std::uint32_t max_phase = std::uint32_t{1} << 8;
constexpr std::uint32_t max_read = std::uint32_t{1} << 24;

}  // namespace

// Adds the output-referred noise of one read: out(n, :) += noise ‖drive(n, :)‖ N(0, 1), and moves on to the next read.
template <class S>
void ReadPath<S>::add_noise(ConstMatrixRef<S> drive, MatrixRef<S> out, double noise, ReadContext& read) const {
  NUDGE_EXPECT(read.step < max_step && read.phase < max_phase && read.read < max_read);
  const std::uint64_t place = (static_cast<std::uint64_t>(read.sequence) << 32) | read.step;
  const std::uint32_t lane = read.phase * max_read + read.read;
  ++read.read;
  noise *= read.noise_scale();
  if (noise == 0) return;
  // Grown once per thread, then reused: nothing is allocated inside a phase. An Eigen array, hence aligned: the last bit
  // of a vectorised normal number may depend on the alignment of its target.
  static thread_local Eigen::Array<S, Eigen::Dynamic, 1> numbers;
  if (numbers.size() < out.size()) numbers.resize(out.size());
  const std::span<S> draws(numbers.data(), static_cast<std::size_t>(out.size()));
  fill_normal<S>({read.seed, Purpose::read_noise, id_}, place, lane, draws);
  const S gain = static_cast<S>(noise);
  using Row = Eigen::Map<const Eigen::Matrix<S, 1, Eigen::Dynamic>>;
  for (Index n = 0; n < out.rows(); ++n) {
    out.row(n) += (gain * drive.row(n).norm()) * Row(numbers.data() + n * out.cols(), out.cols());
  }
}

template class ReadPath<float>;
template class ReadPath<double>;

}  // namespace nudge
