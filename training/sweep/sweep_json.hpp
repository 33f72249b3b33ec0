// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "training/sweep/sweep.hpp"

namespace nudge {

// As training/data/scores_json.hpp.

/// JSON of a cell: {"mean": …, "deviation": …, "median": …, "runs": …, "failed": …}
nlohmann::json json_of(const CellSpread& cell);

/// JSON of the swept keys of a point, numbers in SI units.
nlohmann::json values_json(const Sweep& sweep, const SweepPoint& point);

/// JSON of a point: {"seed": …, "status": …, "seconds": …, the swept keys, the metrics, "group_cosines": {…}}
nlohmann::json json_of(const Sweep& sweep, const SweepPoint& point);

/// JSON of the event of a finished point, the `done`th: the point's JSON, and "event": "point", "done", "total".
nlohmann::json event_json(const Sweep& sweep, const SweepPoint& point, std::size_t done);

/// JSON of the points that have been run.
nlohmann::json points_json(const Sweep& sweep);

/// JSON of a sweep: {"keys": …, "points": […], "summary": [one per cell], "ok": …, "interrupted": …, "outside": …,
/// "text": …, "reference": …}
nlohmann::json json_of(const Sweep& sweep);

}  // namespace nudge
