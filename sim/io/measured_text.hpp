// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sim/io/number_marks.hpp"

namespace nudge {

/// Row of a table: the number of its line in the file, from 1, and its cells.
struct CsvRow {
  int line = 0;
  std::vector<std::string> cells;
};

/// Columns that are read as one row, for a device or a direction. `tags` tell which.
struct ColumnBlock {
  std::vector<std::size_t> columns;
  std::vector<std::string> tags;
};

/// Line above one of several tables.
struct TableTitle {
  int line = 0;
  std::string text;
};

/// Table of measurements as instruments and spreadsheets write it, and how its text was read. Rows are split when they are
/// asked for: a file of 10^8 cells is held once.
class MeasuredText {
 public:
  std::string file;
  std::string encoding = "UTF-8";  ///< "UTF-8", "UTF-16" or "Latin-1"
  char separator = ',';            ///< ',', ';', '\t', or ' ' for any blanks
  bool decimal_comma = false;      ///< numbers are written as 2,5; row() gives 2.5
  std::vector<NumberMarks>
      marks;               ///< of the numbers of each column; row() gives them with a decimal point, without groups
  CsvRow header;           ///< names of the columns; no cells: none
  CsvRow units;            ///< row of units below the names; no cells: none
  std::vector<int> aside;  ///< lines before the header and behind the last row that are no part of the table

  std::size_t lines() const { return spans_.size(); }                                       ///< lines with rows
  std::size_t size() const { return lines() * std::max<std::size_t>(stacked_.size(), 1); }  ///< number of rows
  bool empty() const { return spans_.empty(); }
  /// Row i, without the empty cell behind a separator that ends all rows.
  void row(std::size_t i, CsvRow& out) const;
  CsvRow row(std::size_t i) const {
    CsvRow out;
    row(i, out);
    return out;
  }
  /// Line of the names that stand again between rows, of tables that were put together; 0: there is none.
  int names_again() const;
  int line(std::size_t i) const { return spans_[i % spans_.size()].line; }

  /// Text of a line, from 1, with its separators.
  std::string line_text(int line) const {
    std::size_t begin = 0;
    for (int n = 1; n < line && begin != std::string::npos; ++n) {
      begin = text_.find('\n', begin);
      if (begin != std::string::npos) ++begin;
    }
    return begin == std::string::npos ? "" : text_.substr(begin, text_.find('\n', begin) - begin);
  }

  std::string place(int line) const;  ///< "FILE:LINE"; "FILE" of a header that is not there, line 0

  /// Takes the decimal sign of all columns, '.' or ','; the other one groups digits.
  void take_decimal(char sign);

  /// Refuses a column whose numbers may be read in two ways: "4.000" between semicolons is 4 or 4000.
  void refuse_doubt(std::size_t column) const;

  /// Adds a column that holds the cells of others side by side: "2, 7" of row 2 and column 7. `by` stands between them.
  void join(const std::vector<std::size_t>& columns, const std::string& name, const char* by = ", ");

  /// Stacks blocks of columns: a line has one row in each block, and rows of the first block come first. Columns are added for the
  /// cells of the block and for its tags, with these names. To be called before join().
  /// `count_lines`: the last of them counts the lines, from 1.
  void stack(std::vector<ColumnBlock> blocks, const std::vector<std::string>& names, bool count_lines = false);

  /// Parts a file that holds several tables. Beside each other the names of columns stand again in their line ("pulse,G,,pulse,G"). Below
  /// each other they stand again, or titles do. Their rows follow each other, table by table. Returns the
  /// titles of each, but for those that all have; fewer than two: there is one table. Names of columns that stand twice, below a line of titles,
  /// take those: "Device 1 G (uS)".
  std::vector<std::vector<TableTitle>> part_tables();

  /// Adds a column that has one cell for each table of part_tables(). Returns its place.
  std::size_t label_tables(const std::string& name, const std::vector<std::string>& cells);

  /// Cells of the comment above the first row, where they may be names of its columns ("# pulse G(S)"); no cells: there are none.
  CsvRow commented_names() const;

  /// Lines of comments, the first 400.
  std::vector<int> comment_lines() const {
    std::vector<int> out;
    for (const Span& one : comments_) out.push_back(one.line);
    return out;
  }

  /// True of a column of label_tables().
  bool tells_tables(std::size_t column) const { return column >= titled_ && column < titled_ + labels_; }

