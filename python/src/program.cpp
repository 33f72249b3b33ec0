// SPDX-License-Identifier: Apache-2.0
// What the program's train, gradcheck and sweep do, with a callback of Python watching.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <filesystem>

#include "python/src/bindings.hpp"
#include "python/src/computing.hpp"
#include "python/src/lent.hpp"
#include "python/src/results.hpp"
#include "sim/base/build_info.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/run_record.hpp"
#include "training/compare/merge.hpp"
#include "training/config/config_table.hpp"
#include "training/gradcheck/gradcheck_file.hpp"
#include "training/spec/spec_json.hpp"
#include "training/sweep/sweep.hpp"
#include "training/sweep/sweep_file.hpp"
#include "training/train/train_json.hpp"
#include "training/train/train_run.hpp"

namespace nudge::python {
namespace {

using Texts = std::vector<std::string>;

/// Calls progress(event); false if it returns False, which stops the work. None and everything else go on.
bool told(const nb::object& progress, const nb::dict& event) {
  const nb::object answer = progress(event);
  return !answer.is(nb::handle(Py_False));
}

TrainObserver train_observer(Computing& computing, const nb::object& progress) {
  return [&computing, &progress](const TrainProgress& p) {
    if (progress.is_none() || !p.doing.empty()) return !computing.stop();
    return computing.call([&] { return told(progress, dict_of(json_of(p))); }) && !computing.stop();
  };
}

/// Trains a config into the file `out`. name: of the config in messages; own: Python parts (OwnParts); progress: called
/// after steps, or None.
nb::dict run_train(const std::string& name, const std::string& text, const Texts& settings, const std::string& out,
                   const nb::tuple& own, const nb::object& progress) {
  TrainSummary summary;
  const OwnParts parts(own);
  {
    Computing computing;
    const Lent lent(parts);
    const Config config = parse_program_config(name, text, settings);
    summary = train(config, out, train_observer(computing, progress));
    computing.finish();
  }
  return dict_of(json_of(summary));
}

/// Resumes the run of `file`. text: a config to compare, or None; own, progress: as in run_train().
nb::dict run_resume(const std::string& file, const std::optional<std::string>& text, const Texts& settings,
                    const nb::tuple& own, const nb::object& progress) {
  TrainSummary summary;
  const OwnParts parts(own);
  {
    Computing computing;
    const Lent lent(parts);
    std::optional<Config> config;
    if (text) config = parse_program_config("config", *text, settings);
    summary = resume(file, config ? &*config : nullptr, train_observer(computing, progress));
    computing.finish();
  }
  return dict_of(json_of(summary));
}

/// Thrown out of a gradcheck that is to stop; finish() says why.
struct Stopped {};

/// Checks gradients of a config and writes `out` if given. name, own, progress: as in run_train().
nb::dict run_gradcheck(const std::string& name, const std::string& text, const Texts& settings,
                       const std::optional<std::string>& out, const nb::tuple& own, const nb::object& progress) {
  const auto start = std::chrono::steady_clock::now();
  const std::string started = now_utc();
  GradcheckReport report;
  std::vector<std::byte> image;  // of what is recorded and goes to no file
  const OwnParts parts(own);
  {
    Computing computing;
    const Lent lent(parts);
    const Config config = parse_program_config(name, text, settings);
    if (out) check_output_path(*out, Overwrite::must_not_exist);
    const auto say = [&](const std::string& what) {
      const bool go_on = progress.is_none() || computing.call([&] {
        nb::dict event;
        event["event"] = "part";
        event["text"] = what;
        progress(event);
        return true;
      });
      if (!go_on || computing.stop()) throw Stopped{};
    };
    try {
      report = gradcheck(config, {}, say);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      if (out) write_gradcheck_file(report, config, started, seconds.count(), *out);
      if (!out && report.record) image = gradcheck_document(report, config, started, seconds.count()).bytes();
    } catch (const Stopped&) {
    }
    computing.finish();
  }
  nb::dict found = dict_of(json_of(report));
  found["image"] = nb::bytes(image.data(), image.size());
  return found;
}

SweepFiles point_files(const std::string& out, bool resumes, const std::string& shard) {
  SweepFiles files{out, resumes, {}};
  if (!shard.empty()) files.shard = read_shard(shard);
  return files;
}

/// Tells `progress` of every point that ends, and stops where Python was interrupted.
SweepObserver point_observer(Computing& computing, const nb::object& progress) {
  SweepObserver observer;
  observer.stop = [&computing] { return computing.stop(); };
  observer.finished = [&computing, &progress](const Sweep& all, const SweepPoint& point, std::size_t done) {
    if (progress.is_none()) return;
    computing.call([&] { return told(progress, dict_of(event_json(all, point, done))); });
  };
  return observer;
}

/// Runs a sweep into the file `out`. resumes: continue that file; shard: "2/4", or "" for all points. name, own,
/// progress: as in run_train().
nb::dict run_sweep_of(const std::string& name, const std::string& text, const Texts& settings, const std::string& out,
                      bool resumes, const std::string& shard, const nb::tuple& own, const nb::object& progress) {
  Sweep sweep;
  const OwnParts parts(own);
  {
    Computing computing;
    const Lent lent(parts);
    const SweepFiles files = point_files(out, resumes, shard);
    sweep = run_sweep({name, text, settings}, files, point_observer(computing, progress));
    computing.finish();
  }
  return dict_of(json_of(sweep));
}

/// Runs a specification into the file `out`; arguments as of run_sweep_of(). Adds "interrupted" and "waits" (SpecRun).
nb::dict run_spec_of(const std::string& name, const std::string& text, const Texts& settings, const std::string& out,
                     bool resumes, const std::string& shard, const nb::object& progress) {
  nlohmann::json found;
  {
    Computing computing;
    const SweepFiles files = point_files(out, resumes, shard);
    const SpecRun run = run_spec({name, text, settings}, files, point_observer(computing, progress));
    found = spec_json(run, spec_sheet(run));
    found["interrupted"] = run.interrupted;
    found["waits"] = run.waits;
    computing.finish();
  }
  return dict_of(found);
}

nb::dict merge(const Texts& files, const std::string& out, bool partial) {
  const std::vector<std::filesystem::path> inputs(files.begin(), files.end());
  const auto accept = partial ? MissingPoints::accept : MissingPoints::refuse;
  const MergeSummary merged = compute([&] { return merge_sweeps(inputs, out, accept); });
  nb::dict found;
  found["points"] = merged.points;
  found["finished"] = merged.finished;
  found["failed"] = merged.failed;
  found["outside"] = merged.outside;
  return found;
}

nb::dict build() {
  const BuildInfo& info = build_info();
  nb::dict out;
  out["version"] = info.version;
  out["revision"] = info.revision;
  out["compiler"] = compiler_and_flags();
  out["libraries"] = info.libraries;
  return out;
}

nb::list presets() {
  nb::list out;
  for (const Preset& preset : program_presets()) {
    nb::dict one;
    one["name"] = preset.name;
    one["doc"] = preset.doc;
    one["toml"] = preset.toml;
    out.append(one);
  }
  return out;
}

nb::list keys() {
  nb::list out;
  for (const std::string& key : Config(program_table()).keys()) out.append(key);
  return out;
}

}  // namespace

void bind_program(nb::module_& m) {
  using namespace nb::literals;
  m.def("train", run_train, "name"_a, "text"_a, "settings"_a, "out"_a, "own"_a, "progress"_a.none());
  m.def("resume", run_resume, "file"_a, "text"_a.none(), "settings"_a, "own"_a, "progress"_a.none());
  m.def("gradcheck", run_gradcheck, "name"_a, "text"_a, "settings"_a, "out"_a.none(), "own"_a, "progress"_a.none());
  m.def("sweep", run_sweep_of, "name"_a, "text"_a, "settings"_a, "out"_a, "resume"_a, "shard"_a, "own"_a,
        "progress"_a.none());
  m.def("spec", run_spec_of, "name"_a, "text"_a, "settings"_a, "out"_a, "resume"_a, "shard"_a, "progress"_a.none());
  m.def("merge", merge, "files"_a, "out"_a, "partial"_a);
  m.def(
      "resolve",
      [](const std::string& name, const std::string& text, const Texts& settings, const nb::tuple& own) {
        return compute(OwnParts(own),
                       [&] { return dump_toml(parse_program_config(name, text, settings), DumpComments::none); });
      },
      "name"_a, "text"_a, "settings"_a, "own"_a, "The whole config as TOML, checked.");
  m.def(
      "write_file",
      [](const std::string& path, const nb::bytes& contents) {
        write_atomically(path, {static_cast<const std::byte*>(contents.data()), contents.size()}, Overwrite::replace);
      },
      "path"_a, "contents"_a, "Writes a file as the program does, in the place of one that is there.");
  m.def("keys", keys, "All keys of a config.");
  m.def("presets", presets, "Returns name, doc and toml of every preset of a config.");
  m.def("build", build, "Returns version, revision, compiler and libraries of the program.");
}

}  // namespace nudge::python
