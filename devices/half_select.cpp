// SPDX-License-Identifier: Apache-2.0
#include "devices/half_select.hpp"

#include <algorithm>

namespace nudge {

template <class S>
DisturbCounts<S> disturb_counts(const Matrix<S>& n, const WriteLines& lines) {
  using Line = Eigen::Matrix<S, Eigen::Dynamic, 1>;
  DisturbCounts<S> out{Matrix<S>::Zero(n.rows(), n.cols()), Matrix<S>::Zero(n.rows(), n.cols())};
  const Index high = lines.tile_rows > 0 ? lines.tile_rows : std::max<Index>(n.rows(), 1);
  const Index wide = lines.tile_columns > 0 ? lines.tile_columns : std::max<Index>(n.cols(), 1);
  for (Index top = 0; top < n.rows(); top += high) {
    for (Index left = 0; left < n.cols(); left += wide) {
      const Matrix<S> tile = n.block(top, left, std::min(high, n.rows() - top), std::min(wide, n.cols() - left));
      const Line rows = tile.rowwise().sum();
      const Line columns = tile.colwise().sum().transpose();
      const S all = rows.sum();
      for (Index i = 0; i < tile.rows(); ++i) {
        for (Index j = 0; j < tile.cols(); ++j) {
          out.along(top + i, left + j) = rows(i) + columns(j) - 2 * tile(i, j);
          if (lines.bias == WriteBias::third) {
            out.opposite(top + i, left + j) = all - rows(i) - columns(j) + tile(i, j);
          }
        }
      }
    }
  }
  return out;
}

template <class S>
void HalfSelect<S>::begin(const DeviceCells<S>& cells) {
  if (active()) writes_ = cells.writes;
}

template <class S>
double HalfSelect<S>::end(DeviceCells<S>& cells, const DeviceSpec& spec, const UpdateRequest<S>& request,
                          const PulseChange& change, ChangedPulses& kinds) {
  if (!active()) return 0;
  const Matrix<S> sent = cells.writes - writes_;
  writes_ = cells.writes;
  const auto asked = (request.factor * request.delta.array()).eval();
  const PulseChange seen = change.seen_by(lines_.bias == WriteBias::third ? 1.0 / 3 : 0.5);
  PulseChange turned = seen;
  turned.swapped = true;
  double joules = 0;
  for (const bool up : {true, false}) {
    const S way = up ? S(1) : S(-1);
    const Matrix<S> n = (way * asked > S(0)).select(sent.array(), S(0)).matrix();
    if (n.isZero(0)) continue;
    const DisturbCounts<S> counts = disturb_counts(n, lines_);
    joules += send(cells, counts.along, up, spec, kinds.at(spec, seen), request.threads);
    if (lines_.bias == WriteBias::third) {
      joules += send(cells, counts.opposite, !up, spec, kinds.at(spec, turned), request.threads);
    }
  }
  cells.writes = writes_;
  return joules;
}

/// Sends n pulses of a kind and returns their heat.
template <class S>
double HalfSelect<S>::send(DeviceCells<S>& cells, const Matrix<S>& n, bool up, const DeviceSpec& spec,
                           const ChangedPulses::Kind& kind, int threads) {
  const WritePulse& pulse = up ? kind.pulses.first : kind.pulses.second;
  const Matrix<S> before = cells.g;
  UpdateRequest<S> wanted{n};
  wanted.factor = up ? S(1) : S(-1);
  wanted.pulse = 1;
  wanted.threads = threads;
  kind.model->update(cells, wanted);
  double sum = 0;
  for (Index i = 0; i < n.size(); ++i) {
    const double mean = 0.5 * static_cast<double>(before.data()[i] + cells.g.data()[i]);
    sum += static_cast<double>(n.data()[i]) * spec.selector.cell_S(mean, pulse.voltage_V);
  }
  return sum * pulse.voltage_V * pulse.voltage_V * pulse.width_s;
}

#define NUDGE_INSTANTIATE(S)                                                        \
  template DisturbCounts<S> disturb_counts<S>(const Matrix<S>&, const WriteLines&); \
  template class HalfSelect<S>;
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
