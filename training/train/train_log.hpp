// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "sim/base/measured.hpp"
#include "sim/io/h5_document.hpp"
#include "sim/io/h5_reader.hpp"

namespace nudge {

/// Log of a run: its columns are kept in memory between checkpoints, written whole with each, and restored on resume.
/// Columns over one axis ("train/step", "train/validation_step", ...) form a table: adding to the axis begins a row,
/// and missing values are NaN. A table never has more than `limit` rows, so a run of any length takes the same memory,
/// file and time per step. Until it is full it holds every entry. Then every second row goes. From then on every 2nd
/// entry stays, then every 4th, ...: entry k stays while k is a multiple of 2^m. The last entry is always there.
/// Nothing is averaged: a row holds the values logged at its step. The number of entries alone decides which rows there
/// are, so a resumed run has the rows of an unbroken one. If there are more than `limit` events, the first half and the
/// latest stay, with the number of events left out between.
class TrainLog {
 public:
  /// Makes a log of at most `limit` ≥ 2 rows per table (output.log_rows); by default it keeps all, as of a file.
  explicit TrainLog(std::size_t limit = std::numeric_limits<std::size_t>::max());

  /// Sets the column that the following values are drawn over: "train/step", "train/validation_step", ... It is written
  /// with them (attributes role = "series" and x), so that no reader has to guess.
  void axis(const std::string& x) { axis_ = x; }

  /// Sets the last row of a column, which is created on its first value; for the axis itself, begins a row. Throws
  /// UserError if one column would be the group of another, or has entries of another width. An edited file that was
  /// restored may have such columns.
  void add(const std::string& name, double value, const std::string& unit, const std::string& description);

  /// Sets the last row of a column of rows of equal width ("train/cosine" over parameter groups).
  void add_row(const std::string& name, const std::vector<double>& row, const std::string& unit,
               const std::string& description, const std::string& columns_label);

  /// Last value of a column, NaN when there is none.
  double last(const std::string& name) const;
  /// Sum of the last values of all columns prefix.../suffix and prefix..._suffix ("device", "pulses_up"); 0 when there is none.
  double sum_last(const std::string& prefix, const std::string& suffix) const;
  /// Sum over the columns of sum_last() of their last value minus their first number: the growth since the run started.
  double sum_growth(const std::string& prefix, const std::string& suffix) const;
  /// Largest last value of the columns of sum_last(); 0 when there is none.
  double largest_last(const std::string& prefix, const std::string& suffix) const;
  const std::vector<double>& values(const std::string& name) const;
  /// Names of the columns of one number per row, in the order in which they came.
  std::vector<std::string> names() const;
  /// The last value of a column, with its unit and description; "1", nothing said and no value where there is no such column.
  Measured measured(const std::string& name) const;

  void event(std::uint64_t step, const std::string& text);
  const std::vector<std::string>& events() const { return events_; }

  /// Writes every column below `prefix` ("", "beside/", ...).
  void write(H5Document& document, const std::string& prefix) const;

  /// Reads the columns back from a file written by write(), of whatever limit.
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
  /// Entries of the table over an axis: how many were logged; entries whose number is a multiple of `every` stay.
  struct Table {
    std::uint64_t entries = 0, every = 1;
    bool last_may_stay() const { return entries == 0 || (entries - 1) % every == 0; }
    std::size_t rows() const;
  };
  Column& column(const std::string& name, const std::string& unit, const std::string& description, Index width);
  void put(Column& column, const double* row, std::size_t width);
  void begin_row();
  void set_rows(const std::string& axis, std::size_t rows);
  void thin(const std::string& axis);
  void shorten_events(std::size_t most);
  void restore_table(const H5Reader& file, const std::string& prefix, const std::string& axis);

  std::size_t limit_;
  std::string axis_ = "train/step";
  std::map<std::string, Table> tables_;
  std::vector<Column> columns_;
  std::vector<double> event_steps_;
  std::vector<std::string> events_;
  std::int64_t events_left_out_ = 0;
};

}  // namespace nudge
