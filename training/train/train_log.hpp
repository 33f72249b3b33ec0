// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// The growing columns of a run, kept in memory between checkpoints and written whole with each; restored on resume.
class TrainLog {
 public:
  /// The column that the values added from now on are drawn over: "train/step", "train/validation_step", ... It is written
  /// with them (attributes role = "series" and x), so that no reader has to guess.
  void axis(const std::string& x) { axis_ = x; }

  /// Appends to a column, which is created on its first value. Throws UserError where one column would be the group of another,
  /// or has entries of another width, as a restored file that was edited may have it.
  void add(const std::string& name, double value, const std::string& unit, const std::string& description);

  /// Appends a row to a column of rows of equal width ("train/cosine" over parameter groups).
  void add_row(const std::string& name, const std::vector<double>& row, const std::string& unit,
               const std::string& description, const std::string& columns_label);

  /// Last value of a column, NaN when there is none.
  double last(const std::string& name) const;
  /// Sum of the last values of all columns prefix.../suffix and prefix..._suffix ("device", "pulses_up"); 0 when there is none.
  double sum_last(const std::string& prefix, const std::string& suffix) const;
  /// Sum over these columns of their last value less their first: what has been added since the run started.
  double sum_growth(const std::string& prefix, const std::string& suffix) const;
  /// The largest of these values; 0 when there is none.
  double largest_last(const std::string& prefix, const std::string& suffix) const;
  const std::vector<double>& values(const std::string& name) const;

  void event(std::uint64_t step, const std::string& text);

  /// Writes every column below `prefix` ("", "beside/", ...).
  void write(H5Document& document, const std::string& prefix) const;

  /// Reads the columns back from a file written by write().
  void restore(const H5Reader& file, const std::string& prefix);

 private:
  void restore_column(const H5Reader& file, const std::string& prefix, const std::string& path);
  std::vector<const std::vector<double>*> all_named(const std::string& prefix, const std::string& suffix) const;
  std::vector<double> all_last(const std::string& prefix, const std::string& suffix) const;
  struct Column {
    std::string name, unit, description, columns_label, axis;
    Index width = 0;  ///< 0: one number per entry
    std::vector<double> values;
  };
  Column& column(const std::string& name, const std::string& unit, const std::string& description, Index width);

  std::string axis_ = "train/step";
  std::vector<Column> columns_;
  std::vector<double> event_steps_;
  std::vector<std::string> events_;
};

}  // namespace nudge
