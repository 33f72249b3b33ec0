// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/memory_file.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "sim/io/h5_reader_impl.hpp"
#include "sim/io/h5_scales.hpp"

namespace nudge::fuzz {

namespace {

constexpr std::size_t most_edits = 12;
constexpr std::size_t most_elements = std::size_t{1} << 17;
constexpr const char* dimension_labels = "DIMENSION_LABELS";

herr_t collect(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* out) {
  static_cast<std::vector<std::string>*>(out)->emplace_back(name);
  return 0;
}

herr_t collect_path(hid_t /*root*/, const char* name, const H5O_info_t* /*info*/, void* out) {
  static_cast<std::vector<std::string>*>(out)->push_back(std::string(name) == "." ? "/" : std::string("/") + name);
  return 0;
}

herr_t read_data(hid_t data, hid_t type, void* out) { return H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out); }

/// The values of an attribute or dataset of one of nudge's types.
template <class Read>
MemoryFile::Values values_of(hid_t object, hid_t type, hid_t space, const Read& read) {
  const auto count = static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space)));
  if (h5_type(type) == H5Type::text) {
    std::vector<std::string> texts;
    h5_read_texts(object, type, space, read, texts);
    return texts;
  }
  if (h5_type(type) == H5Type::integer) {
    std::vector<std::int64_t> values(count);
    read(object, H5T_NATIVE_INT64, values.data());
    return values;
  }
  std::vector<double> values(count);
  read(object, H5T_NATIVE_DOUBLE, values.data());
  return values;
}

MemoryFile::Attribute attribute_of(hid_t object, const std::string& name) {
  const H5Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  const H5Handle type(H5Aget_type(attribute.id()), H5Tclose), space(H5Aget_space(attribute.id()), H5Sclose);
  if (h5_type(type.id()) == H5Type::other) return MemoryFile::Other{};
  const MemoryFile::Values values = values_of(attribute.id(), type.id(), space.id(), &H5Aread);
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&values)) {
    if (integers->size() == 1) return integers->front();
    return *integers;
  }
  if (const auto* reals = std::get_if<std::vector<double>>(&values); reals != nullptr && reals->size() == 1)
    return reals->front();
  if (const auto* texts = std::get_if<std::vector<std::string>>(&values); texts != nullptr && texts->size() == 1)
    return texts->front();
  return MemoryFile::Other{};
}

MemoryFile::Object object_of(hid_t object) {
  MemoryFile::Object out;
  std::vector<std::string> names;
  hsize_t at = 0;
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &at, collect, &names);
  for (const std::string& name : names) out.attributes[name] = attribute_of(object, name);
  out.group = H5Iget_type(object) == H5I_GROUP;
  if (out.group) return out;
  const H5Handle type(H5Dget_type(object), H5Tclose), space(H5Dget_space(object), H5Sclose);
  out.type = h5_type(type.id());
  out.shape = h5_shape(space.id());
  if (out.type != H5Type::other) out.values = values_of(object, type.id(), space.id(), &read_data);
  if (H5Aexists(object, dimension_labels) > 0) {
    const H5Handle labels(H5Aopen(object, dimension_labels, H5P_DEFAULT), H5Aclose);
    const H5Handle of(H5Aget_type(labels.id()), H5Tclose), all(H5Aget_space(labels.id()), H5Sclose);
    h5_read_texts(labels.id(), of.id(), all.id(), &H5Aread, out.dimensions);
  }
  return out;
}

template <class Map>
typename Map::iterator drawn_of(Map& map, Drawn& drawn) {
  return std::next(map.begin(), static_cast<std::ptrdiff_t>(drawn.below(map.size())));
}

MemoryFile::Attribute drawn_attribute(Drawn& drawn) {
  switch (drawn.below(6)) {
    case 0: return drawn.integer();
    case 1: return drawn.real();
    case 2: return MemoryFile::Other{};
    case 3: {
      std::vector<std::int64_t> list(drawn.below(9));
      for (auto& value : list) value = drawn.integer();
      return list;
    }
    default: return drawn.text();
  }
}

std::size_t product(const H5Shape& shape) {
  std::size_t count = 1;
  for (const Index n : shape) count *= static_cast<std::size_t>(n);
  return count;
}

