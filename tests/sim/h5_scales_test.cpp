// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <hdf5.h>

#include "sim/io/h5_document.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace nudge;

namespace {

std::string text_of(hid_t object, const char* name) {
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  REQUIRE(attribute >= 0);
  const hid_t type = H5Aget_type(attribute);
  std::string text(H5Tget_size(type), '\0');
  REQUIRE(H5Aread(attribute, type, text.data()) >= 0);
  H5Tclose(type);
  H5Aclose(attribute);
  return text.c_str();
}

/// Paths of the scales of a dataset, as HDF5's dimension-scale interface finds them: DIMENSION_LIST holds for every dimension a
/// list of references.
std::vector<std::string> scales_of(hid_t file, const char* dataset) {
  const hid_t data = H5Dopen2(file, dataset, H5P_DEFAULT);
  REQUIRE(data >= 0);
  std::vector<std::string> out;
  if (H5Aexists(data, "DIMENSION_LIST") > 0) {
    const hid_t attribute = H5Aopen(data, "DIMENSION_LIST", H5P_DEFAULT), space = H5Aget_space(attribute),
                type = H5Aget_type(attribute);
    std::vector<hvl_t> lists(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    REQUIRE(H5Aread(attribute, type, lists.data()) >= 0);
    for (const hvl_t& list : lists) {
      REQUIRE(list.len == 1);
      const hid_t scale = H5Rdereference2(data, H5P_DEFAULT, H5R_OBJECT, list.p);
      std::string name(100, '\0');
      name.resize(static_cast<std::size_t>(H5Iget_name(scale, name.data(), name.size())));
      CHECK(text_of(scale, "CLASS") == "DIMENSION_SCALE");
      CHECK(H5Aexists(scale, "REFERENCE_LIST") > 0);
      out.push_back(name);
      H5Oclose(scale);
    }
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, lists.data());
    H5Tclose(type);
    H5Sclose(space);
    H5Aclose(attribute);
  }
  H5Dclose(data);
  return out;
}

using Names = std::vector<std::string>;

TEST_CASE("dimensions have scales: an axis of the group, a dataset of their name, or a bare one in the root", "[io]") {
  const test::TemporaryDirectory dir;
  H5Document document;
  const std::vector<double> three(3, 1.0), two(2, 1.0);
  document.column("train/step", three, {"1", "axis", {"entry"}});
  document.column("train/loss", three, {"nat", "over the axis", {"entry"}});
  document.attribute("x", "train/step", "train/step");
  document.attribute("x", "train/step", "train/loss");
  document.column("train/other", two, {"1", "of another length", {"entry"}});
  document.column("devices/pulses", three, {"1", "over an axis of another group", {"entry"}});
  document.attribute("x", "train/step", "devices/pulses");
  document.column("rows/estimator", std::vector<std::string>{"ep", "aep"}, {"1", "names", {"estimator"}});
  document.column("rows/cosine", two, {"1", "by name", {"estimator"}});
  document.dataset("parameters/a", std::vector<float>(6), {2, 3}, {"1", "a matrix", {"input", "output"}});
  document.dataset("parameters/b", std::vector<float>(9), {3, 3}, {"1", "another", {"input", "output"}});
  document.column("parameters/c", three, {"1", "a name with a space", {"parameter group"}});
  document.dataset("parameters/none", std::vector<float>(4), {2, 2}, {"1", "no labels", {}});
  document.write(dir / "a.h5", Overwrite::must_not_exist);

  const hid_t file = H5Fopen((dir / "a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  REQUIRE(file >= 0);
  CHECK(scales_of(file, "train/loss") == Names{"/train/step"});
  CHECK(scales_of(file, "train/step").empty());  // a scale has none
  CHECK(scales_of(file, "train/other") == Names{"/entry"});
  CHECK(scales_of(file, "devices/pulses") == Names{"/step_3"});  // "step" is a dataset elsewhere
  CHECK(scales_of(file, "rows/cosine") == Names{"/rows/estimator"});
  CHECK(scales_of(file, "parameters/a") == Names{"/input_2", "/output"});
  CHECK(scales_of(file, "parameters/b") == Names{"/input_3", "/output"});
  CHECK(scales_of(file, "parameters/c") == Names{"/parameter_group"});
  CHECK(scales_of(file, "parameters/none").empty());
  const hid_t bare = H5Dopen2(file, "/output", H5P_DEFAULT);
  CHECK(text_of(bare, "NAME") == "This is a netCDF dimension but not a netCDF variable.         3");
  CHECK(H5Dget_storage_size(bare) == 0);
  H5Dclose(bare);
  H5Fclose(file);

  const H5Reader reader(dir / "a.h5");
  CHECK(reader.datasets().empty());  // bare scales are no data
  CHECK(reader.all_datasets().size() == 10);
  CHECK(reader.meaning("parameters/a").dimensions == Names{"input", "output"});
}

}  // namespace
