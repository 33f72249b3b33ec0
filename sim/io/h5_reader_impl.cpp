// SPDX-License-Identifier: Apache-2.0
// What lies in a group, and reading everything that a file has.
// Reading the values of datasets.
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
