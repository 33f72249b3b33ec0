// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/calibration.hpp"

#include "circuits/crossbar/mapping.hpp"

#include <span>

#include "sim/base/rng.hpp"

namespace nudge {
namespace {

/// Draws 1 + ε of the lines of one side of an array, ε of standard deviation sigma. `id` and `side` (0 or 1) name the lines of an array.
template <class S>
LineValues<S> drawn(double sigma, Index lines, std::uint64_t seed, std::uint32_t id, std::uint64_t side) {
  LineValues<S> out(lines);
  fill_normal<S>({seed, Purpose::load_trim, id}, side, 0,
                 std::span<S>(out.data(), static_cast<std::size_t>(out.size())));
  return S(1) + static_cast<S>(sigma) * out;
}

}  // namespace

template <class S>
LoadTrim<S>::LoadTrim(const CrossbarSpec& spec, Index rows, Index cols, std::uint64_t seed, std::uint32_t id)
    : present_(spec.periphery.directions == Directions::simultaneous),
      follows_(spec.periphery.trim_follows),
      pair_S_(0) {
  const CellScale cells(spec.device, spec.circuit.read_voltage_V);
  pair_S_ = cells.low_S() + cells.high_S();
  if (!present_) return;
  columns_ = drawn<S>(spec.periphery.load_trim, cols, seed, id, 0);
  rows_ = drawn<S>(spec.periphery.load_trim, rows, seed, id, 1);
}

template <class S>
void LoadTrim<S>::renew(const LineView<S>& view, double siemens_per_weight) {
  if (!present_) return;
  if (follows_) {
    residue_.of_columns = (view.column_load * (S(1) - columns_)).matrix();
    residue_.of_rows = (view.row_load * (S(1) - rows_)).matrix();
    return;
  }
  const S pair = static_cast<S>(pair_S_ / siemens_per_weight);
  residue_.of_columns = (view.column_load - static_cast<S>(rows_.size()) * pair * columns_).matrix();
  residue_.of_rows = (view.row_load - static_cast<S>(columns_.size()) * pair * rows_).matrix();
}

NUDGE_BOTH_PRECISIONS_OF(LoadTrim)

}  // namespace nudge
