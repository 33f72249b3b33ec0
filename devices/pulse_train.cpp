// SPDX-License-Identifier: Apache-2.0
#include "devices/pulse_train.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

// Samples whose trains are held at a time: those of 512 columns then fill 128 KiB, which stays in L2.
constexpr Index kBlock = 64;
// Rows per task.
constexpr Index kRows = 16;
// Counts of one device are gathered in bytes; a byte plane of 8 slots adds at most 8, so 31 planes fit in 255.
constexpr int kPlanesPerFlush = 31;
constexpr Index kWord = 8;  ///< devices per 64-bit word, one byte each

/// Trains of one block of samples. Rows: one word of slots per line. Columns: byte planes of eight slots, eight columns to a
/// word, so that one word operation serves eight devices.
struct Trains {
  Trains(Index rows, Index columns)
      : words((columns + kWord - 1) / kWord),
        row(static_cast<std::size_t>(kBlock * rows)),
        row_negative(row.size()),
        column(static_cast<std::size_t>(kBlock * 8 * words)),
        column_positive(static_cast<std::size_t>(kBlock * words)),
        length(static_cast<std::size_t>(kBlock)) {}
  const std::uint64_t* plane(Index sample, int b) const { return column.data() + (sample * 8 + b) * words; }
  const std::uint64_t* positive(Index sample) const { return column_positive.data() + sample * words; }

  Index words;
  std::vector<std::uint64_t> row;
  std::vector<unsigned char> row_negative;
  std::vector<std::uint64_t> column;
  std::vector<std::uint64_t> column_positive;  ///< bytes of ones where the column asks for up pulses on a positive row
  std::vector<int> length;
};

/// Draws the train of each line: `length` independent slots, fired with probability min(1, scale |v|). uniform: working
/// memory; store(line, slots) takes each train.
template <class S, class Store>
void fire(const RngKey& key, const TrainStream& stream, std::uint32_t lane,
          Eigen::Ref<const Eigen::Array<S, 1, Eigen::Dynamic>> v, double scale, int length, std::vector<float>& uniform,
          Store store) {
  uniform.resize(static_cast<std::size_t>(v.size() * length));
  fill_uniform<float>(key, stream.number, lane, uniform);
  for (Index i = 0; i < v.size(); ++i) {
    const auto p = static_cast<float>(scale * std::abs(static_cast<double>(v[i])));
    const float* u = uniform.data() + i * length;
    std::uint64_t train = 0;
    for (int s = 0; s < length; ++s) train |= static_cast<std::uint64_t>(u[s] < p) << static_cast<unsigned>(s);
    store(i, train);
  }
}

/// Draws the trains of one sample into place `slot` of the block; false when one of its numbers is not finite. lane: stream
/// of its random numbers.
template <class S>
bool draw(const Eigen::Array<S, 1, Eigen::Dynamic>& x, const Eigen::Array<S, 1, Eigen::Dynamic>& y, double c,
          int max_length, const TrainStream& stream, std::uint32_t lane, Index slot, Trains& trains,
          TrainReport& report) {
  const auto x_max = static_cast<double>(x.abs().maxCoeff());
  const auto y_max = static_cast<double>(y.abs().maxCoeff());
  const double most = std::abs(c) * x_max * y_max;
  const auto at = static_cast<std::size_t>(slot);
  if (!x.allFinite() || !y.allFinite() || !std::isfinite(most)) return false;
  trains.length[at] =
      most == 0 ? 0 : static_cast<int>(std::clamp(std::ceil(most), 1.0, static_cast<double>(max_length)));
  ++report.samples;
  report.slots += static_cast<std::uint64_t>(trains.length[at]);
  if (trains.length[at] == 0) return true;
  const int length = trains.length[at];
  if (most > length) ++report.clipped;
  const double largest = std::sqrt(most / length);  // A max|x| = B max|y|
  std::vector<float> uniform;
  const Index rows = x.size();
  fire<S>({stream.seed, Purpose::coincidence_rows, stream.entity}, stream, lane, x, largest / x_max, length, uniform,
          [&](Index i, std::uint64_t train) {
            trains.row[static_cast<std::size_t>(slot * rows + i)] = train;
            trains.row_negative[static_cast<std::size_t>(slot * rows + i)] = x[i] < 0 ? 1 : 0;
          });
  // Bytes are written and read through the same view, so that their order in a word does not matter.
  auto* planes = reinterpret_cast<unsigned char*>(trains.column.data() + slot * 8 * trains.words);
  auto* positive = reinterpret_cast<unsigned char*>(trains.column_positive.data() + slot * trains.words);
  const Index stride = trains.words * kWord;
  std::fill_n(planes, 8 * stride, static_cast<unsigned char>(0));
  fire<S>({stream.seed, Purpose::coincidence_columns, stream.entity}, stream, lane, y, largest / y_max, length, uniform,
          [&](Index j, std::uint64_t train) {
            for (int b = 0; 8 * b < length; ++b) {
              planes[b * stride + j] = static_cast<unsigned char>((train >> static_cast<unsigned>(8 * b)) & 0xFFU);
            }
            positive[j] = (static_cast<double>(y[j]) * c > 0) ? 0xFF : 0;
          });
  return true;
}

