// SPDX-License-Identifier: Apache-2.0
// Building the HDF5 file of a document in memory.
#include "sim/io/h5_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <numeric>

#include "sim/base/errors.hpp"
#include "sim/io/descriptor.hpp"
#include "sim/io/h5_handle.hpp"
#include "sim/io/h5_scales.hpp"

namespace nudge {
namespace {

constexpr hsize_t most_chunk_bytes = hsize_t{1} << 20;  // chosen by us: one chunk fits HDF5's default chunk cache

void write_attribute(hid_t object, const std::string& name, const H5Attribute& value) {
  if (const auto* string = std::get_if<std::string>(&value)) {
    const char* pointer = string->c_str();
    h5_write_attribute(object, name, h5_text_type().id(), static_cast<const void*>(&pointer));
  } else if (const auto* real = std::get_if<double>(&value)) {
    h5_write_attribute(object, name, H5T_NATIVE_DOUBLE, real);
  } else {
    h5_write_attribute(object, name, H5T_NATIVE_INT64, &std::get<std::int64_t>(value));
  }
}

void write_attribute(hid_t object, const std::string& name, const std::vector<std::int64_t>& values) {
  const hsize_t count = values.size();
  h5_write_attribute(object, name, H5T_NATIVE_INT64, values.data(), &count);
}

/// Dimension labels as HDF5's dimension-scale interface stores them (h5py: dataset.dims[i].label).
void write_dimension_labels(hid_t dataset, const std::vector<std::string>& labels) {
  if (labels.empty()) return;
  const hsize_t count = labels.size();
  std::vector<const char*> pointers;
  for (const auto& label : labels) pointers.push_back(label.c_str());
  h5_write_attribute(dataset, "DIMENSION_LABELS", h5_text_type().id(), static_cast<const void*>(pointers.data()),
                     &count);
}

/// Storage layout of a dataset. A scalar goes into the (checksummed) object header, the rest into chunks with checksums.
H5Handle layout(const std::vector<hsize_t>& sizes, std::size_t element_bytes) {
  H5Handle properties = h5_made(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "the layout of a dataset");
  const bool empty = std::find(sizes.begin(), sizes.end(), 0u) != sizes.end();
  if (sizes.empty() || empty) {
    h5_need(H5Pset_layout(properties.id(), H5D_COMPACT) >= 0, "the layout of a dataset");
    return properties;
  }
  std::vector<hsize_t> chunk = sizes;
  hsize_t bytes = element_bytes;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    chunk[i] = std::clamp<hsize_t>(most_chunk_bytes / bytes, 1, sizes[i]);
    bytes *= chunk[i];
  }
  h5_need(H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data()) >= 0 &&
              H5Pset_fletcher32(properties.id()) >= 0,
          "the layout of a dataset");
  return properties;
}

struct Memory {
  H5Handle text_type;  // owner of `type` for texts
  hid_t type = -1;
  const void* data = nullptr;
  std::vector<char> padded;  // texts as fixed-length fields: variable-length ones would have no checksum
};

Memory in_memory(const std::vector<float>& v) { return {{}, H5T_NATIVE_FLOAT, v.data(), {}}; }
Memory in_memory(const std::vector<double>& v) { return {{}, H5T_NATIVE_DOUBLE, v.data(), {}}; }
Memory in_memory(const std::vector<std::int64_t>& v) { return {{}, H5T_NATIVE_INT64, v.data(), {}}; }
Memory in_memory(const std::vector<std::string>& v) {
  std::size_t size = 1;
  for (const auto& text : v) size = std::max(size, text.size());
  Memory out{h5_text_type(size), -1, nullptr, std::vector<char>(std::max<std::size_t>(1, v.size() * size), '\0')};
  for (std::size_t i = 0; i < v.size(); ++i) std::copy(v[i].begin(), v[i].end(), out.padded.data() + i * size);
  out.type = out.text_type.id();
  out.data = out.padded.data();
  return out;
}

}  // namespace

