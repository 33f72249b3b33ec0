// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "sim/io/h5_reader.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
namespace {

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

RawArray dataset(const H5Reader& file, const std::string& path, const std::string& key) {
  if (!file.has(path)) {
    file.fail(path, fmt::format("missing, {} names it (the file has: {})", key, fmt::join(file.all_datasets(), ", ")));
  }
  RawArray array;
  array.name = fmt::format("{}, dataset \"{}\"", data_name(file.name()), path);
  array.shape = file.shape(path);
  switch (file.type(path)) {
    case H5Type::integer:
      array.type = ElementType::i64;
      array.bytes = bytes_of(file.integers(path));
      break;
    case H5Type::real32:
      array.type = ElementType::f32;
      array.bytes = bytes_of(file.reals<float>(path));
      break;
    case H5Type::real64:
      array.type = ElementType::f64;
      array.bytes = bytes_of(file.reals<double>(path));
      break;
    case H5Type::text:
    case H5Type::other:
      file.fail(path, fmt::format("type {} (must be integers, float32 or float64)", to_string(file.type(path))));
  }
  return array;
}

}  // namespace

LabelledData read_hdf5(const DataSource& source, Target target) {
  const H5Reader file(source.path);
  const RawArray x = dataset(file, source.features.empty() ? "features" : source.features, source.features_key);
  return join_arrays(x, dataset(file, source.labels.empty() ? "labels" : source.labels, source.labels_key), target);
}

std::map<std::string, RawArray> hdf5_arrays(const std::string& path, const std::string& group) {
  const H5Reader file(path);
  const std::string at = file.has(group) ? group : "/";
  std::map<std::string, RawArray> out;
  for (const std::string& name : file.datasets(at))
    out.emplace(name, dataset(file, fmt::format("{}/{}", at, name), ""));
  return out;
}

}  // namespace nudge
