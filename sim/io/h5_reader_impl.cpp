// SPDX-License-Identifier: Apache-2.0
#include "sim/io/h5_reader_impl.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/io/h5_foreign.hpp"

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

}  // namespace nudge