/// Counts of one row, in bytes, and their sums so far.
struct RowCounts {
  explicit RowCounts(Index words) : up(static_cast<std::size_t>(words)), all(up.size()) {}
  std::vector<std::uint64_t> up, all;
  int planes = 0;
};

/// Adds the popcount of every byte of (slots & plane) to all, and to up where `positive` (or its complement, by `flip`) is set.
void add_plane(std::uint64_t slots, const std::uint64_t* plane, const std::uint64_t* positive, std::uint64_t flip,
               RowCounts& counts) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  const std::uint64_t every = slots * kOnes;
  std::uint64_t* up = counts.up.data();
  std::uint64_t* all = counts.all.data();
  const std::size_t words = counts.up.size();
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t v = plane[w] & every;
    v -= (v >> 1U) & (0x55U * kOnes);
    v = (v & (0x33U * kOnes)) + ((v >> 2U) & (0x33U * kOnes));
    v = (v + (v >> 4U)) & (0x0FU * kOnes);
    all[w] += v;
    up[w] += v & (positive[w] ^ flip);
  }
  ++counts.planes;
}

template <class S>
void flush(RowCounts& counts, S* up, S* down, Index columns) {
  if (counts.planes == 0) return;
  const auto* u = reinterpret_cast<const unsigned char*>(counts.up.data());
  const auto* a = reinterpret_cast<const unsigned char*>(counts.all.data());
  for (Index j = 0; j < columns; ++j) {
    up[j] += static_cast<S>(u[j]);
    down[j] += static_cast<S>(a[j] - u[j]);
  }
  std::fill(counts.up.begin(), counts.up.end(), 0);
  std::fill(counts.all.begin(), counts.all.end(), 0);
  counts.planes = 0;
}

}  // namespace

template <class S>
TrainReport count_coincidences(ConstMatrixRef<S> x, ConstMatrixRef<S> y, double c, int max_length,
                               const TrainStream& stream, int threads, MatrixRef<S> up, MatrixRef<S> down) {
  NUDGE_EXPECT(x.rows() == y.rows() && up.rows() == x.cols() && up.cols() == y.cols());
  NUDGE_EXPECT(down.rows() == up.rows() && down.cols() == up.cols() && max_length >= 1 && max_length <= 64);
  TrainReport report;
  if (x.cols() == 0 || y.cols() == 0) return report;
  Trains trains(x.cols(), y.cols());
  for (Index begin = 0; begin < x.rows(); begin += kBlock) {
    const Index samples = std::min(kBlock, x.rows() - begin);
    std::vector<TrainReport> reports(static_cast<std::size_t>(samples));
    std::vector<unsigned char> finite(static_cast<std::size_t>(samples));
    parallel_for(samples, threads, [&](Index n, int) {
      const auto at = static_cast<std::size_t>(n);
      finite[at] = draw<S>(x.row(begin + n).array(), y.row(begin + n).array(), c, max_length, stream,
                           stream.first + static_cast<std::uint32_t>(begin + n), n, trains, reports[at]);
    });
    for (const TrainReport& one : reports) report += one;
    if (std::count(finite.begin(), finite.end(), 0) > 0) {
      up.setConstant(std::numeric_limits<S>::quiet_NaN());
      return report;
    }
    parallel_for((x.cols() + kRows - 1) / kRows, threads, [&](Index task, int) {
      RowCounts counts(trains.words);
      for (Index i = task * kRows; i < std::min((task + 1) * kRows, x.cols()); ++i) {
        S* up_row = &up(i, 0);
        S* down_row = &down(i, 0);
        for (Index n = 0; n < samples; ++n) {
          const auto at = static_cast<std::size_t>(n * x.cols() + i);
          const int length = trains.length[static_cast<std::size_t>(n)];
          if (length == 0) continue;
          const std::uint64_t train = trains.row[at];
          const std::uint64_t flip = trains.row_negative[at] != 0 ? ~std::uint64_t{0} : 0;
          for (int b = 0; 8 * b < length; ++b) {
            const std::uint64_t slots = (train >> static_cast<unsigned>(8 * b)) & 0xFFU;
            if (slots == 0) continue;
            add_plane(slots, trains.plane(n, b), trains.positive(n), flip, counts);
            if (counts.planes == kPlanesPerFlush) flush(counts, up_row, down_row, y.cols());
          }
        }
        flush(counts, up_row, down_row, y.cols());
      }
    });
  }
  return report;
}

#define NUDGE_PULSE_TRAIN(S)                                                                                        \
  template TrainReport count_coincidences<S>(ConstMatrixRef<S>, ConstMatrixRef<S>, double, int, const TrainStream&, \
                                             int, MatrixRef<S>, MatrixRef<S>);
NUDGE_BOTH_PRECISIONS(NUDGE_PULSE_TRAIN)

}  // namespace nudge
