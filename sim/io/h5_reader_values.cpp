// SPDX-License-Identifier: Apache-2.0
// Reading the values of datasets.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/io/h5_reader_impl.hpp"

namespace nudge {

namespace {

/// More elements than this in one dataset can only be a damaged size.
constexpr hssize_t most_elements = hssize_t{1} << 31;

/// Limit on elements that were never written: they take no place in the file, and yet so many are read.
constexpr hssize_t most_unwritten = hssize_t{1} << 24;
constexpr double most_deflated = 1032;  // zlib's technical details: the limit of its compression, 1032 to 1

struct OpenData {
  H5Handle data, type, space;
  H5Shape shape;
  std::size_t count = 0;
};

bool matches(const H5Shape& shape, const H5Shape& expected) {
  return std::equal(shape.begin(), shape.end(), expected.begin(), expected.end(),
                    [](Index found, Index wanted) { return wanted < 0 || found == wanted; });
}

herr_t read_dataset(hid_t data, hid_t memory_type, void* out) {
  return H5Dread(data, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
}

template <class S>
hid_t native_type() {
  return sizeof(S) == sizeof(float) ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

/// Opens a dataset of one of the allowed types, with the expected shape. `File` is H5Reader::File; `wanted` names the allowed
/// types in the error.
template <class File>
OpenData open_data(const File& file, const std::string& dataset, std::initializer_list<H5Type> allowed,
                   std::string_view wanted, const std::optional<H5Shape>& expected) {
  OpenData out;
  out.data = file.open_dataset(dataset);
  out.type = H5Handle(H5Dget_type(out.data.id()), H5Tclose);
  out.space = H5Handle(H5Dget_space(out.data.id()), H5Sclose);
  if (!out.type.ok() || !out.space.ok()) file.fail_damaged(dataset);
  const H5Type type = h5_type(out.type.id());
  if (std::find(allowed.begin(), allowed.end(), type) == allowed.end()) {
    file.fail(dataset, fmt::format("type {} expected, found {}", wanted, to_string(type)));
  }
  out.shape = h5_shape(out.space.id());
  if (expected && !matches(out.shape, *expected)) {
    file.fail(dataset, fmt::format("shape {} expected, found {}", to_string(*expected), to_string(out.shape)));
  }
  const hssize_t count = H5Sget_simple_extent_npoints(out.space.id());
  if (count < 0 || count > most_elements) file.fail(dataset, "impossible size " + to_string(out.shape));
  const hsize_t stored = H5Dget_storage_size(out.data.id());
  if (count > most_unwritten && most_deflated * static_cast<double>(stored) <
                                    static_cast<double>(count) * static_cast<double>(H5Tget_size(out.type.id()))) {
    file.fail(dataset, fmt::format("size {}, of which the file holds {} bytes", to_string(out.shape), stored));
  }
  out.count = static_cast<std::size_t>(count);
  return out;
}

}  // namespace

template <class S>
std::vector<S> H5Reader::reals(const std::string& dataset, const std::optional<H5Shape>& expected,
                               NonFinite non_finite) const {
  const H5Session session;
  const OpenData open = open_data(*file_, dataset, {H5Type::real32, H5Type::real64}, "float32 or float64", expected);
  std::vector<S> values(open.count);
  if (read_dataset(open.data.id(), native_type<S>(), values.data()) < 0) file_->fail_damaged(dataset);
  if (non_finite == NonFinite::rejected) {
    if (const auto at = first_non_finite<S>(values)) {
      fail(dataset, fmt::format("element {} is {}, only finite numbers are allowed", *at, values[*at]));
    }
  }
  return values;
}

template <class S>
Matrix<S> H5Reader::matrix(const std::string& dataset, const std::optional<H5Shape>& expected,
                           NonFinite non_finite) const {
  const std::vector<S> values = reals<S>(dataset, expected, non_finite);
  const H5Shape sizes = shape(dataset);
  const Index cols = sizes.empty() ? 1 : sizes.back();
  Index rows = 1;  // also of a matrix without columns
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) rows *= static_cast<Index>(sizes[i]);
  return Eigen::Map<const Matrix<S>>(values.data(), rows, cols);
}

std::vector<std::int64_t> H5Reader::integers(const std::string& dataset, const std::optional<H5Shape>& expected) const {
  const H5Session session;
  const OpenData open = open_data(*file_, dataset, {H5Type::integer}, "integer", expected);
  std::vector<std::int64_t> values(open.count);
  if (read_dataset(open.data.id(), H5T_NATIVE_INT64, values.data()) < 0) file_->fail_damaged(dataset);
  return values;
}

std::vector<std::string> H5Reader::texts(const std::string& dataset, const std::optional<H5Shape>& expected) const {
  const H5Session session;
  const OpenData open = open_data(*file_, dataset, {H5Type::text}, "text", expected);
  std::vector<std::string> values;
  if (!h5_read_texts(open.data.id(), open.type.id(), open.space.id(), read_dataset, values)) {
    file_->fail_damaged(dataset);
  }
  return values;
}

template <class S>
std::optional<std::size_t> first_non_finite(std::span<const S> values) {
  const auto at = std::find_if(values.begin(), values.end(), [](S x) { return !std::isfinite(x); });
  if (at == values.end()) return std::nullopt;
  return static_cast<std::size_t>(at - values.begin());
}

#define NUDGE_H5_READER_VALUES(S)                                                                              \
  template std::vector<S> H5Reader::reals(const std::string&, const std::optional<H5Shape>&, NonFinite) const; \
  template Matrix<S> H5Reader::matrix(const std::string&, const std::optional<H5Shape>&, NonFinite) const;     \
  template std::optional<std::size_t> first_non_finite(std::span<const S>);
NUDGE_BOTH_PRECISIONS(NUDGE_H5_READER_VALUES)

}  // namespace nudge
