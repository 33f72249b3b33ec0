// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/registry.hpp"
#include "sim/io/measured_text.hpp"

namespace nudge {

/// Parts of the title of a table, or of the name of a column, which tell whose its rows are.
struct Label {
  std::string device = {};  ///< all words that tell nothing else: "Device 1"
  std::string cycle = {};   ///< "2" of "cycle 2", and of "LTP 2"
  std::optional<Direction> direction = {};

  /// True of a label that tells neither a cycle nor a direction.
  bool plain() const { return cycle.empty() && !direction; }
};

/// Words of a name: letters and digits, "0.1" too. Other signs of ASCII part them.
std::vector<std::string> label_words(const std::string& name);

/// Labels of names that stand beside each other, of their words. Of two words for a direction, "Set A reset", the one counts that differs
/// between names, or the last. "Set 1", "Set 2" without a reset are no directions.
std::vector<Label> labels_of(const std::vector<std::vector<std::string>>& names);

/// Word that tells a device before its number or letter: "Device" of "Device 1", "Cell" of "Cell 3b", "D" of "D1"; empty: it is no such name.
std::string device_word(const std::string& name);

/// True for each name of a column that is a statistic: a word of sums_up() is in it, numbered or not, or it is a quantile (q25 and q75).
std::vector<bool> statistics_among(const std::vector<std::string>& names);

/// Column that tells something of each row, which stands in titles or in names of columns.
struct ToldColumn {
  std::string meaning;  ///< "device", "cycle", "direction" or "time"
  std::size_t place = 0;
};

/// Labels of tables by their titles.
struct TitleLabels {
  std::vector<ToldColumn> columns = {};                 ///< of known meaning
  std::vector<std::pair<std::string, int>> units = {};  ///< units of readings, and their lines
};

/// Adds columns for what the titles of tables tell: a device, a cycle, a direction. A title without a device has the device of the table
/// before. Without the column `cycle` (`cycles`) a cycle belongs to the device. Tables without a title of their
/// own are numbered in a column "tables", of which nobody knows what it tells.
TitleLabels label_by_titles(MeasuredText& text, const std::vector<std::vector<TableTitle>>& tables, bool cycles);

}  // namespace nudge
