// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/h5_edits.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "sim/io/descriptor.hpp"
#include "sim/io/h5_handle.hpp"

namespace nudge::fuzz {

namespace {

constexpr std::size_t most_edits = 12;
constexpr hsize_t chunk_elements = 4096;

struct Listing {
  hid_t file = -1;
  H5Base* base = nullptr;
};

herr_t list_attribute(hid_t object, const char* name, const H5A_info_t* /*info*/, void* out) {
  const auto& listing = *static_cast<Listing*>(out);
  std::array<char, 256> path{};
  H5Iget_name(object, path.data(), path.size());
  listing.base->attributes.emplace_back(path.data(), name);
  return 0;
}

herr_t list_object(hid_t /*root*/, const char* name, const H5O_info_t* /*info*/, void* out) {
  const auto& listing = *static_cast<Listing*>(out);
  const std::string path = std::string(name) == "." ? "/" : std::string("/") + name;
  listing.base->objects.push_back(path);
  const H5Handle object(H5Oopen(listing.file, path.c_str(), H5P_DEFAULT), H5Oclose);
  hsize_t at = 0;
  H5Aiterate2(object.id(), H5_INDEX_NAME, H5_ITER_INC, &at, list_attribute, out);
  return 0;
}

/// A type of nudge's files or of others'.
H5Handle drawn_type(Drawn& drawn) {
  const auto copy = [](hid_t type) { return H5Handle(H5Tcopy(type), H5Tclose); };
  switch (drawn.below(10)) {
    case 0: return copy(H5T_IEEE_F32LE);
    case 1: return copy(H5T_IEEE_F64LE);
    case 2: return copy(H5T_STD_I64LE);
    case 3: return copy(H5T_STD_U64BE);
    case 4: return copy(H5T_STD_I8LE);
    case 5: return copy(H5T_IEEE_F64BE);
    case 6: return h5_text_type(1 + drawn.below(16));
    case 7: {
      H5Handle pair(H5Tcreate(H5T_COMPOUND, 16), H5Tclose);
      H5Tinsert(pair.id(), "r", 0, H5T_NATIVE_DOUBLE);
      H5Tinsert(pair.id(), "i", 8, H5T_NATIVE_DOUBLE);
      return pair;
    }
    default: return h5_text_type();
  }
}

/// Up to four dimensions, of which large ones are seldom.
H5Handle drawn_space(Drawn& drawn, std::vector<hsize_t>& sizes) {
  static constexpr std::array<hsize_t, 13> edges = {0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 65, 70000};
  sizes.resize(drawn.below(5));
  for (hsize_t& n : sizes) {
    const std::size_t which = drawn.below(edges.size() + 1);
    n = which < edges.size() ? edges[which] : hsize_t{1} << drawn.below(50);
  }
  if (sizes.empty()) return {H5Screate(drawn.byte() % 8 == 0 ? H5S_NULL : H5S_SCALAR), H5Sclose};
  return {H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose};
}

/// Writes one value to every element of a selection of up to `chunk_elements`.
template <class Write>
void write_drawn(hid_t type, std::size_t count, Drawn& drawn, const Write& write) {
  if (H5Tget_class(type) == H5T_STRING) {
    const std::string text = drawn.text();
    if (H5Tis_variable_str(type) > 0) {
      const std::vector<const char*> texts(count, text.c_str());
      write(type, texts.data());
    } else {
      const std::size_t size = H5Tget_size(type);
      std::string all(size * count, '\0');
      for (std::size_t i = 0; i < count; ++i) text.copy(all.data() + i * size, size);
      write(type, all.data());
    }
  } else if (H5Tget_class(type) == H5T_INTEGER) {
    const std::int64_t first = drawn.integer(), step = static_cast<std::int8_t>(drawn.byte());
    std::vector<std::int64_t> values(count);
    std::uint64_t value = static_cast<std::uint64_t>(first);
    for (std::int64_t& v : values)
      v = static_cast<std::int64_t>(std::exchange(value, value + static_cast<std::uint64_t>(step)));
    write(H5T_NATIVE_INT64, values.data());
  } else if (H5Tget_class(type) == H5T_FLOAT) {
    const double first = drawn.real(), step = drawn.byte() / 64.0;
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = first + step * static_cast<double>(i);
    write(H5T_NATIVE_DOUBLE, values.data());
  }
}

class Editor {
 public:
  Editor(hid_t file, const H5Base& base, Drawn& drawn) : file_(file), base_(base), drawn_(drawn) {}

