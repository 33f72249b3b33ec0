// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/sweep_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/parallel.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_options.hpp"
#include "training/config/stored_config.hpp"
#include "training/sweep/point_table.hpp"

namespace nudge {

SweepFile::SweepFile(const SweepFiles& files, const Config& base)
    : files_(files), overwrite_(files.resume ? Overwrite::replace : Overwrite::must_not_exist) {
  record_ = record_of("sweep", base);
}

void SweepFile::expect_same_config(const H5Reader& file, const SweepGrid& grid) const {
  if (file.text_attribute("kind") == "sweep") {
    const std::string keys = fmt::format("{}", fmt::join(grid.sweep.keys, ", "));
    const std::string stored = file.text_attribute("keys", file.has("points") ? "points" : plan_group("points"));
    if (stored != keys) {
      file.fail("attribute keys",
                fmt::format("the file sweeps {}, the config {} (seeds and values of the axes may change, "
                            "the axes may not: start a new sweep with --out)",
                            stored, keys));
    }
  }
  expect_stored_config(file, "sweep", grid.base, [](const std::string& key) {
    return key.starts_with("sweep.") && key != "sweep.run" && key != "sweep.test";
  });
}

void SweepFile::restore(Stored kept, SweepGrid& grid) {
  const H5Reader file(files_.output);
  expect_same_config(file, grid);
  record_.started = file.text_attribute("started");
  earlier_ = file.real_attribute("wall_time_s");
  take_stored_points(file, "points", kept, grid.sweep);
}

H5Document SweepFile::document(const Sweep& sweep) const {
  H5Document document;
  add_run_record(document, record_);
  document.attribute("points_total", static_cast<std::int64_t>(sweep.points.size()));
  if (sweep.shard.count > 1) document.attribute("shard", sweep.shard.text());
  if (sweep.lines) write_text_lines(*sweep.lines, document);
  if (sweep.references) write_reference_scores(*sweep.references, document);
  write_points(document, "points", sweep);
  return document;
}

std::size_t SweepFile::bytes(const Sweep& sweep) const { return document(sweep).bytes().size(); }

void SweepFile::write(const Sweep& sweep) {
  record_.wall_time_s = earlier_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  document(sweep).write(files_.output, overwrite_);
  overwrite_ = Overwrite::replace;
}

}  // namespace nudge
