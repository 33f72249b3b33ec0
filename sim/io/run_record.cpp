// SPDX-License-Identifier: Apache-2.0
#include "sim/io/run_record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "sim/base/build_info.hpp"
#include "sim/base/product.hpp"

namespace nudge {

namespace {

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

MachineFacts machine_facts() {
  utsname system{};
  const bool known = ::uname(&system) == 0;
  return {cpu_model(), static_cast<int>(std::thread::hardware_concurrency()),
          known ? fmt::format("{} {} {}", system.sysname, system.release, system.machine) : "unknown"};
}

std::string now_utc() {
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

void add_run_record(H5Document& document, const RunRecord& record) {
  const MachineFacts machine = machine_facts();
  document.attribute("kind", record.kind);
  document.attribute("config", record.config);
  if (!record.inputs.empty()) document.attribute("inputs", record.inputs);
  document.attribute("seed", record.seed);
  document.attribute("precision", record.precision);
  document.attribute("threads", std::int64_t{record.threads});
  document.attribute("started", record.started);
  document.attribute("wall_time_s", record.wall_time_s);
  document.attribute("nudge_version", version_and_revision());
  document.attribute("compiler", compiler_and_flags());
  document.attribute("libraries", build_info().libraries);
  document.attribute("products", product_kernel_name());
  document.attribute("machine",
                     fmt::format("{}, {} logical processors, {}", machine.cpu_model, machine.cores, machine.system));
}

}  // namespace nudge
