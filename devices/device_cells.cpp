// SPDX-License-Identifier: Apache-2.0
#include "devices/device_cells.hpp"

namespace nudge {

template <class S>
DeviceCells<S> gather(const DeviceCells<S>& cells, const std::vector<Index>& which) {
  const auto count = static_cast<Index>(which.size());
  const auto take = [&](const Matrix<S>& from) {
    Matrix<S> out(1, count);
    for (Index k = 0; k < count; ++k) out(0, k) = from.data()[which[static_cast<std::size_t>(k)]];
    return out;
  };
  DeviceCells<S> part;
  part.reference = cells.reference;
  part.mean_step = cells.mean_step;
  part.g = take(cells.g);
  part.lower = take(cells.lower);
  part.upper = take(cells.upper);
  part.step_up = take(cells.step_up);
  part.step_down = take(cells.step_down);
  part.writes = take(cells.writes);
  if (cells.gamma_up.size() > 0) {
    part.gamma_up = take(cells.gamma_up);
    part.gamma_down = take(cells.gamma_down);
  }
  if (cells.life.size() > 0) part.life = take(cells.life);
  for (const Matrix<S>& state : cells.own) part.own.push_back(take(state));
  return part;
}

template <class S>
void scatter(const DeviceCells<S>& part, const std::vector<Index>& which, DeviceCells<S>& cells) {
  for (std::size_t k = 0; k < which.size(); ++k) {
    cells.g.data()[which[k]] = part.g.data()[k];
    cells.writes.data()[which[k]] = part.writes.data()[k];
    for (std::size_t s = 0; s < cells.own.size(); ++s) cells.own[s].data()[which[k]] = part.own[s].data()[k];
  }
}

#define NUDGE_DEVICE_CELLS(S)                                                          \
  template DeviceCells<S> gather<S>(const DeviceCells<S>&, const std::vector<Index>&); \
  template void scatter<S>(const DeviceCells<S>&, const std::vector<Index>&, DeviceCells<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_DEVICE_CELLS)

}  // namespace nudge
