// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "training/data/raw_array.hpp"

namespace nudge {

/// Kind of target beside the features of a sample.
enum class Target {
  label,  ///< a class: a whole number from 0 on
  value,  ///< real numbers
};

/// Data of n samples with d features each, and a label or k real values. All numbers are finite.
struct LabelledData {
  Matrix<double> features;   ///< (n, d)
  std::vector<int> labels;   ///< n labels in [0, kMostClasses), for Target::label
  Matrix<double> values;     ///< (n, k), for Target::value
  std::vector<Index> shape;  ///< shape of a sample, product d: (28, 28) for a picture

  Index count() const { return features.rows(); }
};

/// Bound of labels: larger ones are taken for a mistake (a column of identifiers, say), not for classes.
constexpr int kMostClasses = 65536;

/// Location of samples: file and names in it. The keys are the config's keys that gave them, for messages.
struct DataSource {
  std::string path;
  std::string features = {};  ///< NPZ, HDF5: the array or dataset; R: the data frame
  /// CSV: column (empty: the first); R: column; IDX: file of labels; NPZ, HDF5: array (empty: "labels").
  std::string labels = {};
  std::string features_key = "data.features", labels_key = "data.labels";
};

/// Reads samples of a CSV, .ts, IDX, NPZ, HDF5 or R data file; all but NPZ and HDF5 may be packed as .gz or .xz. The first
/// bytes tell the format, not the name. UserError with file, line or place, and the rule, for anything that is wrong with it.
LabelledData read_labelled_data(const DataSource& source, Target target);

/// Joins two arrays. UserError when the numbers of samples differ, a feature is not finite, a label is no class.
LabelledData join_arrays(const RawArray& features, const RawArray& labels, Target target);

/// Converts a number to a class, or throws UserError: "WHERE is 2.5 (must be a whole number in [0, 65535])".
int class_of(double number, const std::string& where);

/// Returns a number that a float can hold, or throws UserError.
double finite_number(double number, const std::string& where);

}  // namespace nudge
