// SPDX-License-Identifier: Apache-2.0
// Reading attributes, and the meaning that datasets carry in them.
#include <fmt/format.h>

#include "sim/io/h5_reader_impl.hpp"
#include "sim/io/h5_scales.hpp"

namespace nudge {

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

}  // namespace

std::vector<std::string> H5Reader::attributes(const std::string& object) const {
  const H5Session session;
  const H5Handle owner = file_->open(object);
  std::vector<std::string> names;
  if (H5Aiterate2(owner.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_attribute, &names) < 0) {
    file_->fail_damaged(object);
  }
  std::vector<std::string> out;
  for (const auto& name : names) {
    const OpenAttribute open = open_attribute(owner.id(), name);
    if (open.ok() && open.single() && h5_type(open.type.id()) != H5Type::other) out.push_back(name);
  }
  return out;
}

bool H5Reader::has_attribute(const std::string& attribute, const std::string& object) const {
  const H5Session session;
  if (!file_->exists(object)) return false;
  return H5Aexists(file_->open(object).id(), attribute.c_str()) > 0;
}

H5Attribute H5Reader::attribute(const std::string& attribute, const std::string& object) const {
  const H5Session session;
  const H5Handle owner = file_->open(object);
  if (H5Aexists(owner.id(), attribute.c_str()) <= 0) fail(object, of(attribute) + "missing");
  const OpenAttribute open = open_attribute(owner.id(), attribute);
  if (!open.ok()) file_->fail_damaged(object);
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
  const H5Session session;
  const H5Handle owner = file_->open(object);
  std::vector<std::string> names, out;
  if (H5Aiterate2(owner.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_attribute, &names) < 0) {
    file_->fail_damaged(object);
  }
  for (const auto& name : names) {
    const OpenAttribute open = open_attribute(owner.id(), name);
    if (open.ok() && !open.single() && open.integer_list()) out.push_back(name);
  }
  return out;
}

std::vector<std::int64_t> H5Reader::integer_list_attribute(const std::string& name, const std::string& object) const {
  const H5Session session;
  const H5Handle owner = file_->open(object);
  if (H5Aexists(owner.id(), name.c_str()) <= 0) fail(object, of(name) + "missing");
  const OpenAttribute open = open_attribute(owner.id(), name);
  if (!open.ok()) file_->fail_damaged(object);
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
