// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/info/gradient_errors.hpp"
#include "apps/report/pictures.hpp"
#include "sim/base/matrix.hpp"
#include "training/data/scores.hpp"
#include "training/data/text_dataset.hpp"

namespace nudge::report {

/// Quantity over steps; x and y have the same length.
struct TimeSeries {
  std::vector<double> x, y;
  std::string unit = {}, description = {};
  bool empty() const { return y.empty(); }
  double last_finite() const;  ///< last finite value; NaN if there is none
};

/// Histogram of conductances: devices per bin, of one kind of devices of an array.
struct Histogram {
  std::string array, devices, name;  ///< "Winput", "positive", "before"
  std::string unit, description;     ///< unit of the levels; description of the counts
  std::vector<double> level, count;
};

/// Trained model of a run: the run itself (/train), a model trained beside it (/beside/train), or a null
/// (/null/frozen_devices/train; /null/train in earlier versions).
struct Lane {
  std::string lane;       ///< name of the lane: "", "beside", "null/frozen_devices", ...
  std::string network;    ///< kind of the network; empty in older files
  std::int64_t size = 0;  ///< count of the numbers that it learns
  std::string estimator;
  std::size_t steps = 0;                     ///< number of logged steps, of which a long run keeps some
  std::map<std::string, TimeSeries> series;  ///< name of the dataset -> values
  std::vector<double> cosine_step;
  std::vector<std::string> groups;
  std::map<std::string, ConfusionMatrix> confusion;  ///< confusion matrices of a classifier, by "validation" and "test"
  std::map<std::string, std::map<std::string, TimeSeries>>
      arrays;                                                   ///< array -> reading -> values; digital weights: empty
  std::map<std::string, std::pair<Index, Index>> array_shapes;  ///< rows and columns of weights; of one of the copies
  std::map<std::string, Matrix<double>> weights;                ///< final weights, where arrays hold them
  std::vector<Histogram> conductances;                          ///< histograms of the arrays, before training and after
  Matrix<double> cosine;  ///< cosines (steps, groups); the first group is `all`, the equilibrium's parameters together

  const TimeSeries& of(const std::string& name) const;  ///< series of a dataset; empty when the file has none
  double count(const std::string& kind) const;          ///< number of steps that were "skipped" or "nonfinite"
};

/// Table of columns of equal length: rows of a gradcheck, points of a sweep.
struct Table {
  std::size_t rows = 0;
  std::vector<std::string> keys;  ///< swept config keys of a sweep
  bool one_at_a_time = false;     ///< true if a sweep changes one key at a time from the values of the first point
  bool scattered = false;         ///< true if all keys of a sweep change from point to point (zip, sobol, random)
  std::map<std::string, std::vector<double>> numbers;
  std::map<std::string, std::vector<std::string>> texts;
  std::vector<std::string> results;  ///< measured columns of `numbers` in a sweep, most important first
  std::map<std::string, std::string> units;

  std::string unit(const std::string& column) const;                ///< unit of a column; empty where the file has none
  std::string label(const std::string& column) const;               ///< name with unit: "write energy (J)"
  std::string text(const std::string& key, std::size_t row) const;  ///< value of a key: a name, or number()
};

/// Gradients per step of a parameter group (gradcheck.record), means over the recorded samples: of every estimator, and of bptt.
struct StepCurves {
  std::string group;
  std::size_t samples = 0;
  std::vector<std::pair<std::string, std::vector<double>>> of_steps;
};

/// Verdict on what the devices of a run learnt, against its nulls.
struct NullVerdict {
  std::string text;
  std::optional<bool> learnt;  ///< nothing: open, as not every null was run
};

/// Slope of the loss at the end of a run, per 1000 steps (training/train/plateau.hpp).
struct PlateauFacts {
  std::string text;
  double slope = 0, low = 0, high = 0;
  std::optional<bool> reached;
};

struct Event {
  double step = 0;
  std::string text;
};

/// Contents of a run file that a reader wants to see; parts that the file lacks are empty. See docs/reference/files.md.
struct RunFile {
  std::string name, kind, config;
  std::vector<std::pair<std::string, std::string>> facts;  ///< other root attributes, in reading order
  std::vector<Lane> trainees;
  std::vector<std::pair<std::size_t, Event>> events;  ///< (trainee, event)
  std::size_t events_left_out = 0;                    ///< number of events that the log of a long run no longer holds
  Table rows, points;
  std::vector<GradientError> errors;  ///< what a gradcheck tells of every estimator
  /// Verdict on the equilibrium, as the command printed it; empty in earlier versions and without free phases.
  std::string equilibrium;
  std::string reference_failure;  ///< of a gradient check
  std::vector<StepCurves> steps;  ///< gradients per step of a gradcheck that recorded some
  Table tuning, test, entrants;   ///< tables of a comparison
  std::string intervals_hold;  ///< sentence on what the intervals of its differences cover; empty in earlier versions
  std::size_t outside = 0;     ///< number of finished runs of earlier grids that the file keeps, in none of the tables
  std::optional<NullVerdict> null;
  std::optional<PlateauFacts> plateau;
  Table stages;                    ///< stages of a training step: stage, home, how; empty in earlier versions
  std::string failure;             ///< reason why a training that has ended is no result; empty: it is one
  std::string ideal_parts;         ///< parts of a run on devices that are more ideal than the physical level
  std::optional<TextLines> lines;  ///< reference losses of the text that was learned
  std::optional<ReferenceScores> references;  ///< reference scores of the samples
  DevicePictures device;                      ///< results of a characterisation
  Table arrays;                               ///< table of a file of kind crossbar, a row per array
  ArrayPictures arrays_read;                  ///< reads of a file of kind crossbar
  CircuitPicture circuit;                     ///< circuit of a trained netlist
  std::filesystem::path path;                 ///< the file itself
};

/// Reads a run file. UserError: damaged, not a run file of nudge, columns of different lengths or missing.
RunFile load_run_file(const std::filesystem::path& path);

}  // namespace nudge::report
