// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "sim/io/h5_reader.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const char* const kConfig =
    "[model]\nmixer = 'loop_elastic'\nchannels = 8\ntokens = 6\nheads = 2\n[mixer]\niterations = 4\n[train]\nbatch = "
    "3\n";

}  // namespace

TEST_CASE("energy logs F* per iteration, token and sequence", "[apps]") {
  const Folder folder;
  folder.write("loop.toml", kConfig);
  const Outcome run = run_nudge(folder, "energy loop.toml --out e.h5");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, Contains("mean F*") && Contains("tokens risen") && Contains("e.h5"));
  const H5Reader file(folder.file("e.h5"));
  CHECK(file.text_attribute("kind") == "energy");
  CHECK(file.shape("energy") == H5Shape{5, 3, 6});
  CHECK(file.reals<double>("mean").size() == 5);
  CHECK(run_nudge(folder, "info e.h5").exit_code == 0);
  CHECK(run_nudge(folder, "energy loop.toml --out e.h5").exit_code == 2);  // never overwrites
  const auto json = nlohmann::json::parse(run_nudge(folder, "energy loop.toml --json").output);
  CHECK(json["mean"].size() == 5);
}

TEST_CASE("energy: a mixer without one is the user's error, a run-away a numerical failure", "[apps]") {
  const Folder folder;
  folder.write("loop.toml", kConfig);
  const Outcome none = run_nudge(folder, "energy loop.toml --set model.mixer=fem_softmax");
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.errors, Contains("fem_softmax") && Contains("loop_elastic"));
  // What another network or task would have to change is its kind: it does not read model.mixer, nor is the text its task.
  const Outcome network = run_nudge(folder, "energy loop.toml --set network.kind=transformer");
  CHECK(network.exit_code == 2);
  CHECK_THAT(network.errors, Contains("network.kind = transformer") && Contains("network.kind = block"));
  const Outcome task = run_nudge(folder, "energy loop.toml --set model.tokens=20 --set task.kind=memorization");
  CHECK(task.exit_code == 2);
  CHECK_THAT(task.errors, Contains("task.kind = memorization") && Contains("task.kind = characters"));
  const Outcome away = run_nudge(folder,
                                 "energy loop.toml --set model.mixer=linattn --set model.heads=1 "
                                 "--set mixer.initial_scale=3 --set mixer.iterations=9");
  CHECK(away.exit_code == 3);
  CHECK_THAT(away.errors, Contains("the iteration diverges"));
}

TEST_CASE("mixers refuse bad sizes through every door, exit 2", "[apps]") {
  const Folder folder;
  folder.write("loop.toml", kConfig);
  const auto refuses = [&](const std::string& command, const std::string& word) {
    const Outcome outcome = run_nudge(folder, command);
    CAPTURE(command, outcome.errors);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.errors, Contains(word));
  };
  for (const std::string door : {"energy", "train", "gradcheck", "config check"}) {
    const std::string base = door + " loop.toml" + (door == "train" ? " --out t.h5" : "");
    refuses(base + " --set model.mixer=mha --set mixer.rope=true --set mixer.head_width=3", "odd");
    refuses(base + " --set model.heads=3", "must divide");
    refuses(base + " --set mixer.window=-1", "mixer.window");
    refuses(base + " --set mixer.temperature=0", "mixer.temperature");
  }
  folder.write("latent.toml",
               "[network]\nkind = 'free_transformer'\n[task]\nkind = 'latent'\n[latent]\nbits = 3\n"
               "[model]\nchannels = 8\nheads = 2\ntokens = 66\n");
  for (const std::string door : {"train latent.toml --out t.h5", "config check latent.toml"}) {
    refuses(door + " --set latent.bits=21", "latent.bits");
    refuses(door + " --set latent.free_bits=-1", "latent.free_bits");
    refuses(door + " --set model.heads=8", "odd");
    refuses(door + " --set model.heads=3", "must divide");
    refuses(door + " --set sequence.blocks=3", "layers = 3");
  }
}
