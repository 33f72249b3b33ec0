// SPDX-License-Identifier: Apache-2.0
// Opening a file, listing what is in it, and facts about datasets.
// Reading attributes, and the meaning that datasets carry in them.
#include "sim/io/h5_reader.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>

#include "sim/base/errors.hpp"
#include "sim/io/descriptor.hpp"
#include "sim/io/h5_foreign.hpp"
#include "sim/io/h5_reader_impl.hpp"
#include "sim/io/h5_scales.hpp"

namespace nudge {
namespace {

void check_readable(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  const std::string name = path.string();
  if (!std::filesystem::exists(status)) throw UserError(name + ": no such file");
  if (std::filesystem::is_directory(status)) throw UserError(name + ": is a directory, not an HDF5 file");
  if (!std::filesystem::is_regular_file(status)) throw UserError(name + ": is not a plain file");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UserError(fmt::format("{}: cannot be read: {}", name, std::strerror(errno)));
  if (in.peek() == std::ifstream::traits_type::eof()) throw UserError(name + ": is empty, not an HDF5 file");
}

}  // namespace

void H5Reader::File::open_file() {
  const H5Handle access = h5_made(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "the access to a file");
  h5_need(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG) >= 0, "the access to a file");
  links = links_within_file(other_file);
  file = H5Handle(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file.ok()) throw UserError(fmt::format("{}: is damaged or truncated{}", name, h5_error()));
}

H5Reader::H5Reader(const std::filesystem::path& path) : file_(std::make_unique<File>()) {
  const H5Session session;
  check_readable(path);
  h5_expect_room();
  file_->name = path.string();
  if (H5Fis_hdf5(file_->name.c_str()) <= 0) throw UserError(file_->name + ": is not an HDF5 file");
  if (seal_is_broken(path)) throw UserError(file_->name + ": is damaged: its contents do not match its checksum");
  if (!has_seal(path)) {
    expect_survivable(path, [this] {
      H5Session::start_child();
      file_->open_file();
      file_->read_everything(*this);
      file_->last = H5Handle();
      file_->file = H5Handle();
    });
  }
  file_->open_file();
}

H5Reader::~H5Reader() {
  const H5Session session;
  file_.reset();
}

H5Reader::H5Reader(H5Reader&&) noexcept = default;
H5Reader& H5Reader::operator=(H5Reader&&) noexcept = default;

const std::string& H5Reader::name() const { return file_->name; }

void H5Reader::fail(const std::string& object, const std::string& problem) const { file_->fail(object, problem); }

bool H5Reader::has(const std::string& object) const {
  const H5Session session;
  return file_->exists(object);
}

std::vector<std::string> H5Reader::groups(const std::string& group) const {
  const H5Session session;
  return file_->members(group).groups;
}

std::vector<std::string> H5Reader::datasets(const std::string& group) const {
  const H5Session session;
  return file_->members(group).datasets;
}

std::vector<std::string> H5Reader::all_datasets(const std::string& group) const {
  const H5Session session;
  std::vector<std::string> out;
  std::set<std::string> seen, above;
  // A group that has several links is listed once: groups of pairs of links would have 2^depth paths.
  const std::function<void(const std::string&)> visit = [&](const std::string& at) {
    const std::string id = file_->identity(at);
    if (above.contains(id) || above.size() > File::deepest_group) {
      fail(at, "groups lie within groups without end (its links form a cycle)");
    }
    if (!seen.insert(id).second) return;
    above.insert(id);
    const File::Members members = file_->members(at);
    const std::string prefix = File::absolute(at) == "/" ? "" : File::absolute(at).substr(1) + "/";
    for (const auto& name : members.datasets) out.push_back(prefix + name);
    for (const auto& name : members.groups) visit(prefix + name);
    above.erase(id);
  };
  visit(group);
  return out;
}

H5Type H5Reader::type(const std::string& dataset) const {
  const H5Session session;
  const H5Handle data = file_->open_dataset(dataset);
  return h5_type(H5Handle(H5Dget_type(data.id()), H5Tclose).id());
}

H5Shape H5Reader::shape(const std::string& dataset) const {
  const H5Session session;
  const H5Handle data = file_->open_dataset(dataset);
  return h5_shape(H5Handle(H5Dget_space(data.id()), H5Sclose).id());
}

