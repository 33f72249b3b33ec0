// SPDX-License-Identifier: Apache-2.0
// What lies in a group, and reading everything that a file has.
#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <set>

#include "sim/io/h5_reader_impl.hpp"
#include "sim/io/h5_scales.hpp"

namespace nudge {
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
