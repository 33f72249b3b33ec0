// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge::report {

/// Places (n, 2) in the unit square of the nodes of a graph, so that distances on the page are as those along its edges: classical scaling
/// (Torgerson, Psychometrika 17 (1952) 401) of the distances, then majorisation of the stress Σ (|x_i − x_j| − d_ij)²/d_ij² (Gansner, Koren &
/// North 2004, doi:10.1007/978-3-540-31843-9_25). Time grows as n³. The same graph has the same places.
Matrix<double> graph_layout(int nodes, const std::vector<std::pair<int, int>>& edges);

}  // namespace nudge::report