namespace {

constexpr const char* dimension_labels = "DIMENSION_LABELS";  // HDF5 Dimension Scale specification, section 4

herr_t collect_attribute(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* out) {
  static_cast<std::vector<std::string>*>(out)->emplace_back(name);
  return 0;
}

struct OpenAttribute {
  H5Handle attribute, type, space;
  bool ok() const { return attribute.ok() && type.ok() && space.ok(); }
  bool single() const { return H5Sget_simple_extent_npoints(space.id()) == 1; }
  bool integer_list() const {
    return H5Sget_simple_extent_ndims(space.id()) <= 1 && H5Sget_simple_extent_npoints(space.id()) >= 1 &&
           h5_type(type.id()) == H5Type::integer;
  }
};

OpenAttribute open_attribute(hid_t object, const std::string& name) {
  OpenAttribute out;
  out.attribute = H5Handle(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!out.attribute.ok()) return out;
  out.type = H5Handle(H5Aget_type(out.attribute.id()), H5Tclose);
  out.space = H5Handle(H5Aget_space(out.attribute.id()), H5Sclose);
  return out;
}

std::string of(const std::string& attribute) { return "attribute " + attribute + ": "; }

/// Names of the attributes of an object that `chosen` takes. `File` is H5Reader::File.
template <class File, class Chosen>
std::vector<std::string> names_of(const File& file, const std::string& object, const Chosen& chosen) {
  const H5Session session;
  const H5Handle owner = file.open(object);
  std::vector<std::string> names;
  if (H5Aiterate2(owner.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_attribute, &names) < 0) {
    file.fail_damaged(object);
  }
  std::erase_if(names, [&](const std::string& name) {
    const OpenAttribute open = open_attribute(owner.id(), name);
    return !open.ok() || !chosen(open);
  });
  return names;
}

/// Opens an attribute that must be there.
template <class File>
OpenAttribute existing_attribute(const File& file, const std::string& object, const std::string& name) {
  const H5Handle owner = file.open(object);
  if (H5Aexists(owner.id(), name.c_str()) <= 0) file.fail(object, of(name) + "missing");
  OpenAttribute open = open_attribute(owner.id(), name);
  if (!open.ok()) file.fail_damaged(object);
  return open;
}

}  // namespace

std::vector<std::string> H5Reader::attributes(const std::string& object) const {
  return names_of(*file_, object,
                  [](const OpenAttribute& open) { return open.single() && h5_type(open.type.id()) != H5Type::other; });
}

bool H5Reader::has_attribute(const std::string& attribute, const std::string& object) const {
  const H5Session session;
  if (!file_->exists(object)) return false;
  return H5Aexists(file_->open(object).id(), attribute.c_str()) > 0;
}

H5Attribute H5Reader::attribute(const std::string& attribute, const std::string& object) const {
  const H5Session session;
  const OpenAttribute open = existing_attribute(*file_, object, attribute);
  if (!open.single()) fail(object, of(attribute) + "a single value expected");
  switch (h5_type(open.type.id())) {
    case H5Type::integer: {
      std::int64_t value = 0;
      if (H5Aread(open.attribute.id(), H5T_NATIVE_INT64, &value) < 0) file_->fail_damaged(object);
      return value;
    }
    case H5Type::real32:
    case H5Type::real64: {
      double value = 0;
      if (H5Aread(open.attribute.id(), H5T_NATIVE_DOUBLE, &value) < 0) file_->fail_damaged(object);
      return value;
    }
    case H5Type::text: {
      std::vector<std::string> value;
      const bool ok = h5_read_texts(open.attribute.id(), open.type.id(), open.space.id(), H5Aread, value);
      if (!ok) file_->fail_damaged(object);
      return value.at(0);
    }
    case H5Type::other: break;
  }
  fail(object, of(attribute) + "an integer, a real number or text expected");
}

std::int64_t H5Reader::integer_attribute(const std::string& name, const std::string& object) const {
  const H5Attribute value = attribute(name, object);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  fail(object, of(name) + "an integer expected");
}

double H5Reader::real_attribute(const std::string& name, const std::string& object) const {
  const H5Attribute value = attribute(name, object);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  fail(object, of(name) + "a number expected");
}

std::string H5Reader::text_attribute(const std::string& name, const std::string& object) const {
  H5Attribute value = attribute(name, object);
  if (auto* text = std::get_if<std::string>(&value)) return std::move(*text);
  fail(object, of(name) + "text expected");
}

std::vector<std::string> H5Reader::integer_lists(const std::string& object) const {
  return names_of(*file_, object, [](const OpenAttribute& open) { return !open.single() && open.integer_list(); });
}

std::vector<std::int64_t> H5Reader::integer_list_attribute(const std::string& name, const std::string& object) const {
  const H5Session session;
  const OpenAttribute open = existing_attribute(*file_, object, name);
  if (!open.integer_list()) fail(object, of(name) + "a list of integers expected");
  std::vector<std::int64_t> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(open.space.id())));
  if (H5Aread(open.attribute.id(), H5T_NATIVE_INT64, values.data()) < 0) file_->fail_damaged(object);
  return values;
}

H5Meaning H5Reader::meaning(const std::string& dataset) const {
  const H5Session session;
  const H5Handle data = file_->open_dataset(dataset);
  H5Meaning out;
  out.unit = has_attribute("unit", dataset) ? text_attribute("unit", dataset) : "";
  out.description = has_attribute("description", dataset) ? text_attribute("description", dataset) : "";
  if (H5Aexists(data.id(), dimension_labels) > 0) {
    const OpenAttribute open = open_attribute(data.id(), dimension_labels);
    if (open.ok() && H5Tget_class(open.type.id()) == H5T_STRING) {
      h5_read_texts(open.attribute.id(), open.type.id(), open.space.id(), H5Aread, out.dimensions);
    }
  }
  out.dimensions = dimension_names(std::move(out.dimensions), shape(dataset));
  return out;
}

}  // namespace nudge
