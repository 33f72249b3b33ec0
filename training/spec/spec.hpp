// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "training/config/entrants.hpp"
#include "training/config/spec_options.hpp"
#include "training/spec/spec_axes.hpp"
#include "training/spec/spec_limit.hpp"
#include "training/sweep/estimate.hpp"
#include "training/sweep/sweep.hpp"
#include "training/sweep/sweep_grid.hpp"

namespace nudge {

/// Plan of a specification. Every training has one of these labels:
///   "exact numbers", and the words of nulls (null_runs.hpp)   what the loss is a share of
///   "clean"            every axis at its best value: where losses are counted from
///   "design"           the config
///   "alone AXIS"       clean, and one axis at a value
///   "together AXIS"    the config, and one axis at a value: losses add up
///   "screen"           the config with drawn resources, for the Pareto front
struct SpecPlan {
  ConfigSource source;  ///< with the settings that all trainings share
  Config base;
  SpecOptions options;
  SpecAxes found;
  std::vector<Entrant> methods;      ///< exact numbers, then the nulls that the config can have
  std::string metric;                ///< column that the loss is of: "test_accuracy", "test_loss"
  std::vector<std::string> columns;  ///< keys of all axes

  std::size_t most_runs() const;  ///< most trainings that the plan may need
};

/// Makes the plan of a config with devices. UserError: no devices, fewer than two seeds, no test split, an axis that
/// cannot be (spec_axes), or more runs than spec.runs.
SpecPlan spec_plan(const ConfigSource& given);

/// Labels of the trainings of an axis.
std::string alone_label(const SpecAxis& axis);
std::string together_label(const SpecAxis& axis);
constexpr const char* kCleanRun = "clean";
constexpr const char* kDesignRun = "design";
constexpr const char* kScreenRun = "screen";

/// Finished or interrupted specification; spec_result.hpp reads it.
struct SpecRun {
  SpecPlan plan;
  Sweep sweep;  ///< all trainings so far
  bool interrupted = false;
  bool waits = false;  ///< a part of the present stage has ended (SweepFiles::shard); the other parts are needed
};

/// Runs a specification stage by stage: references, worst values, best values, bisections, drawn designs. All axes share
/// a stage. Its points run like the points of a sweep (run_points): in parallel, on MPI, in shards. The file (kind
/// "spec") has one table of points. To resume replays the stages and trains the missing points, to the same bits.
SpecRun run_spec(const ConfigSource& given, const SweepFiles& files, const SweepObserver& observer = {});

/// Reads the specification of a file of kind "spec": plans its stages again and takes its trainings, up to the first stage
/// that is not complete (SpecRun::interrupted). UserError naming the file.
SpecRun read_spec(const std::filesystem::path& path);

/// Estimates run_spec(): the most trainings that it may need, one kind per label.
StudyEstimate estimate_spec(const ConfigSource& given, const SweepFiles& files,
                            const std::function<bool(std::size_t, std::size_t)>& watch = {});

}  // namespace nudge
