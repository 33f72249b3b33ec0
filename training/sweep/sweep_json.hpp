// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "training/sweep/sweep.hpp"

namespace nudge {

// As training/data/scores_json.hpp.

/// {"mean": …, "deviation": …, "median": …, "runs": …, "failed": …}
nlohmann::json json_of(const CellSpread& cell);

/// The swept keys of a point, numbers in SI units.
nlohmann::json values_json(const Sweep& sweep, const SweepPoint& point);

/// {"seed": …, "status": …, "seconds": …, the swept keys, the metrics, "group_cosines": {…}}
nlohmann::json json_of(const Sweep& sweep, const SweepPoint& point);

/// One finished point, the `done`th: the same, and "event": "point", "done", "total".
nlohmann::json event_json(const Sweep& sweep, const SweepPoint& point, std::size_t done);

/// The points that have been run.
nlohmann::json points_json(const Sweep& sweep);

/// {"keys": …, "points": […], "summary": [one per cell], "ok": …, "interrupted": …, "outside": …, "text": …, "reference": …}
nlohmann::json json_of(const Sweep& sweep);

}  // namespace nudge
