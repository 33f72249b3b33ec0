// SPDX-License-Identifier: Apache-2.0
// Opening a file, listing what is in it, and facts about datasets.
#include "sim/io/h5_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>

#include "sim/base/errors.hpp"
#include "sim/io/file_seal.hpp"
#include "sim/io/h5_probe.hpp"
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
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UserError(fmt::format("{}: cannot be read: {}", name, std::strerror(errno)));
  if (in.peek() == std::ifstream::traits_type::eof()) throw UserError(name + ": is empty, not an HDF5 file");
}

herr_t collect_name(hid_t /*group*/, const char* name, const H5L_info_t* /*info*/, void* out) {
  static_cast<std::vector<std::string>*>(out)->emplace_back(name);
  return 0;
}

/// All that the functions of a reader can read, for what may go wrong on the way.
void read_everything(const H5Reader& reader) {
  const auto tried = [](const auto& read) {
    try {
      read();
    } catch (const std::exception&) {
      return;  // an object that cannot be read leaves the others to be tried
    }
  };
  const auto facts = [&](const std::string& object) {
    tried([&] {
      for (const std::string& name : reader.attributes(object)) tried([&] { reader.attribute(name, object); });
    });
    tried([&] {
      for (const std::string& name : reader.integer_lists(object))
        tried([&] { reader.integer_list_attribute(name, object); });
    });
  };
  const std::function<void(const std::string&, int)> visit = [&](const std::string& group, int depth) {
    facts(group);
    tried([&] {
      for (const std::string& name : reader.datasets(group)) {
        const std::string path = fmt::format("{}/{}", group, name);
        facts(path);
        tried([&] { reader.meaning(path); });
        tried([&] { reader.type(path) == H5Type::text ? void(reader.texts(path)) : void(reader.reals<double>(path)); });
        tried([&] { reader.integers(path); });
      }
    });
    constexpr int kDeepest = 8;  // ours lie four deep; cycles are found when the file is read in earnest
    if (depth >= kDeepest) return;
    tried([&] {
      for (const std::string& name : reader.groups(group)) visit(fmt::format("{}/{}", group, name), depth + 1);
    });
  };
  visit("/", 0);
}

}  // namespace

void H5Reader::File::open_file() {
  H5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG);
  file = H5Handle(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file.ok()) throw UserError(fmt::format("{}: is damaged or truncated{}", name, h5_error()));
}

H5Reader::H5Reader(const std::filesystem::path& path) : file_(std::make_unique<File>()) {
  const H5Session session;
  check_readable(path);
  file_->name = path.string();
  if (H5Fis_hdf5(file_->name.c_str()) <= 0) throw UserError(file_->name + ": is not an HDF5 file");
  if (seal_is_broken(path)) throw UserError(file_->name + ": is damaged: its contents do not fit its checksum");
  if (!has_seal(path)) {
    expect_survivable(path, [this] {
      H5Session::start_child();
      file_->open_file();
      read_everything(*this);
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
  std::vector<std::string> out;
  const H5Session session;
  const H5Handle parent = file_->open_group(group);
  std::vector<std::string> names;
  if (H5Literate(parent.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_name, &names) < 0)
    file_->fail_damaged(group);
  for (const auto& name : names) {
    const H5Handle child = file_->open(fmt::format("{}/{}", group, name));
    if (H5Iget_type(child.id()) == H5I_GROUP) out.push_back(name);
  }
  return out;
}

/// But for dimension scales without values, which are no data.
std::vector<std::string> H5Reader::datasets(const std::string& group) const {
  std::vector<std::string> out;
  const H5Session session;
  const H5Handle parent = file_->open_group(group);
  std::vector<std::string> names;
  if (H5Literate(parent.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_name, &names) < 0)
    file_->fail_damaged(group);
  for (const auto& name : names) {
    const H5Handle child = file_->open(fmt::format("{}/{}", group, name));
    if (H5Iget_type(child.id()) == H5I_DATASET && !is_bare_scale(child.id())) out.push_back(name);
  }
  return out;
}

std::vector<std::string> H5Reader::all_datasets(const std::string& group) const {
  // Links of a foreign file may lead back to a group above; ours lie two deep.
  constexpr std::ptrdiff_t deepest = 64;
  if (std::count(group.begin(), group.end(), '/') > deepest) {
    fail(group, "groups lie within groups without end (its links form a cycle)");
  }
  const std::string prefix = File::absolute(group) == "/" ? "" : File::absolute(group).substr(1) + "/";
  std::vector<std::string> out;
  for (const auto& name : datasets(group)) out.push_back(prefix + name);
  for (const auto& name : groups(group)) {
    for (auto& path : all_datasets(prefix + name)) out.push_back(std::move(path));
  }
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

}  // namespace nudge