  void edit() {
    switch (drawn_.below(9)) {
      case 0: return remove(object());
      case 1: return replace_dataset(object());
      case 2: return change_element(object());
      case 3: return link(object(), object());
      case 4: return remove_attribute();
      case 5: return change_text();
      default: return replace_attribute();
    }
  }

 private:
  const std::string& object() { return base_.objects[drawn_.below(base_.objects.size())]; }
  const std::pair<std::string, std::string>& attribute() {
    return base_.attributes[drawn_.below(base_.attributes.size())];
  }
  H5Handle open(const std::string& path) { return {H5Oopen(file_, path.c_str(), H5P_DEFAULT), H5Oclose}; }

  void remove(const std::string& path) {
    if (path != "/") H5Ldelete(file_, path.c_str(), H5P_DEFAULT);
  }

  void replace_dataset(const std::string& path) {
    if (path == "/") return;
    const H5Handle type = drawn_type(drawn_);
    std::vector<hsize_t> sizes;
    const H5Handle space = drawn_space(drawn_, sizes);
    const H5Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const hssize_t count = H5Sget_simple_extent_npoints(space.id());
    const bool large = count > static_cast<hssize_t>(chunk_elements);
    if (large) {  // as large as it says it is, without a place on the disk
      std::vector<hsize_t> chunk(sizes.size(), 1);
      chunk.back() = std::clamp<hsize_t>(sizes.back(), 1, chunk_elements);
      H5Pset_chunk(how.id(), static_cast<int>(chunk.size()), chunk.data());
    }
    // The old one's attributes go to the new one: unit, description, role.
    const H5Handle old = open(path);
    H5Handle made(H5Dcreate_anon(file_, type.id(), space.id(), how.id(), H5P_DEFAULT), H5Dclose);
    if (!made.ok()) return;
    for (const auto& [owner, name] : base_.attributes) {
      if (owner != path || name == "DIMENSION_LIST" || name == "REFERENCE_LIST" || name == "CLASS") continue;
      const H5Handle from(H5Aopen(old.id(), name.c_str(), H5P_DEFAULT), H5Aclose);
      if (!from.ok()) continue;
      const H5Handle its_type(H5Aget_type(from.id()), H5Tclose), its_space(H5Aget_space(from.id()), H5Sclose);
      const H5Handle to(H5Acreate2(made.id(), name.c_str(), its_type.id(), its_space.id(), H5P_DEFAULT, H5P_DEFAULT),
                        H5Aclose);
      std::vector<std::byte> value(
          static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(its_space.id()))) *
          H5Tget_size(its_type.id()));
      if (value.empty() || H5Aread(from.id(), its_type.id(), value.data()) < 0) continue;
      H5Awrite(to.id(), its_type.id(), value.data());
      H5Dvlen_reclaim(its_type.id(), its_space.id(), H5P_DEFAULT, value.data());
    }
    if (!large && count > 0) {
      write_drawn(type.id(), static_cast<std::size_t>(count), drawn_, [&](hid_t memory, const void* values) {
        H5Dwrite(made.id(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
      });
    }
    remove(path);
    H5Olink(made.id(), file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  }

  void change_element(const std::string& path) {
    const H5Handle data(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!data.ok()) return;
    const H5Handle type(H5Dget_type(data.id()), H5Tclose), space(H5Dget_space(data.id()), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space.id());
    if (rank < 1 || H5Sget_simple_extent_npoints(space.id()) < 1) return;
    std::vector<hsize_t> at(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space.id(), at.data(), nullptr);
    for (hsize_t& i : at) i = drawn_.below(static_cast<std::size_t>(i));
    H5Sselect_elements(space.id(), H5S_SELECT_SET, 1, at.data());
    const hsize_t one = 1;
    const H5Handle memory_space(H5Screate_simple(1, &one, nullptr), H5Sclose);
    write_drawn(type.id(), 1, drawn_, [&](hid_t memory, const void* values) {
      H5Dwrite(data.id(), memory, memory_space.id(), space.id(), H5P_DEFAULT, values);
    });
  }

  /// A second name, by a hard or a soft link: also to a group above itself.
  void link(const std::string& target, const std::string& name) {
    const std::string inside = drawn_.byte() % 2 == 0 ? name : name + "/again";
    remove(inside);
    if (drawn_.byte() % 2 == 0) {
      H5Lcreate_hard(file_, target.c_str(), file_, inside.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    } else {
      H5Lcreate_soft(target.c_str(), file_, inside.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    }
  }

  void remove_attribute() {
    const auto& [owner, name] = attribute();
    H5Adelete_by_name(file_, owner.c_str(), name.c_str(), H5P_DEFAULT);
  }

  void replace_attribute() {
    const auto& [owner, name] = attribute();
    const H5Handle object = open(owner);
    if (!object.ok()) return;
    const H5Handle type = drawn_type(drawn_);
    std::vector<hsize_t> sizes;
    const H5Handle space =
        drawn_.byte() % 4 == 0 ? drawn_space(drawn_, sizes) : H5Handle(H5Screate(H5S_SCALAR), H5Sclose);
    const hssize_t count = H5Sget_simple_extent_npoints(space.id());
    if (count > static_cast<hssize_t>(chunk_elements)) return;
    H5Adelete(object.id(), name.c_str());
    const H5Handle made(H5Acreate2(object.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
                        H5Aclose);
    if (!made.ok() || count < 1) return;
    write_drawn(type.id(), static_cast<std::size_t>(count), drawn_,
                [&](hid_t memory, const void* values) { H5Awrite(made.id(), memory, values); });
  }

  /// Some characters of an attribute of text.
  void change_text() {
    const auto& [owner, name] = attribute();
    const H5Handle object = open(owner);
    const H5Handle old(object.ok() ? H5Aopen(object.id(), name.c_str(), H5P_DEFAULT) : -1, H5Aclose);
    if (!old.ok()) return;
    const H5Handle type(H5Aget_type(old.id()), H5Tclose), space(H5Aget_space(old.id()), H5Sclose);
    if (H5Tis_variable_str(type.id()) <= 0 || H5Sget_simple_extent_npoints(space.id()) != 1) return;
    char* stored = nullptr;
    if (H5Aread(old.id(), type.id(), &stored) < 0 || stored == nullptr) return;
    std::string text = stored;
    H5free_memory(stored);
    const std::size_t from = std::min(drawn_.below(text.size() + 1), text.size());
    text.replace(from, drawn_.below(9), drawn_.text());
    const char* changed = text.c_str();
    H5Awrite(old.id(), type.id(), &changed);
  }

  hid_t file_;
  const H5Base& base_;
  Drawn& drawn_;
};

std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> read{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::byte> bytes(read.size());
  std::memcpy(bytes.data(), read.data(), read.size());
  return bytes;
}

void write_bytes(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

H5Base::H5Base(const std::filesystem::path& path) : bytes(bytes_of(path)) {
  const H5Session session;
  const H5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  Listing listing{file.id(), this};
  if (!file.ok() || H5Ovisit2(file.id(), H5_INDEX_NAME, H5_ITER_INC, list_object, &listing, H5O_INFO_BASIC) < 0) {
    throw std::runtime_error(path.string() + ": cannot be listed");
  }
}

void write_edited(const H5Base& base, Drawn& drawn, const std::filesystem::path& path) {
  const H5Session session;
  write_bytes(path, base.bytes);
  {
    const H5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG);
    const H5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.id()), H5Fclose);
    if (!file.ok()) throw std::runtime_error("the base cannot be opened");
    Editor editor(file.id(), base, drawn);
    for (std::size_t i = 0; i < most_edits && !drawn.done(); ++i) editor.edit();
  }
  std::vector<std::byte> bytes = bytes_of(path);
  seal(bytes);
  write_bytes(path, bytes);
}

}  // namespace nudge::fuzz