/// A dataset of another type, shape or content, or a group; attributes stay.
void replace(MemoryFile::Object& object, Drawn& drawn) {
  static constexpr std::array<Index, 13> sizes = {0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 65, 4096};
  object.group = drawn.below(16) == 15;
  if (drawn.byte() % 2 == 0) {
    object.shape.resize(drawn.below(5));
    for (Index& n : object.shape) n = sizes[drawn.below(sizes.size())];
    if (product(object.shape) > most_elements) object.shape = {3};
  }
  const std::size_t count = product(object.shape);
  switch (drawn.below(6)) {
    case 0: {
      object.type = H5Type::integer;
      std::vector<std::int64_t> values(count, drawn.integer());
      const std::int64_t step = static_cast<std::int8_t>(drawn.byte());
      for (std::size_t i = 1; i < count; ++i) {
        values[i] =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(values[i - 1]) + static_cast<std::uint64_t>(step));
      }
      object.values = std::move(values);
      return;
    }
    case 1:
      object.type = H5Type::text;
      object.values = std::vector<std::string>(count, drawn.text());
      return;
    case 2:
      object.type = H5Type::other;
      object.values = {};
      return;
    default: {
      object.type = drawn.byte() % 2 == 0 ? H5Type::real32 : H5Type::real64;
      std::vector<double> values(count, drawn.real());
      const double step = drawn.byte() / 64.0;
      for (std::size_t i = 1; i < count; ++i) values[i] += step * static_cast<double>(i);
      object.values = std::move(values);
    }
  }
}

void change_element(MemoryFile::Object& object, Drawn& drawn) {
  std::visit(
      [&](auto& values) {
        if (values.empty()) return;
        auto& value = values[drawn.below(values.size())];
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) {
          value = drawn.real();
        } else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::int64_t>) {
          value = drawn.integer();
        } else {
          value = drawn.text();
        }
      },
      object.values);
}

/// Some characters of an attribute of text.
void change_text(MemoryFile::Attribute& attribute, Drawn& drawn) {
  if (auto* text = std::get_if<std::string>(&attribute)) {
    const std::size_t from = std::min(drawn.below(text->size() + 1), text->size());
    text->replace(from, drawn.below(9), drawn.text());
  }
}

void remove_below(MemoryFile& file, const std::string& path) {
  std::erase_if(file.objects, [&](const auto& entry) { return entry.first.starts_with(path + "/"); });
}

/// With what lies below it.
void remove(MemoryFile& file, const std::string& path) {
  if (path == "/") return;
  remove_below(file, path);
  file.objects.erase(path);
}

/// As in HDF5: only groups hold others, and the root is one.
void put(MemoryFile& file, const std::string& path, std::shared_ptr<const MemoryFile::Object> object) {
  if (!object->group && path == "/") return;
  if (!object->group) remove_below(file, path);
  file.objects[path] = std::move(object);
}

}  // namespace

MemoryFile load_memory_file(const std::filesystem::path& path) {
  const H5Session session;
  const H5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  std::vector<std::string> paths;
  if (!file.ok() || H5Ovisit2(file.id(), H5_INDEX_NAME, H5_ITER_INC, collect_path, &paths, H5O_INFO_BASIC) < 0) {
    throw std::runtime_error(path.string() + ": cannot be listed");
  }
  MemoryFile out;
  for (const std::string& name : paths) {
    const H5Handle object(H5Oopen(file.id(), name.c_str(), H5P_DEFAULT), H5Oclose);
    if (H5Iget_type(object.id()) == H5I_DATASET && is_bare_scale(object.id())) continue;
    out.objects[name] = std::make_shared<const MemoryFile::Object>(object_of(object.id()));
  }
  return out;
}

void edit(MemoryFile& file, Drawn& drawn) {
  for (std::size_t i = 0; i < most_edits && !drawn.done(); ++i) {
    const std::size_t what = drawn.below(8);
    const auto place = drawn_of(file.objects, drawn);
    if (what == 0) {
      remove(file, std::string(place->first));
      continue;
    }
    if (what == 1) {  // a copy in another's place
      put(file, std::string(drawn_of(file.objects, drawn)->first), place->second);
      continue;
    }
    MemoryFile::Object object = *place->second;
    auto& attributes = object.attributes;
    switch (what) {
      case 2: replace(object, drawn); break;
      case 3: change_element(object, drawn); break;
      case 4: object.dimensions.assign(drawn.below(4), drawn.text()); break;
      case 5:
        if (!attributes.empty()) attributes.erase(drawn_of(attributes, drawn));
        break;
      case 6:
        if (!attributes.empty()) change_text(drawn_of(attributes, drawn)->second, drawn);
        break;
      default:
        if (!attributes.empty()) drawn_of(attributes, drawn)->second = drawn_attribute(drawn);
    }
    object.group = object.group || place->first == "/";
    put(file, std::string(place->first), std::make_shared<const MemoryFile::Object>(std::move(object)));
  }
}

std::map<std::string, const MemoryFile*>& memory_files() {
  static std::map<std::string, const MemoryFile*> files;
  return files;
}

}  // namespace nudge::fuzz
