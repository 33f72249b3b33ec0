// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/wires/wire_spec.hpp"

namespace nudge {

/// How a large array is cut: tiles of at most rows x columns devices with wires of their own, whose column currents are
/// added (partial sums). 0: not cut in that direction.
struct TileSpec {
  Index rows = 0;
  Index columns = 0;
};

/// Which ends of the wires drive and sense: those of WireSpec, or the other end of every wire (rows at j = M − 1, columns at
/// i = 0), seen in the same layout.
enum class PathEnds { near, far };

/// What the sense amplifiers see of conductances G (N, M) through the wires of their tiles: currents = volts · result, in
/// siemens. Computed once per programming or update, so that a read stays one product. Ideal wires return G itself.
Matrix<double> effective_conductance(const Matrix<double>& conductance_S, const WireSpec& wires, const TileSpec& tiles,
                                     int threads, PathEnds ends = PathEnds::near);

/// The largest ir_drop_figure() of a tile.
double worst_ir_drop(const Matrix<double>& conductance_S, const WireSpec& wires, const TileSpec& tiles);

}  // namespace nudge
