// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/base/errors.hpp"
#include "sim/base/ranks.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/output_lock.hpp"
#include "training/config/assembly.hpp"
#include "training/sweep/farm.hpp"
#include "training/sweep/sweep_file.hpp"
#include "training/sweep/sweep_grid.hpp"
#include "training/sweep/sweep_points.hpp"

namespace nudge {
std::size_t Sweep::count_ok() const {
  return static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(), [](const SweepPoint& p) { return p.status == "ok"; }));
}

std::size_t Sweep::count_own() const {
  std::size_t own = 0;
  for (std::size_t i = 0; i < points.size(); ++i) own += shard.has(i) ? 1 : 0;
  return own;
}

std::size_t Sweep::count_left() const {
  std::size_t left = 0;
  for (std::size_t i = 0; i < points.size(); ++i) left += shard.has(i) && points[i].status.empty() ? 1 : 0;
  return left;
}

std::string Shard::text() const { return fmt::format("{}/{}", index, count); }

Shard read_shard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, shard.index);
  const bool slash = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
  const auto second = slash ? std::from_chars(first.ptr + 1, end, shard.count) : first;
  if (!slash || second.ec != std::errc() || second.ptr != end || shard.index < 1 || shard.index > shard.count) {
    throw UserError(fmt::format("--shard {} (must be i/n with 1 <= i <= n, as in --shard 2/8)", text));
  }
  return shard;
}

Sweep run_sweep(const ConfigSource& source, const SweepFiles& files, const SweepObserver& observer) {
  const bool leads = this_rank() == 0;
  std::optional<OutputLock> lock;
  if (leads) {
    check_output_path(files.output, files.resume ? Overwrite::replace : Overwrite::must_not_exist);
    lock.emplace(files.output);
  }
  SweepGrid grid = make_sweep_grid(source);
  grid.sweep.shard = files.shard;
  use_product_kernel(grid.base);
  SweepFile file(files, grid.base);
  if (files.resume && leads) file.restore(Stored::ended_well, grid);
  share_results(grid.sweep);
  run_points(
      files, grid, sweep_job(grid.base), observer, [&] { file.write(grid.sweep); }, grid.sweep);
  if (!grid.sweep.interrupted) grid.sweep.references = study_references(grid, observer);
  if (grid.sweep.references) file.write(grid.sweep);
  return grid.sweep;
}

Sweep drop_outside(const ConfigSource& source, const SweepFiles& files, Drop drop) {
  check_output_path(files.output, Overwrite::replace);
  const OutputLock lock(files.output);
  SweepGrid grid = make_sweep_grid(source);
  grid.sweep.shard = files.shard;
  use_product_kernel(grid.base);
  SweepFile file(files, grid.base);
  file.restore(Stored::all, grid);
  Sweep rest = grid.sweep;
  rest.outside.clear();
  if (drop == Drop::rewrite && !grid.sweep.outside.empty()) file.write(rest);
  return grid.sweep;
}

std::vector<SweepCell> summarise_sweep(const Sweep& sweep) {
  std::vector<SweepCell> cells;
  std::vector<std::vector<const SweepPoint*>> members;
  for (const SweepPoint& point : sweep.points) {
    const auto same = [&](const SweepCell& cell) { return cell.values == point.values; };
    const auto at = std::find_if(cells.begin(), cells.end(), same);
    const auto place = static_cast<std::size_t>(at - cells.begin());
    if (at == cells.end()) {
      cells.push_back({point.values});
      members.emplace_back();
    }
    if (point.invalid()) cells[place].invalid = point.status.substr(std::string(SweepPoint::kInvalid).size());
    if (point.status.empty() || point.invalid()) continue;
    ++(point.status == "ok" ? cells[place].runs : cells[place].failed);
    members[place].push_back(&point);
  }
  for (std::size_t c = 0; c < cells.size(); ++c) {
    for (std::size_t m = 0; m < sweep.metrics.size(); ++m) {
      const std::string& metric = sweep.metrics[m].name;
      std::vector<double> values;
      for (const SweepPoint* p : members[c]) values.push_back(p->status == "ok" ? p->metrics[m] : failed_value(metric));
      cells[c].results.push_back(cell_spread(values, metric));
    }
  }
  return cells;
}

}  // namespace nudge
