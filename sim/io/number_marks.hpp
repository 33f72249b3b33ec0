// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nudge {

/// Marks in the numbers of a column: 2,5 has a decimal comma, 4'000 and 1.234,5 group their digits by three.
struct NumberMarks {
  char decimal = '.';
  std::string thousands = {};  ///< mark between groups of three digits; empty: none
  /// Cell that may be read in two ways, and its line; 0: there is none. "4.000" is 4 or 4000.
  std::string doubt = {};
  int doubt_line = 0;
  bool refused = false;  ///< nothing tells which: the column is not read. Else decimal is the usual reading

  /// True if cells are to be rewritten by plain().
  bool any() const { return decimal != '.' || !thousands.empty(); }
  /// Cell with a decimal point and without groups; another text stays as it is.
  std::string plain(const std::string& cell) const;
};

/// True of digits in groups of three, with one mark between all groups and another before a fraction: "1,234,567", "4'000", "1.234,5".
bool is_grouped_number(const std::string& cell);

/// Cells of a column that tell its marks.
///
/// A mark tells by itself where other than three digits follow it ("2,5": decimal), where it occurs twice, or where another one follows
/// ("1.234,5"). Apostrophes and blanks group. "4.000" tells nothing. Beside whole numbers of up to three digits the reading is taken in
/// which neighbours are closer: 950 is followed by 1.085 thousands. Else other columns tell,
/// and then the separator. A comma in a
/// table of semicolons is a decimal one, as is a point in one of commas, tabs or blanks. A point in a table of semicolons, a comma behind
/// tabs and a comma in quotes have two readings.
class ColumnMarks {
 public:
  void add(const std::string& cell, int line);
  /// Marks of the columns of a table.
  static std::vector<NumberMarks> of(const std::vector<ColumnMarks>& columns, char separator);

 private:
  NumberMarks marks(char separator, bool points, bool commas) const;

  std::size_t point_fractions_ = 0, comma_fractions_ = 0;  ///< cells whose mark is a decimal one
  std::string thousands_;                                  ///< mark that groups
  char open_ = 0;                                          ///< mark of the cells that tell nothing; 0: there are none
  std::string open_cell_;
  int open_line_ = 0;
  double as_fraction_ = 0, as_thousands_ = 0;  ///< sums of |log10| of the ratio of neighbours in either reading
  std::size_t neighbours_ = 0;
  double last_ = 0;         ///< number of the cell before, as a fraction
  bool last_open_ = false;  ///< the cell before tells nothing
};

}  // namespace nudge
