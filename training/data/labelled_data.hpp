// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "training/data/raw_array.hpp"

namespace nudge {

/// What stands beside the features of a sample.
enum class Target {
  label,  ///< a class: a whole number from 0 on
  value,  ///< real numbers
};

/// n samples of d features each, with a label or k real values. All numbers are finite.
struct LabelledData {
  Matrix<float> features;    ///< (n, d)
  std::vector<int> labels;   ///< n of Target::label, in [0, kMostClasses)
  Matrix<float> values;      ///< (n, k) of Target::value
  std::vector<Index> shape;  ///< of a sample, product d: (28, 28) for a picture

  Index count() const { return features.rows(); }
};

/// Labels from here on are taken for a mistake (a column of identifiers, say), not for classes.
constexpr int kMostClasses = 65536;

/// Where samples are, and under which names. Keys are those of the config that said so, for messages.
struct DataSource {
  std::string path;
  std::string features = {};  ///< NPZ, HDF5: the array or dataset
  std::string labels = {};  ///< CSV: column (empty: the first); IDX: file of labels; NPZ, HDF5: array (empty: "labels")
  std::string features_key = "data.features", labels_key = "data.labels";
};

/// Samples of a CSV, IDX, NPZ or HDF5 file; IDX and CSV possibly compressed as .gz. The format is told by the first bytes,
/// not by the name. UserError with file, line or place, and the rule, for anything that is wrong with it.
LabelledData read_labelled_data(const DataSource& source, Target target);

/// Joins two arrays. UserError when the numbers of samples differ, a feature is not finite, a label is no class.
LabelledData join_arrays(const RawArray& features, const RawArray& labels, Target target);

/// A class of a number that was read, or UserError: "WHERE is 2.5 (must be a whole number in [0, 65535])".
int class_of(double number, const std::string& where);

/// A finite float of a number that was read, or UserError.
float finite_float(double number, const std::string& where);

}  // namespace nudge