struct H5Document::Writer {
  hid_t file;
  H5Handle links = h5_made(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "its groups");

  explicit Writer(hid_t id) : file(id) { h5_need(H5Pset_create_intermediate_group(links.id(), 1) >= 0, "its groups"); }

  void group(const std::string& path, const std::string& description) const {
    if (path.empty() || exists(path)) return;
    const H5Handle made(H5Gcreate2(file, path.c_str(), links.id(), H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    h5_need(made.ok(), "group " + path);
    if (!description.empty()) write_attribute(made.id(), "description", description);
  }

  void dataset(const std::string& path, const Dataset& data) const {
    const std::vector<hsize_t> sizes(data.shape.begin(), data.shape.end());
    const H5Handle space = h5_made(
        sizes.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
        H5Sclose, "dataset " + path);
    const Memory memory = std::visit([](const auto& values) { return in_memory(values); }, data.values);
    const H5Handle properties = layout(sizes, H5Tget_size(memory.type));
    const H5Handle made(
        H5Dcreate2(file, path.c_str(), memory.type, space.id(), links.id(), properties.id(), H5P_DEFAULT), H5Dclose);
    h5_need(made.ok(), "dataset " + path);
    h5_need(H5Dwrite(made.id(), memory.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, memory.data) >= 0, "dataset " + path);
    write_attribute(made.id(), "unit", data.meaning.unit);
    write_attribute(made.id(), "description", data.meaning.description);
    write_dimension_labels(made.id(), data.meaning.dimensions);
  }

  /// Dimension scales for every dataset of the document.
  static H5Scales scales(const H5Document& document) {
    H5Scales out;
    for (const auto& [path, description] : document.groups_) out.reserve(path);
    for (const auto& [path, data] : document.datasets_) {
      const auto own = document.attributes_.find(path);
      const H5Attribute* x =
          own != document.attributes_.end() && own->second.contains("x") ? &own->second.at("x") : nullptr;
      const auto* axis = x != nullptr ? std::get_if<std::string>(x) : nullptr;
      out.add(path, data.shape, data.meaning.dimensions, axis != nullptr ? *axis : "");
    }
    return out;
  }

  bool exists(const std::string& path) const {
    for (std::size_t at = path.find('/');; at = path.find('/', at + 1)) {
      if (H5Lexists(file, path.substr(0, at).c_str(), H5P_DEFAULT) <= 0) return false;
      if (at == std::string::npos) return true;
    }
  }
};

/// Checks that no dataset is also a group, which HDF5 cannot hold: a resumed file that was edited may bring such a dataset.
void H5Document::check_groups() const {
  for (const auto& [path, data] : datasets_) {
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      if (!datasets_.contains(path.substr(0, slash))) continue;
      throw UserError(
          fmt::format("the file would have {} as a dataset and as the group of {}: was the resumed file edited?",
                      path.substr(0, slash), path));
    }
  }
}

std::vector<std::byte> H5Document::bytes() const {
  check_groups();
  const H5Session session;
  H5MemoryFile file;
  const Writer writer(file.id());
  for (const auto& [path, description] : groups_) writer.group(path, description);
  for (const auto& [path, data] : datasets_) writer.dataset(path, data);
  const auto write_all = [&](const auto& attributes) {
    for (const auto& [object, values] : attributes) {
      const std::string path = "/" + object;
      const H5Handle owner(H5Oopen(file.id(), path.c_str(), H5P_DEFAULT), H5Oclose);
      h5_need(owner.ok(), "attributes of " + path + ", which is not in the document");
      for (const auto& [name, value] : values) write_attribute(owner.id(), name, value);
    }
  };
  write_all(attributes_);
  write_all(lists_);
  Writer::scales(*this).write(file.id());
  std::vector<std::byte> image = file.take();
  seal(image);
  return image;
}

namespace {

/// Key of an object: its path without slashes at either end.
std::string key(const std::string& path) { return boost::trim_copy_if(path, boost::is_any_of("/")); }

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
