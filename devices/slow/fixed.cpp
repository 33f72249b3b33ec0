// SPDX-License-Identifier: Apache-2.0
#include "devices/slow/fixed.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
FixedDevices<S>::FixedDevices(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& cells)
    : mortal_(spec.endurance_failure != EnduranceFailure::none) {
  if (spec.faults.any()) {
    const FaultSpec& f = spec.faults;
    const Matrix<double> kind = site.uniform(StaticDraw::fault);
    const Matrix<double> place = site.uniform(StaticDraw::fault_place);
    for (Index i = 0; i < kind.size(); ++i) {
      const double u = kind.data()[i];
      if (u >= f.low + f.high + f.random) continue;
      const double at = u < f.low ? 0 : u < f.low + f.high ? 1 : place.data()[i];
      const S lower = cells.lower.data()[i];
      const S upper = cells.upper.data()[i];
      // The sum may round above the bound.
      stuck_.push_back({i, std::min(lower + static_cast<S>(at) * (upper - lower), upper)});
    }
  }
  if (site.stuck_S != nullptr) {  // behind those that are drawn: what was measured of a device counts
    NUDGE_EXPECT(site.stuck_S->rows() == site.rows && site.stuck_S->cols() == site.cols);
    for (Index i = 0; i < site.stuck_S->size(); ++i) {
      const double g = site.stuck_S->data()[i];
      if (!std::isnan(g)) stuck_.push_back({i, static_cast<S>(g)});
    }
  }
  if (!mortal_) return;
  const double sigma = spec.endurance_spread;  // exp(σ ξ − σ²/2) has the mean 1
  const auto mean = static_cast<S>(spec.endurance);
  cells.life =
      (mean *
       (static_cast<S>(sigma) * site.normal<S>(StaticDraw::life).array() - static_cast<S>(0.5 * sigma * sigma)).exp())
          .max(S(1))
          .matrix();
}

template <class S>
void FixedDevices<S>::written(DeviceCells<S>& cells, const DeviceWrite<S>& /*write*/) {
  restored(cells);
}

template <class S>
void FixedDevices<S>::hold(DeviceCells<S>& cells) {
  for (const Fixed& one : stuck_) cells.g.data()[one.place] = one.g;
  for (const Fixed& one : worn_) cells.g.data()[one.place] = one.g;
}

template <class S>
void FixedDevices<S>::restored(DeviceCells<S>& cells) {
  worn_.clear();
  for (Index i = 0; mortal_ && i < cells.g.size(); ++i) {
    if (cells.writes.data()[i] >= cells.life.data()[i]) worn_.push_back({i, cells.g.data()[i]});
  }
}

NUDGE_BOTH_PRECISIONS_OF(FixedDevices)

}  // namespace nudge
