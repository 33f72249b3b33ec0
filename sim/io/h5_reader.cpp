// SPDX-License-Identifier: Apache-2.0
// Opening a file, listing what is in it, and facts about datasets.
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
  file_->name = path.string();
  if (H5Fis_hdf5(file_->name.c_str()) <= 0) throw UserError(file_->name + ": is not an HDF5 file");
  if (seal_is_broken(path)) throw UserError(file_->name + ": is damaged: its contents do not fit its checksum");
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

}  // namespace nudge