  /// Leaves rows out whose cells are all empty, as spreadsheets write them (",,,"). A matrix keeps them: its gaps have places.
  void leave_blank_rows();

  /// Refuses one comma a row between whole numbers, "12,500": two columns or 12.5? For tables that may have one column.
  void refuse_two_readings() const;

  std::string place(const CsvRow& row) const { return place(row.line); }

 private:
  friend MeasuredText read_measured_text(std::string_view bytes, const std::string& file);
  struct Span {
    int line;
    std::size_t begin, length;
    int table = 0;          ///< of part_tables()
    std::size_t block = 0;  ///< of the tables beside each other
  };
  static constexpr std::size_t kLooked = 400;  ///< rows that tell how a text is laid out
  using Tables = std::vector<std::vector<TableTitle>>;
  void cells(const Span& span, char by, std::vector<std::string>& out) const;
  void cut(std::size_t block, std::vector<std::string>& cells) const;
  Tables part_beside();
  void part_below(Tables& tables);
  void take_titles_above(Tables& tables);
  void name_by_titles();
  bool is_title(const std::vector<std::string>& row, bool above_names, bool counted) const;
  bool counts() const;
  std::vector<std::string> line_cells(int line) const;
  void find_records();
  void find_separator();
  void find_table();
  void leave_repeated_names();
  void leave(const Span& span);
  void refuse_other_rows(const std::vector<int>& behind) const;
  void find_trailing();
  void find_commas();
  void find_marks();
  CsvRow at(std::size_t i) const;

  std::string text_;
  std::vector<Span> spans_;
  std::vector<Span> comments_;                    ///< the first of them
  std::vector<std::vector<std::string>> titles_;  ///< cells of each table behind the file's
  std::vector<std::size_t> blocks_;               ///< first columns of tables beside each other; none: one table
  std::size_t width_ = 0;                         ///< their number of columns
  bool counts_lines_ = false;                     ///< the last column of stack()
  std::size_t titled_ = 0, labels_ = 0;           ///< first column of label_tables(), and their number
  std::vector<ColumnBlock> stacked_;              ///< their cells and tags are behind those
  std::size_t added_ = 0;                         ///< columns that are not in the file, without those of joined_
  struct Joined {
    std::vector<std::size_t> columns;
    const char* by;
  };
  std::vector<Joined> joined_;  ///< columns behind those
  std::size_t trailing_ = 0;    ///< number of cells of rows that end with a separator; 0: they do not
};

/// Reads a text as a table. The first 400 rows tell its format: encoding (UTF-8, UTF-16, Latin-1), separator, decimal comma,
/// header, and a row of units below it. They also tell lines of an instrument before and behind the table, and separators at
/// the ends of all rows. All rows tell the marks in numbers (ColumnMarks). The separator is the one by which most cells are numbers: tab, semicolon, comma or blanks. Empty
/// lines and lines that begin with # are left out. A cell in quotes may hold separators and line ends (RFC 4180). UserError
/// for a spreadsheet (.xlsx, .xls) and for bytes that are no text.
MeasuredText read_measured_text(std::string_view bytes, const std::string& file);

/// True if a cell is meant as a number: "1.2e-6", "-0.5", "3 uS", "nan", an instrument's overflow.
bool is_measured_number(const std::string& cell);

/// True if a cell marks a failed reading of an instrument: 9.9E37 or larger, inf, OVLD, Over Range, ---, ****, NaN, #N/A.
bool is_overflow(const std::string& cell);

/// True of the marks of is_overflow() that tell no size: ---, NaN, #N/A, and an empty cell.
bool is_no_reading(const std::string& cell);

/// True of a name of what sums others up, a statistic: "Mean", "Std dev", "N", "stderr".
bool sums_up(const std::string& cell);

/// True of a unit as people write it: "uS", "(kOhm)", "Ohms", "sec".
bool is_unit_name(const std::string& cell);

/// True of units, and cells without anything.
bool is_row_of_units(const std::vector<std::string>& cells);

/// Name of a column and its unit: "G (uS)", "G [uS]", "t/ms", "conductance_uS", "R in kOhm"; the unit is empty where none is told.
/// The unit is spelled as units.hpp reads it: "u" and "Ohm" for their signs, "s" for "sec", "uS" for "uA/V" and "10^-6 S".
struct NamedUnit {
  std::string name, unit;
};
NamedUnit named_unit(const std::string& cell);

}  // namespace nudge
