// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"
#include "training/data/readers/readers.hpp"

namespace nudge {
namespace {

unsigned byte_at(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

ElementType idx_type(std::string_view bytes, const std::string& name) {
  switch (byte_at(bytes, 2)) {
    case 0x08: return ElementType::u8;
    case 0x09: return ElementType::i8;
    case 0x0B: return ElementType::i16;
    case 0x0C: return ElementType::i32;
    case 0x0D: return ElementType::f32;
    case 0x0E: return ElementType::f64;
    default: break;
  }
  throw UserError(
      fmt::format("{}: wrong IDX magic {:02X} {:02X} {:02X} {:02X} (must be 00 00, the element type 08, 09, 0B, 0C, 0D "
                  "or 0E, and the number of dimensions)",
                  name, byte_at(bytes, 0), byte_at(bytes, 1), byte_at(bytes, 2), byte_at(bytes, 3)));
}

}  // namespace

std::string data_name(const std::string& path) { return fmt::format("data file \"{}\"", path); }

RawArray parse_idx(std::string_view bytes, const std::string& name) {
  if (bytes.size() < 4) throw UserError(fmt::format("{}: has {} bytes, too few for an IDX file", name, bytes.size()));
  if (byte_at(bytes, 0) != 0 || byte_at(bytes, 1) != 0) {
    throw UserError(fmt::format("{}: wrong IDX magic {:02X} {:02X} {:02X} {:02X} (must start with 00 00)", name,
                                byte_at(bytes, 0), byte_at(bytes, 1), byte_at(bytes, 2), byte_at(bytes, 3)));
  }
  RawArray array;
  array.name = name;
  array.type = idx_type(bytes, name);
  array.order = std::endian::big;
  const std::size_t dimensions = byte_at(bytes, 3), header = 4 + 4 * dimensions;
  if (dimensions == 0) throw UserError(fmt::format("{}: wrong IDX magic: no dimensions", name));
  if (bytes.size() < header) {
    throw UserError(fmt::format("{}: truncated: {} bytes, the header of {} dimensions has {}", name, bytes.size(),
                                dimensions, header));
  }
  for (std::size_t d = 0; d < dimensions; ++d) {
    Index size = 0;
    for (std::size_t b = 0; b < 4; ++b) size = size * 256 + static_cast<Index>(byte_at(bytes, 4 + 4 * d + b));
    array.shape.push_back(size);
  }
  const auto count = static_cast<std::size_t>(checked_count(array.shape, name));
  const std::size_t needed = header + count * element_size(array.type);
  if (bytes.size() != needed) {
    throw UserError(fmt::format("{}: {}: {} bytes, shape {} with {} bytes an element needs {}", name,
                                bytes.size() < needed ? "truncated" : "too long", bytes.size(), shape_text(array.shape),
                                element_size(array.type), needed));
  }
  array.bytes = bytes.substr(header);
  return array;
}

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
