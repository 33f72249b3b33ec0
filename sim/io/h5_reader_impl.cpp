// SPDX-License-Identifier: Apache-2.0
// What lies in a group, and reading everything that a file has. None of the reader's own functions: tests/fuzz has them over memory.
#include "sim/io/h5_reader_impl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>

#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/io/h5_foreign.hpp"
#include "sim/io/h5_scales.hpp"

namespace nudge {

std::string H5Reader::File::absolute(const std::string& object) {
  std::string out;
  for (const char c : "/" + object) {
    if (c != '/' || out.empty() || out.back() != '/') out += c;
  }
  if (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

bool H5Reader::File::exists(const std::string& object) const {
  const std::string path = absolute(object);
  if (last.ok() && path == last_path) return true;
  other_file.clear();
  for (std::size_t at = path.find('/', 1); path != "/"; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    const bool there = H5Lexists(file.id(), part.c_str(), links.id()) > 0 &&
                       H5Oexists_by_name(file.id(), part.c_str(), links.id()) > 0;
    if (!other_file.empty()) {
      fail(part, fmt::format("a link to another file (\"{}\"), which is not read: copy its contents into this one",
                             printable_line(other_file)));
    }
    if (!there) return false;
    if (at == std::string::npos) break;
  }
  return true;
}

void H5Reader::File::fail(const std::string& object, const std::string& problem) const {
  const std::string path = absolute(object);
  throw UserError(fmt::format("{}: {}{}", name, path == "/" ? "" : printable_line(path.substr(1)) + ": ", problem));
}

void H5Reader::File::fail_damaged(const std::string& object) const {
  fail(object, fmt::format("the file is damaged here{}", h5_error()));
}

void H5Reader::File::fail_missing(const std::string& object) const {
  const bool link = H5Lexists(file.id(), absolute(object).c_str(), links.id()) > 0;
  fail(object, link ? "a link that leads nowhere, in a circle, or out of the file" : "missing");
}

H5Handle H5Reader::File::open(const std::string& object) const {
  std::string path = absolute(object);
  if (!last.ok() || path != last_path) {
    last = H5Handle();
    last_path = std::move(path);
    last_is_readable = false;
    H5Handle handle(H5Oopen(file.id(), last_path.c_str(), links.id()), H5Oclose);
    if (!handle.ok() && !exists(object)) fail_missing(object);
    if (!handle.ok()) fail_damaged(object);
    last = std::move(handle);
  }
  H5Iinc_ref(last.id());
  return {last.id(), H5Oclose};
}

H5Handle H5Reader::File::open_dataset(const std::string& dataset) const {
  H5Handle handle = open(dataset);
  if (last_is_readable) return handle;
  if (H5Iget_type(handle.id()) != H5I_DATASET) fail(dataset, "a dataset expected, found a group");
  if (const std::string problem = unreadable_values(handle.id()); !problem.empty()) fail(dataset, problem);
  last_is_readable = true;
  return handle;
}

H5Handle H5Reader::File::open_group(const std::string& group) const {
  H5Handle handle = open(group);
  if (H5Iget_type(handle.id()) != H5I_GROUP) fail(group, "a group expected, found a dataset");
  return handle;
}

H5Type h5_type(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT: return size == 4 ? H5Type::real32 : size == 8 ? H5Type::real64 : H5Type::other;
    case H5T_INTEGER: return size < 8 || H5Tget_sign(type) == H5T_SGN_2 ? H5Type::integer : H5Type::other;
    case H5T_ENUM: return size == 1 ? H5Type::integer : H5Type::other;  // h5py's bool; HDF5 converts it
    case H5T_STRING: return H5Type::text;
    default: return H5Type::other;
  }
}

H5Shape h5_shape(hid_t space) {
  std::vector<hsize_t> sizes(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
  H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  return {sizes.begin(), sizes.end()};
}

bool h5_read_texts(hid_t object, hid_t type, hid_t space, H5ReadText read, std::vector<std::string>& out) {
  const auto count = static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space)));
  out.assign(count, "");
  if (count == 0) return true;
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> pointers(count, nullptr);
    const H5Handle memory = h5_text_type();
    H5Tset_cset(memory.id(), H5Tget_cset(type));
    if (read(object, memory.id(), static_cast<void*>(pointers.data())) < 0) return false;
    for (std::size_t i = 0; i < count; ++i) out[i] = pointers[i] == nullptr ? "" : pointers[i];
    return H5Dvlen_reclaim(memory.id(), space, H5P_DEFAULT, static_cast<void*>(pointers.data())) >= 0;
  }
  const std::size_t size = H5Tget_size(type);
  std::vector<char> bytes(count * size);
  if (read(object, type, bytes.data()) < 0) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view all(bytes.data() + i * size, size);
    out[i] = all.substr(0, all.find('\0'));
  }
  return true;
}

