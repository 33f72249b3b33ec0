// SPDX-License-Identifier: Apache-2.0
#include "training/data/labelled_data.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"
#include "sim/base/interrupts.hpp"
#include "sim/io/unpacked.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
namespace {

constexpr std::string_view kZip = "PK\x03\x04", kEmptyZip = "PK\x05\x06", kHdf5 = "\x89HDF";

/// Reads the bytes of a file, unpacked if it is a .gz or .xz.
std::string plain_bytes(const std::string& path) { return unpacked(read_file_bytes(path, "data"), data_name(path)); }

bool fits_float(double number) {
  return std::abs(number) <= static_cast<double>(std::numeric_limits<float>::max());  // false for a NaN
}

Matrix<double> feature_matrix(const RawArray& array) {
  if (array.shape.size() < 2) {
    throw UserError(
        fmt::format("{}: shape {} has no features. The first dimension is samples, the others are features (is this "
                    "a file of labels?)",
                    array.name, shape_text(array.shape)));
  }
  const Index n = array.shape.front();
  const Index d = n > 0 ? array.count() / n : 0;
  if (n == 0 || d == 0) throw UserError(fmt::format("{}: shape {} is empty", array.name, shape_text(array.shape)));
  Matrix<double> out(n, d);
  for (Index i = 0; i < n * d; ++i) {
    if (i % d == 0) stop_point();
    const double number = array.at(i);
    // The place is made into text only where it is needed: there may be many millions of features.
    if (!fits_float(number)) {
      finite_number(number, fmt::format("{}: feature {} of sample {} (both counted from 0)", array.name, i % d, i / d));
    }
    out.data()[i] = number;
  }
  return out;
}

/// Number of targets beside a sample: 1, or the second dimension.
Index width_of(const RawArray& labels, Target target) {
  const std::size_t dimensions = labels.shape.size();
  const Index width = dimensions == 2 ? labels.shape[1] : 1;
  if (dimensions < 1 || dimensions > 2 || (target == Target::label && width != 1) || width < 1) {
    throw UserError(fmt::format("{}: shape {} (must be {})", labels.name, shape_text(labels.shape),
                                target == Target::label ? "one label per sample, (n)" : "(n) or (n, values)"));
  }
  return width;
}

}  // namespace

int class_of(double number, const std::string& where) {
  if (number >= 0 && number < kMostClasses && number == std::floor(number)) return static_cast<int>(number);
  throw UserError(fmt::format("{} is {} (must be a whole number in [0, {}])", where, number, kMostClasses - 1));
}

double finite_number(double number, const std::string& where) {
  if (fits_float(number)) return number;
  throw UserError(fmt::format("{} is {} (must be a finite float32)", where, number));
}

LabelledData join_arrays(const RawArray& features, const RawArray& labels, Target target) {
  LabelledData data;
  data.features = feature_matrix(features);
  data.shape.assign(features.shape.begin() + 1, features.shape.end());
  const Index width = width_of(labels, target), n = data.count();
  if (labels.shape.front() != n) {
    throw UserError(fmt::format("{} has {} labels, {} has {} samples (must be as many)", labels.name,
                                labels.shape.front(), features.name, n));
  }
  if (target == Target::value) data.values.resize(n, width);
  for (Index i = 0; i < n * width; ++i) {
    const std::string where = fmt::format("{}: label of sample {} (counted from 0)", labels.name, i / width);
    if (target == Target::label) {
      data.labels.push_back(class_of(labels.at(i), where));
    } else {
      data.values.data()[i] = finite_number(labels.at(i), where);
    }
  }
  return data;
}

LabelledData read_labelled_data(const DataSource& source, Target target) {
  const std::string bytes = plain_bytes(source.path);
  if (bytes.starts_with(kHdf5)) return read_hdf5(source, target);
  if (bytes.starts_with(kZip) || bytes.starts_with(kEmptyZip)) return read_npz(bytes, source, target);
  const std::string name = data_name(source.path);
  if (bytes.starts_with(std::string_view("\0\0", 2))) {
    if (source.labels.empty()) {
      throw UserError(
          fmt::format("{}: an IDX file of pictures has no labels. Name the file of labels in {}, as in "
                      "train-labels-idx1-ubyte.gz",
                      name, source.labels_key));
    }
    return join_arrays(parse_idx(bytes, name), parse_idx(plain_bytes(source.labels), data_name(source.labels)), target);
  }
  if (is_rdata(bytes)) return parse_rdata(bytes, name, source, target);
  if (const std::size_t nul = bytes.find('\0'); nul != std::string::npos) {
    throw UserError(fmt::format(
        "{}: is neither IDX (first bytes 00 00), NPZ (PK), HDF5 (89 HDF), R data (RDX) nor text (CSV, .ts): first "
        "byte {:02X}, "
        "a NUL at byte {}",
        name, static_cast<unsigned char>(bytes[0]), nul));
  }
  if (is_ts(bytes)) return parse_ts(bytes, name, source, target);
  return parse_csv(bytes, name, source, target);
}

}  // namespace nudge
