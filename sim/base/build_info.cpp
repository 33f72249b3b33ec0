// SPDX-License-Identifier: Apache-2.0
#include "sim/base/build_info.hpp"

#include <H5public.h>
#include <fmt/format.h>

#include <Eigen/Core>
#include <boost/version.hpp>

// NUDGE_VERSION, NUDGE_REVISION, NUDGE_BUILD_TYPE and NUDGE_ARCHITECTURE are set for this file by CMake.
namespace nudge {
namespace {

std::string compiler_name() {
#ifdef __clang__
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

#ifdef NUDGE_CONTRACTS
constexpr bool contracts_on = true;
#else
constexpr bool contracts_on = false;
#endif

}  // namespace

const BuildInfo& build_info() {
  static const BuildInfo info{
      NUDGE_VERSION,
      NUDGE_REVISION,
      compiler_name(),
      NUDGE_BUILD_TYPE,
      NUDGE_ARCHITECTURE,
      fmt::format("Eigen {}.{}.{}, HDF5 {}.{}.{}, Boost {}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
                  EIGEN_MINOR_VERSION, H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE, BOOST_VERSION / 100000,
                  BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100),
      contracts_on};
  return info;
}

std::string version_and_revision() {
  const BuildInfo& info = build_info();
  return info.revision.empty() ? info.version : fmt::format("{} ({})", info.version, info.revision);
}

std::string compiler_and_flags() {
  const BuildInfo& info = build_info();
  std::string text = fmt::format("{}, {}", info.compiler, info.build_type);
  if (!info.architecture.empty()) text += ", -march=" + info.architecture;
  if (info.contracts) text += ", contracts on";
  return text;
}

}  // namespace nudge