namespace {

herr_t collect_name(hid_t /*group*/, const char* name, const H5L_info_t* /*info*/, void* out) {
  static_cast<std::vector<std::string>*>(out)->emplace_back(name);
  return 0;
}

template <class Read>
void tried(const Read& read) {
  try {
    read();
  } catch (const std::exception&) {
    return;  // an object that cannot be read leaves the others to be tried
  }
}

void read_facts(const H5Reader& reader, const std::string& object) {
  tried([&] {
    for (const std::string& name : reader.attributes(object)) tried([&] { reader.attribute(name, object); });
  });
  tried([&] {
    for (const std::string& name : reader.integer_lists(object))
      tried([&] { reader.integer_list_attribute(name, object); });
  });
}

void read_values(const H5Reader& reader, const std::string& dataset) {
  tried([&] { reader.meaning(dataset); });
  tried([&] {
    switch (reader.type(dataset)) {
      case H5Type::text: reader.texts(dataset); break;
      case H5Type::integer: reader.integers(dataset); break;
      default: reader.reals<double>(dataset);
    }
  });
}

}  // namespace

std::vector<std::string> H5Reader::File::names(const std::string& group) const {
  const H5Handle parent = open_group(group);
  std::vector<std::string> out;
  if (H5Literate(parent.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_name, &out) < 0) fail_damaged(group);
  return out;
}

H5Reader::File::Members H5Reader::File::members(const std::string& group) const {
  const H5Handle parent = open_group(group);
  Members out;
  for (std::string& member : names(group)) {
    H5Handle child(H5Oopen(parent.id(), member.c_str(), links.id()), H5Oclose);
    if (!child.ok()) child = open(fmt::format("{}/{}", group, member));  // says why not
    const H5I_type_t type = H5Iget_type(child.id());
    if (type == H5I_GROUP)
      out.groups.push_back(std::move(member));
    else if (type == H5I_DATASET && !is_bare_scale(child.id()))
      out.datasets.push_back(std::move(member));
  }
  return out;
}

std::string H5Reader::File::identity(const std::string& object) const {
  const H5Handle handle = open(object);
  H5O_info_t info{};
#if H5_VERSION_GE(1, 12, 0)
  if (H5Oget_info3(handle.id(), &info, H5O_INFO_BASIC) < 0) fail_damaged(object);
  return {reinterpret_cast<const char*>(&info.token), sizeof info.token};
#else
  if (H5Oget_info2(handle.id(), &info, H5O_INFO_BASIC) < 0) fail_damaged(object);
  return std::to_string(info.addr);
#endif
}

void H5Reader::File::read_everything(const H5Reader& reader) const {
  std::set<std::string> seen;
  const std::function<void(const std::string&, std::size_t)> visit = [&](const std::string& group, std::size_t depth) {
    if (depth > deepest_group || !seen.insert(identity(group)).second) return;
    read_facts(reader, group);
    for (const std::string& member : names(group)) {
      const std::string path = fmt::format("{}/{}", group, member);
      tried([&] {
        if (H5Iget_type(open(path).id()) == H5I_GROUP) return visit(path, depth + 1);
        read_facts(reader, path);
        read_values(reader, path);
      });
    }
  };
  tried([&] { visit("/", 0); });
}

}  // namespace nudge
