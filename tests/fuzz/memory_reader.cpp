// SPDX-License-Identifier: Apache-2.0
// H5Reader of memory_files(), for the target `contents` instead of the one of sim/io: what is called there is answered as it does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/io/h5_reader_impl.hpp"
#include "sim/io/h5_scales.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace nudge {

namespace {

using Object = fuzz::MemoryFile::Object;

std::string slashed(const std::string& object) {
  if (object.starts_with('/') && object.find("//") == std::string::npos &&
      (object.size() == 1 || !object.ends_with('/')))
    return object;
  std::string out;
  for (const char c : "/" + object) {
    if (c != '/' || out.empty() || out.back() != '/') out += c;
  }
  if (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

const Object* find(const std::string& file, const std::string& object) {
  const auto& objects = fuzz::memory_files().at(file)->objects;
  const auto at = objects.find(slashed(object));
  return at == objects.end() ? nullptr : at->second.get();
}

const Object& object_of(const H5Reader& reader, const std::string& path) {
  const Object* object = find(reader.name(), path);
  if (object == nullptr) reader.fail(path, "missing");
  return *object;
}

const Object& dataset_of(const H5Reader& reader, const std::string& path) {
  const Object& object = object_of(reader, path);
  if (object.group) reader.fail(path, "a dataset expected, found a group");
  return object;
}

std::vector<std::string> children(const H5Reader& reader, const std::string& group, bool groups) {
  if (!object_of(reader, group).group) reader.fail(group, "a group expected, found a dataset");
  const std::string parent = slashed(group) == "/" ? "/" : slashed(group) + "/";
  std::vector<std::string> out;
  for (const auto& [path, object] : fuzz::memory_files().at(reader.name())->objects) {
    if (path.size() <= parent.size() || !path.starts_with(parent) || path.find('/', parent.size()) != std::string::npos)
      continue;
    if (object->group == groups) out.push_back(path.substr(parent.size()));
  }
  return out;
}

const Object& checked(const H5Reader& reader, const std::string& path, std::initializer_list<H5Type> allowed,
                      std::string_view wanted, const std::optional<H5Shape>& expected) {
  const Object& object = dataset_of(reader, path);
  if (std::find(allowed.begin(), allowed.end(), object.type) == allowed.end()) {
    reader.fail(path, fmt::format("type {} expected, found {}", wanted, to_string(object.type)));
  }
  if (expected && !std::equal(object.shape.begin(), object.shape.end(), expected->begin(), expected->end(),
                              [](Index found, Index want) { return want < 0 || found == want; })) {
    reader.fail(path, fmt::format("shape {} expected, found {}", to_string(*expected), to_string(object.shape)));
  }
  return object;
}

}  // namespace

H5Reader::H5Reader(const std::filesystem::path& path) : file_(std::make_unique<File>()) {
  file_->name = path.string();
  if (fuzz::memory_files().count(file_->name) == 0) throw UserError(file_->name + ": no such file");
}
H5Reader::~H5Reader() = default;
H5Reader::H5Reader(H5Reader&&) noexcept = default;
H5Reader& H5Reader::operator=(H5Reader&&) noexcept = default;

const std::string& H5Reader::name() const { return file_->name; }

void H5Reader::fail(const std::string& object, const std::string& problem) const {
  const std::string path = slashed(object);
  throw UserError(fmt::format("{}: {}{}", name(), path == "/" ? "" : path.substr(1) + ": ", problem));
}

bool H5Reader::has(const std::string& object) const { return find(name(), object) != nullptr; }
std::vector<std::string> H5Reader::groups(const std::string& group) const { return children(*this, group, true); }
std::vector<std::string> H5Reader::datasets(const std::string& group) const { return children(*this, group, false); }

std::vector<std::string> H5Reader::all_datasets(const std::string& group) const {
  const std::string prefix = slashed(group) == "/" ? "" : slashed(group).substr(1) + "/";
  std::vector<std::string> out;
  for (const auto& dataset : datasets(group)) out.push_back(prefix + dataset);
  for (const auto& child : groups(group)) {
    for (auto& path : all_datasets(prefix + child)) out.push_back(std::move(path));
  }
  return out;
}

H5Type H5Reader::type(const std::string& dataset) const { return dataset_of(*this, dataset).type; }
H5Shape H5Reader::shape(const std::string& dataset) const { return dataset_of(*this, dataset).shape; }

H5Meaning H5Reader::meaning(const std::string& dataset) const {
  H5Meaning out;
  out.unit = has_attribute("unit", dataset) ? text_attribute("unit", dataset) : "";
  out.description = has_attribute("description", dataset) ? text_attribute("description", dataset) : "";
  const Object& object = dataset_of(*this, dataset);
  out.dimensions = dimension_names(object.dimensions, object.shape);
  return out;
}

std::vector<std::string> H5Reader::attributes(const std::string& object) const {
  std::vector<std::string> out;
  for (const auto& [key, value] : object_of(*this, object).attributes) {
    if (value.index() < 3) out.push_back(key);
  }
  return out;
}

bool H5Reader::has_attribute(const std::string& attribute, const std::string& object) const {
  const Object* found = find(name(), object);
  return found != nullptr && found->attributes.count(attribute) > 0;
}

H5Attribute H5Reader::attribute(const std::string& attribute, const std::string& object) const {
  const auto& all = object_of(*this, object).attributes;
  const auto at = all.find(attribute);
  if (at == all.end()) fail(object, "attribute " + attribute + ": missing");
  if (const auto* integer = std::get_if<std::int64_t>(&at->second)) return *integer;
  if (const auto* real = std::get_if<double>(&at->second)) return *real;
  if (const auto* text = std::get_if<std::string>(&at->second)) return *text;
  fail(object, "attribute " + attribute + ": a single value expected");
}

std::int64_t H5Reader::integer_attribute(const std::string& key, const std::string& object) const {
  const H5Attribute value = attribute(key, object);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  fail(object, "attribute " + key + ": an integer expected");
}

double H5Reader::real_attribute(const std::string& key, const std::string& object) const {
  const H5Attribute value = attribute(key, object);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  fail(object, "attribute " + key + ": a number expected");
}

std::string H5Reader::text_attribute(const std::string& key, const std::string& object) const {
  H5Attribute value = attribute(key, object);
  if (auto* text = std::get_if<std::string>(&value)) return std::move(*text);
  fail(object, "attribute " + key + ": text expected");
}

std::vector<std::string> H5Reader::integer_lists(const std::string& object) const {
  std::vector<std::string> out;
  for (const auto& [key, value] : object_of(*this, object).attributes) {
    const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
    if (list != nullptr && list->size() > 1) out.push_back(key);
  }
  return out;
}

std::vector<std::int64_t> H5Reader::integer_list_attribute(const std::string& key, const std::string& object) const {
  const auto& all = object_of(*this, object).attributes;
  const auto at = all.find(key);
  if (at == all.end()) fail(object, "attribute " + key + ": missing");
  if (const auto* integer = std::get_if<std::int64_t>(&at->second)) return {*integer};
  const auto* list = std::get_if<std::vector<std::int64_t>>(&at->second);
  if (list == nullptr || list->empty()) fail(object, "attribute " + key + ": a list of integers expected");
  return *list;
}

template <class S>
std::vector<S> H5Reader::reals(const std::string& dataset, const std::optional<H5Shape>& expected,
                               NonFinite non_finite) const {
  const Object& object = checked(*this, dataset, {H5Type::real32, H5Type::real64}, "float32 or float64", expected);
  const auto& stored = std::get<std::vector<double>>(object.values);
  std::vector<S> values(stored.size());
  for (std::size_t i = 0; i < stored.size(); ++i) values[i] = static_cast<S>(stored[i]);
  if (non_finite == NonFinite::rejected) {
    if (const auto at = first_non_finite<S>(values)) fail(dataset, fmt::format("element {} is {}", *at, values[*at]));
  }
  return values;
}

template <class S>
Matrix<S> H5Reader::matrix(const std::string& dataset, const std::optional<H5Shape>& expected,
                           NonFinite non_finite) const {
  const std::vector<S> values = reals<S>(dataset, expected, non_finite);
  const H5Shape sizes = shape(dataset);
  const Index cols = sizes.empty() ? 1 : sizes.back();
  Index rows = 1;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) rows *= sizes[i];
  return Eigen::Map<const Matrix<S>>(values.data(), rows, cols);
}

std::vector<std::int64_t> H5Reader::integers(const std::string& dataset, const std::optional<H5Shape>& expected) const {
  return std::get<std::vector<std::int64_t>>(checked(*this, dataset, {H5Type::integer}, "integer", expected).values);
}

std::vector<std::string> H5Reader::texts(const std::string& dataset, const std::optional<H5Shape>& expected) const {
  return std::get<std::vector<std::string>>(checked(*this, dataset, {H5Type::text}, "text", expected).values);
}

template <class S>
std::optional<std::size_t> first_non_finite(std::span<const S> values) {
  const auto at = std::find_if(values.begin(), values.end(), [](S x) { return !std::isfinite(x); });
  if (at == values.end()) return std::nullopt;
  return static_cast<std::size_t>(at - values.begin());
}

template std::vector<float> H5Reader::reals(const std::string&, const std::optional<H5Shape>&, NonFinite) const;
template std::vector<double> H5Reader::reals(const std::string&, const std::optional<H5Shape>&, NonFinite) const;
template Matrix<float> H5Reader::matrix(const std::string&, const std::optional<H5Shape>&, NonFinite) const;
template Matrix<double> H5Reader::matrix(const std::string&, const std::optional<H5Shape>&, NonFinite) const;
template std::optional<std::size_t> first_non_finite(std::span<const float>);
template std::optional<std::size_t> first_non_finite(std::span<const double>);

}  // namespace nudge
