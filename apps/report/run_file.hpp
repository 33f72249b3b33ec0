// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/report/pictures.hpp"
#include "sim/base/matrix.hpp"
#include "training/data/scores.hpp"
#include "training/data/text_dataset.hpp"

namespace nudge::report {

/// A quantity over steps; x and y have the same length.
struct TimeSeries {
  std::vector<double> x, y;
  std::string unit = {}, description = {};
  bool empty() const { return y.empty(); }
  double last_finite() const;  ///< NaN if there is none
};

/// Devices per bin of conductance, of one kind of devices of an array.
struct Histogram {
  std::string array, devices, name;  ///< "Winput", "positive", "before"
  std::string unit, description;     ///< of the levels; of the counts
  std::vector<double> level, count;
};

/// One trained model of a run: the run itself (/train), what was trained beside it (/beside/train), or the run with frozen devices
/// (/null/train).
struct Lane {
  std::string lane;       ///< "", "beside" or "null"
  std::string network;    ///< its kind; empty of older files
  std::int64_t size = 0;  ///< numbers that it learns
  std::string estimator;
  std::size_t steps = 0;                     ///< that were logged, of which a long run keeps some
  std::map<std::string, TimeSeries> series;  ///< name of the dataset -> values
  std::vector<double> cosine_step;
  std::vector<std::string> groups;
  std::map<std::string, ConfusionMatrix> confusion;  ///< "validation", "test": of a classifier
  std::map<std::string, std::map<std::string, TimeSeries>>
      arrays;                                                   ///< array -> reading -> values; digital weights: empty
  std::map<std::string, std::pair<Index, Index>> array_shapes;  ///< rows, columns of weights; of one of the copies
  std::map<std::string, Matrix<double>> weights;                ///< final values, where arrays hold them
  std::vector<Histogram> conductances;                          ///< of the arrays, before training and after
  Matrix<double> cosine;  ///< (steps, groups); the first group is `all`, the equilibrium's parameters together

  const TimeSeries& of(const std::string& name) const;  ///< empty series when the file has none
  double count(const std::string& kind) const;          ///< steps that were "skipped" or "nonfinite"
};

/// Columns of equal length: rows of a gradcheck, points of a sweep.
struct Table {
  std::size_t rows = 0;
  std::vector<std::string> keys;  ///< of a sweep: the swept config keys
  bool one_at_a_time = false;     ///< of a sweep: one key at a time leaves the values of the first point
  bool scattered = false;         ///< of a sweep: all keys change from point to point (zip, sobol, random)
  std::map<std::string, std::vector<double>> numbers;
  std::map<std::string, std::vector<std::string>> texts;
  std::vector<std::string> results;  ///< of a sweep: measured columns of `numbers`, what a run is judged by first
  std::map<std::string, std::string> units;

  std::string label(const std::string& column) const;        ///< "write energy (J)"
  std::string unit_suffix(const std::string& column) const;  ///< " (J)"; nothing for pure numbers
};

/// What the devices of a run learnt, against the lane where they are frozen.
struct NullVerdict {
  std::string text;
  bool learnt = false;
};

struct Event {
  double step = 0;
  std::string text;
};

/// Everything of a run file that a reader wants to see; what the file lacks is empty. See docs/file_format.md.
struct RunFile {
  std::string name, kind, config;
  std::vector<std::pair<std::string, std::string>> facts;  ///< the other root attributes, in reading order
  std::vector<Lane> trainees;
  std::vector<std::pair<std::size_t, Event>> events;  ///< (trainee, event)
  std::size_t events_left_out = 0;                    ///< that the log of a long run no longer holds
  Table rows, points;
  Table tuning, test, entrants;  ///< of a comparison
  std::string intervals_hold;    ///< what the intervals of its differences hold; empty of earlier versions
  std::size_t outside = 0;       ///< finished runs that the file keeps of earlier grids, in none of the tables
  std::optional<NullVerdict> null;
  Table stages;                               ///< of a training step: stage, home, how; empty of earlier versions
  std::string failure;                        ///< why a training that has ended is no result; empty: it is one
  std::string ideal_parts;                    ///< what a run on devices had less than the physical level
  std::optional<TextLines> lines;             ///< of the text that was learned
  std::optional<ReferenceScores> references;  ///< of the samples
  DevicePictures device;                      ///< of a characterisation
  Table arrays;                               ///< of a file of kind crossbar, a row per array
  ArrayPictures arrays_read;                  ///< and what its reads see
  CircuitPicture circuit;                     ///< of a training of a netlist
};

/// Reads a file. UserError: damaged, not a run file of nudge, columns of different lengths or missing.
RunFile load_run_file(const std::filesystem::path& path);

}  // namespace nudge::report
