// SPDX-License-Identifier: Apache-2.0
#include "sim/io/h5_document.hpp"

#include <numeric>

#include "sim/base/errors.hpp"

namespace nudge {

namespace {

/// Key of an object: its path without slashes at either end.
std::string key(const std::string& path) {
  const std::size_t begin = path.find_first_not_of('/');
  if (begin == std::string::npos) return "";
  return path.substr(begin, path.find_last_not_of('/') - begin + 1);
}

}  // namespace

void H5Document::attribute(const std::string& name, H5Attribute value, const std::string& object) {
  attributes_[key(object)].insert_or_assign(name, std::move(value));
}

void H5Document::attribute_list(const std::string& name, std::vector<std::int64_t> values, const std::string& object) {
  lists_[key(object)].insert_or_assign(name, std::move(values));
}

void H5Document::group(const std::string& path, const std::string& description) {
  groups_.insert_or_assign(key(path), description);
}

template <class T>
void H5Document::dataset(const std::string& path, std::vector<T> values, H5Shape shape, H5Meaning meaning) {
  NUDGE_EXPECT(std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>()) ==
               static_cast<Index>(values.size()));
  NUDGE_EXPECT(meaning.dimensions.empty() || meaning.dimensions.size() == shape.size());
  datasets_.insert_or_assign(key(path), Dataset{std::move(values), std::move(shape), std::move(meaning)});
}

template <class S>
void H5Document::matrix(const std::string& path, ConstMatrixRef<S> values, H5Meaning meaning) {
  std::vector<S> copy(static_cast<std::size_t>(values.size()));
  Eigen::Map<Matrix<S>>(copy.data(), values.rows(), values.cols()) = values;
  dataset(path, std::move(copy), {values.rows(), values.cols()}, std::move(meaning));
}

void H5Document::copy_root_attributes(const H5Reader& reader) {
  for (const auto& name : reader.attributes("/")) attribute(name, reader.attribute(name));
  for (const auto& name : reader.integer_lists("/")) attribute_list(name, reader.integer_list_attribute(name));
}

void H5Document::write(const std::filesystem::path& path, Overwrite overwrite) const {
  write_atomically(path, bytes(), overwrite);
}

template void H5Document::dataset(const std::string&, std::vector<float>, H5Shape, H5Meaning);
template void H5Document::dataset(const std::string&, std::vector<double>, H5Shape, H5Meaning);
template void H5Document::dataset(const std::string&, std::vector<std::int64_t>, H5Shape, H5Meaning);
template void H5Document::dataset(const std::string&, std::vector<std::string>, H5Shape, H5Meaning);
template void H5Document::matrix<float>(const std::string&, ConstMatrixRef<float>, H5Meaning);
template void H5Document::matrix<double>(const std::string&, ConstMatrixRef<double>, H5Meaning);

}  // namespace nudge
