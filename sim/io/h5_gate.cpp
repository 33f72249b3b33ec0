// SPDX-License-Identifier: Apache-2.0
#include "sim/io/h5_gate.hpp"

#include <fmt/format.h>

#include <array>

#include "sim/base/printable.hpp"

namespace nudge {
namespace {

herr_t stop_at_other_file(const char* /*file*/, const char* /*group*/, const char* other, const char* /*object*/,
                          unsigned* /*access*/, hid_t /*properties*/, void* out) {
  *static_cast<std::string*>(out) = other;
  return -1;
}

constexpr std::size_t kLongestName = 256;

std::string external_file(hid_t properties) {
  std::array<char, kLongestName> name{};
  off_t offset = 0;
  hsize_t size = 0;
  H5Pget_external(properties, 0, name.size() - 1, name.data(), &offset, &size);
  return printable_line(name.data());
}

std::string missing_filter(hid_t properties) {
  const int count = H5Pget_nfilters(properties);
  for (int i = 0; i < count; ++i) {
    std::array<char, kLongestName> name{};
    unsigned flags = 0;
    unsigned config = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values, nullptr,
                                               name.size() - 1, name.data(), &config);
    if (filter >= 0 && H5Zfilter_avail(filter) <= 0) return fmt::format("{} {}", filter, printable_line(name.data()));
  }
  return "";
}

}  // namespace

H5Handle links_within_file(std::string& other) {
  H5Handle out = h5_made(H5Pcreate(H5P_LINK_ACCESS), H5Pclose, "the guard of its links");
  h5_need(H5Pset_elink_cb(out.id(), stop_at_other_file, &other) >= 0, "the guard of its links");
  return out;
}

std::string unreadable_values(hid_t dataset) {
  const H5Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  if (!properties.ok()) return "the file is damaged here" + h5_error();
  if (H5Pget_external_count(properties.id()) != 0) {
    return fmt::format("its values lie in another file (\"{}\"), which is not read: copy them into this one",
                       external_file(properties.id()));
  }
  if (H5Pget_layout(properties.id()) == H5D_VIRTUAL) {
    return "a virtual dataset, whose values lie in other files, which are not read: copy them into this one";
  }
  const std::string filter = missing_filter(properties.id());
  if (filter.empty()) return "";
  return fmt::format("stored with the filter {}, which is not loaded: store it without (h5repack -f GZIP=4)", filter);
}

}  // namespace nudge
