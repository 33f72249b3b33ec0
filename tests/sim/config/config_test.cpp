// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "sim/base/errors.hpp"
#include "sim/config/config.hpp"
#include "sim/config/param_table.hpp"
#include "sim/io/h5_document.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace nudge;

namespace {

const ConfigSchema& schema() {
  static const ConfigSchema value{
      {param::text("preset", "", "Values to start from."), param::integer("seed", "1", at_least(0), "Seed."),
       param::choice("solver.kind", "euler", {"euler", "rk4"}, "Solver."),
       param::real("solver.abs_tolerance", "1e-6", above(0), "Tolerance."),
       param::integer("solver.steps", "24", between(1, 100), "Steps."),
       param::real("solver.fraction", "0.7", strictly_between(0, 1), "Step over the stability limit."),
       param::flag("solver.trace", "false", "Log each step."), param::text("devices.preset", "", "Values of a device."),
       param::quantity("devices.g_min", "0.1 uS", Unit::siemens, above(0), "Smallest conductance."),
       param::quantity("devices.g_max", "25 uS", Unit::siemens, above(0), "Largest conductance.", "measured"),
       param::path("data.text", "", "Text file."),
       param::texts("check.names", "ep, aep", {"ep", "aep", "bptt"}, "Estimators."),
       param::reals("check.betas", "[0.1, 1e-4]", above(0), "Nudges."),
       param::integers("sweep.seeds", "1", at_least(0), "Seeds."), param::grid("sweep.grid", "Axes.")},
      {{{"devices.g_max", "devices.g_min"},
        [](const Config& c) {
          if (c.real("devices.g_max") > c.real("devices.g_min")) return std::string();
          return "must be > devices.g_min = " + c.as_text("devices.g_min");
        }}},
      {{"preset",
        [](const std::string& name) -> std::string {
          if (name == "small") return "solver.steps = 5\nseed = 7\ndevices.preset = 'big'\n";
          throw UserError("unknown preset " + name + " (known: small)");
        }},
       {"devices.preset", [](const std::string&) { return "devices.g_max = '1 mS'"; }}}};
  return value;
}

Config parse(const std::string& text, const std::vector<std::string>& settings = {}) {
  return parse_config(schema(), "run.toml", text, settings);
}

std::string error_of(const std::string& text, const std::vector<std::string>& settings = {}) {
  try {
    parse(text, settings);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("an empty file gives the defaults in SI units") {
  const Config config = parse("");
  CHECK(config.integer("seed") == 1);
  CHECK(config.text("solver.kind") == "euler");
  CHECK(config.real("solver.abs_tolerance") == 1e-6);
  CHECK_FALSE(config.flag("solver.trace"));
  CHECK(config.real("devices.g_max") == 25e-6);
  CHECK(config.texts("check.names") == std::vector<std::string>{"ep", "aep"});
  CHECK(config.reals("check.betas") == std::vector<double>{0.1, 1e-4});
  CHECK(config.integers("sweep.seeds") == std::vector<std::int64_t>{1});
  CHECK(config.grid("sweep.grid").empty());
  CHECK(config.origin("seed").where == "default");
}

TEST_CASE("defaults < preset < file < --set, and every value knows where it is from") {
  const Config config = parse("preset = 'small'\nseed = 9\n[solver]\nkind = \"rk4\"\n", {"solver.kind=euler"});
  CHECK(config.integer("solver.steps") == 5);
  CHECK(config.origin("solver.steps").where == "preset small:1:8");
  CHECK(config.integer("seed") == 9);
  CHECK(config.origin("seed").where == "run.toml:2:1");
  CHECK(config.text("solver.kind") == "euler");
  CHECK(config.origin("solver.kind").where == "--set");
  CHECK(config.origin("solver.kind").layer == Layer::option);
  CHECK(config.real("devices.g_max") == 1e-3);  // the first preset names the second
  CHECK(config.origin("devices.g_max").where == "devices.preset big:1:9");
  CHECK(parse("preset = 'small'", {"devices.preset="}).real("devices.g_max") == 25e-6);
  CHECK(parse("preset = 'small'", {"preset="}).integer("seed") == 1);
  CHECK(parse("", {"preset=small"}).integer("seed") == 7);
  CHECK(error_of("preset = 'big'") == "unknown preset big (known: small)");
}

TEST_CASE("reals take integers, floats and texts with units") {
  CHECK(parse("[solver]\nabs_tolerance = 1").real("solver.abs_tolerance") == 1.0);
  CHECK(parse("[solver]\nfraction = '70 %'").real("solver.fraction") == 0.7);
  CHECK(parse("[devices]\ng_max = 30e-6").real("devices.g_max") == 30e-6);
  CHECK(parse("devices.g_max = '30 uS'").real("devices.g_max") == 30e-6);
}

TEST_CASE("each kind of mistake has its place and its rule") {
  CHECK(error_of("seed = 1e3") ==
        "run.toml:1:8: seed = 1000 (must be a whole number, without point, exponent or quotes)");
  CHECK(error_of("seed = '3'") ==
        "run.toml:1:8: seed = \"3\" (must be a whole number, without point, exponent or quotes)");
  CHECK(error_of("seed = -1") == "run.toml:1:8: seed = -1 (must be >= 0)");
  CHECK(error_of("\n[solver]\n  steps = 101\n") == "run.toml:3:11: solver.steps = 101 (must be in [1, 100])");
  CHECK(error_of("[solver]\nfraction = 1.0") == "run.toml:2:12: solver.fraction = 1 (must be in (0, 1))");
  CHECK(error_of("[solver]\nfraction = nan") == "run.toml:2:12: solver.fraction = nan (must be a finite number)");
  CHECK(error_of("[solver]\nfraction = true") == "run.toml:2:12: solver.fraction = true (must be a number)");
  CHECK(error_of("[solver]\nfraction = 1979-05-27") ==
        "run.toml:2:12: solver.fraction = 1979-05-27 (must be a number)");
  CHECK(error_of("[devices]\ng_max = \"25 us\"") ==
        "run.toml:2:9: devices.g_max = \"25 us\" (\"us\" is seconds (s); expected siemens (S), like \"25 uS\")");
  CHECK(error_of("[devices]\ng_max = \"-1 uS\"") == "run.toml:2:9: devices.g_max = \"-1 uS\" (must be > 0 S)");
  CHECK(error_of("[solver]\nkind = 'eular'") ==
        "run.toml:2:8: solver.kind = \"eular\" (must be one of euler, rk4; did you mean euler?)");
  CHECK(error_of("[solver]\nkind = 4") == "run.toml:2:8: solver.kind = 4 (must be a text in quotes)");
  CHECK(error_of("[solver]\ntrace = 'true'") ==
        "run.toml:2:9: solver.trace = \"true\" (must be true or false, without quotes)");
  CHECK(error_of("check.names = 'ep'") == "run.toml:1:15: check.names = \"ep\" (must be a list, like [a, b])");
  CHECK(error_of("check.betas = [0.1, 0, 'x']") ==
        "run.toml:1:21: check.betas[1] = 0 (must be > 0)\n"
        "run.toml:1:24: check.betas[2] = \"x\" (not a number; expected a pure number, like \"0.3\" or \"5 %\")");
  CHECK(error_of("solver = 3") == "run.toml:1:10: solver = 3 (solver is a section: write [solver])");
  CHECK_THAT(error_of("[seed]"), Catch::StartsWith("run.toml:1:1: seed = a table (must be a whole number"));
}

TEST_CASE("an unknown key suggests the nearest one") {
  CHECK(error_of("[solver]\nabs_tolernce = 1") ==
        "run.toml:2:1: unknown key solver.abs_tolernce (did you mean abs_tolerance?)");
  CHECK(error_of("steps = 3") == "run.toml:1:1: unknown key steps (did you mean solver.steps?)");
  CHECK(error_of("[solvr]\nstepz = 3") == "run.toml:2:1: unknown key solvr.stepz (did you mean solver.steps?)");
  CHECK(error_of("[data]\nlanguage = 'en'") == "run.toml:2:1: unknown key data.language (data has: text)");
  CHECK(error_of("[train]") ==
        "run.toml:1:2: unknown section train (sections: solver, devices, data, check, sweep; keys outside sections: "
        "preset, seed)");
}

TEST_CASE("every problem of file, rules and --set comes in one error, in order") {
  CHECK(error_of("sed = 1\n[solver]\nsteps = 0\n[devices]\ng_min = '30 uS'\n",
                 {"seed=x", "nonsense", "solver.kind=rk5"}) ==
        "run.toml:1:1: unknown key sed (did you mean seed?)\n"
        "run.toml:3:9: solver.steps = 0 (must be in [1, 100])\n"
        "--set: seed = \"x\" (must be a whole number, without point, exponent or quotes)\n"
        "--set nonsense: must be key=value, as in --set train.steps=500\n"
        "--set: solver.kind = \"rk5\" (must be one of euler, rk4; did you mean rk4?)\n"
        "run.toml:5:1: devices.g_max = 25 uS (must be > devices.g_min = 30 uS)");
  // A rule is not checked on a key that has a problem of its own.
  CHECK(error_of("devices.g_min = '30 us'").find("must be >") == std::string::npos);
}

TEST_CASE("a syntax error names file, line and column") {
  CHECK_THAT(error_of("seed = 1\nsolver = [1, \n"), Catch::StartsWith("run.toml:2:15: "));
  CHECK_THAT(error_of("seed = 1\nseed = 2\n"), Catch::StartsWith("run.toml:2:"));
  CHECK_THAT(error_of("seed = \xff\n"), Catch::StartsWith("run.toml:1:7: "));
  CHECK_THAT(error_of("[ $]\n"), Catch::StartsWith("run.toml:1:3: "));  // toml++'s assertions do not end the program
}

TEST_CASE("text after --set is read as the kind of its key") {
  const Config config = parse(
      "", {"seed=3", "solver.trace=true", "devices.g_max=30 uS", "data.text=a b.txt", "check.names=[ep, \"bptt\"]",
           "check.betas=1e-3,2", "sweep.seeds=[]", "solver.kind=\"rk4\"", "solver.fraction=5e-1"});
  CHECK(config.integer("seed") == 3);
  CHECK(config.flag("solver.trace"));
  CHECK(config.real("devices.g_max") == 30e-6);
  CHECK(config.text("data.text") == "a b.txt");
  CHECK(config.texts("check.names") == std::vector<std::string>{"ep", "bptt"});
  CHECK(config.reals("check.betas") == std::vector<double>{1e-3, 2.0});
  CHECK(config.integers("sweep.seeds").empty());
  CHECK(config.text("solver.kind") == "rk4");
  CHECK(parse("", {"devices.g_max=\"30 uS\""}).real("devices.g_max") == 30e-6);
  CHECK(error_of("", {"seed=1e3"}) == "--set: seed = 1000 (must be a whole number, without point, exponent or quotes)");
  CHECK(error_of("", {"sed=1"}) == "--set: unknown key sed (did you mean seed?)");
  CHECK(error_of("", {"solver.trace=yes"}) == "--set: solver.trace = \"yes\" (must be true or false, without quotes)");
}

TEST_CASE("a grid names keys of the table and checks each value as that key") {
  const Config config = parse("[sweep.grid]\n\"devices.g_max\" = ['30 uS', 40e-6]\nsolver.steps = [3, 4]\n",
                              {"sweep.grid.solver.kind=euler,rk4", "sweep.grid.solver.steps=[5]"});
  const std::vector<GridAxis> expected = {
      {"devices.g_max", {"30 uS", "40 uS"}}, {"solver.steps", {"5"}}, {"solver.kind", {"euler", "rk4"}}};
  CHECK(config.grid("sweep.grid") == expected);
  CHECK(error_of("[sweep.grid]\n\"devices.g_mx\" = [1]") ==
        "run.toml:2:18: sweep.grid.devices.g_mx = [1] (unknown key devices.g_mx; did you mean g_max?)");
  CHECK(
      error_of("[sweep.grid]\n\"solver.steps\" = [3, 0, 'x']") ==
      "run.toml:2:22: sweep.grid.solver.steps[1] = 0 (must be in [1, 100])\n"
      "run.toml:2:25: sweep.grid.solver.steps[2] = \"x\" (must be a whole number, without point, exponent or quotes)");
  CHECK(error_of("[sweep.grid]\n\"solver.steps\" = 3") ==
        "run.toml:2:18: sweep.grid.solver.steps = 3 (must be a list of at least one value, like [a, b])");
  CHECK(error_of("[sweep.grid]\n\"sweep.seeds\" = [3]") ==
        "run.toml:2:17: sweep.grid.sweep.seeds = [3] (sweep.seeds cannot be swept)");
}

TEST_CASE("a dump is deterministic and reads back to the same values") {
  const Config config = parse(
      "seed = 3\n[data]\ntext = \"C:\\\\dir \\\"x\\\" \u00e9\\n\\t\\u0001\"\n[sweep.grid]\n\"solver.steps\" = [3, 4]\n",
      {"solver.abs_tolerance=0.1234567890123456789", "devices.g_max=33.333333333333336 uS", "check.names=[]"});
  for (const DumpComments comments : {DumpComments::none, DumpComments::documented}) {
    const std::string dump = dump_toml(config, comments);
    const Config again = parse_config(schema(), "dump", dump);
    CHECK(difference(config, again).empty());
    CHECK(dump_toml(again, comments) == dump);
    CHECK(again.real("devices.g_max") == config.real("devices.g_max"));
    CHECK(again.grid("sweep.grid") == config.grid("sweep.grid"));
    CHECK(again.text("data.text") == config.text("data.text"));
  }
  CHECK_THAT(dump_toml(config), Catch::Contains("# Largest conductance. (quantity in S > 0 S)\ng_max = \"33.3"));
  CHECK_THAT(dump_toml(config, DumpComments::none),
             Catch::StartsWith("preset = \"\"\nseed = 3\n\n[solver]\nkind = \"eu"));
}

TEST_CASE("set_from_text(as_text) changes nothing") {
  Config config = parse("data.text = '\"q\"'\n[sweep]\nseeds = [3, 5]\n");
  Config copy(schema().table);
  for (const std::string& key : config.keys()) {
    if (key != "sweep.grid") copy.set_from_text(key, config.as_text(key));
  }
  CHECK(difference(config, copy).empty());
}

TEST_CASE("difference lists the keys that differ") {
  const auto changes = difference(parse("seed = 3"), parse("", {"devices.g_max=30 uS"}));
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].key == "seed");
  CHECK(changes[0].first == "3");
  CHECK(changes[0].second == "1");
  CHECK(changes[1].first == "25 uS");
  CHECK(changes[1].second == "30 uS");
}

TEST_CASE("rules can be checked again after a change") {
  Config config = parse("");
  CHECK(broken_rules(schema(), config).empty());
  config.set_from_text("devices.g_min", "1 mS");
  CHECK(broken_rules(schema(), config) ==
        std::vector<std::string>{"--set: devices.g_max = 25 uS (must be > devices.g_min = 1 mS)"});
}

TEST_CASE("asking for what the table does not have is a bug of ours") {
  const Config config = parse("");
  CHECK_THROWS_AS(config.integer("seeds"), ContractViolation);
  CHECK_THROWS_AS(config.real("seed"), ContractViolation);
  const ParamTable twice = {param::flag("a", "true", ""), param::flag("a", "true", "")};
  CHECK_THROWS_AS(Config(twice), ContractViolation);
  const ParamTable bad_default = {param::integer("a", "0", at_least(1), "")};
  CHECK_THROWS_AS(Config(bad_default), ContractViolation);
}

TEST_CASE("a file that cannot be read is the user's error") {
  CHECK_THROWS_WITH(load_config(schema(), "/nonexistent/run.toml"),
                    "/nonexistent/run.toml: cannot read the config: No such file or directory");
  CHECK_THROWS_WITH(load_config(schema(), "/"), "/: is a directory, not a TOML file");
  const test::TemporaryDirectory dir;
  H5Document document;
  document.attribute("kind", std::string("train"));
  document.write(dir / "run.h5", Overwrite::must_not_exist);
  CHECK_THROWS_WITH(load_config(schema(), dir / "run.h5"),
                    Catch::Contains("is an HDF5 file") && Catch::Contains("--resume"));
}

TEST_CASE("the reference lists every key") {
  const std::string markdown = describe_table(schema().table);
  CHECK_THAT(markdown,
             Catch::Contains("| `devices.g_max` | 25 uS | quantity in S > 0 S | Largest conductance. [measured] |"));
  const std::string help = help_text(schema().table);
  for (const ParamRow& row : schema().table) {
    CHECK_THAT(markdown, Catch::Contains("`" + row.key + "`"));
    CHECK_THAT(help, Catch::Contains(row.key + " = "));
  }
}

TEST_CASE("a zero that is a decision is written as its word, and an older 0 still means it") {
  const ConfigSchema words{
      {param::zero_is("auto", param::real("step", "0", at_least(0), "Step.")),
       param::zero_is("ideal", param::integer("bits", "8", zero_or_between(2, 24), "Resolution.")),
       param::zero_is("unknown", param::quantity("energy", "0 J", Unit::joule, at_least(0), "Of a read.")),
       param::grid("sweep.grid", "Axes.")},
      {},
      {}};
  const auto read = [&](const std::string& text, const std::vector<std::string>& settings = {}) {
    return parse_config(words, "words.toml", text, settings);
  };
  const Config defaults = read("");
  CHECK(defaults.real("step") == 0);
  CHECK(defaults.as_text("step") == "auto");
  CHECK(defaults.as_text("energy") == "unknown");
  CHECK(defaults.as_text("bits") == "8");
  CHECK(read("bits = 'ideal'").integer("bits") == 0);
  CHECK(read("", {"bits=ideal"}).integer("bits") == 0);
  CHECK(read("", {"bits=\"ideal\""}).integer("bits") == 0);  // in quotes, as in a file
  CHECK_THROWS_WITH(read("", {"bits=\"8\""}), Catch::Contains("without point, exponent or quotes"));
  CHECK(read("bits = 0\nstep = 0").as_toml("bits") == "\"ideal\"");
  CHECK(read("step = 0.5").as_text("step") == "0.5");
  CHECK(difference(read("step = 0\nbits = 'ideal'"), read("step = 'auto'\nbits = 0")).empty());
  const Config back = read(dump_toml(read("bits = 'ideal'\nenergy = '2 pJ'"), DumpComments::documented));
  CHECK(back.integer("bits") == 0);
  CHECK(back.real("energy") == 2e-12);
  // As values of an axis, too.
  const Config swept = read("[sweep.grid]\nbits = [4, 'ideal']\nstep = ['auto', 0.5]");
  CHECK(swept.grid("sweep.grid")[0].values == std::vector<std::string>{"4", "ideal"});
  CHECK(swept.grid("sweep.grid")[1].values == std::vector<std::string>{"auto", "0.5"});
  CHECK_THROWS_WITH(read("bits = 'none'"),
                    Catch::Contains("bits = \"none\" (must be a whole number") && Catch::Contains("or ideal"));
  CHECK_THROWS_WITH(read("bits = 1"), Catch::Contains("or ideal"));
  CHECK_THROWS_WITH(read("energy = 'auto'"), Catch::Contains("or unknown"));
  const std::string reference = describe_table(words.table);
  CHECK_THAT(reference, Catch::Contains("| `step` | auto | auto or number > 0 |"));
  CHECK_THAT(reference, Catch::Contains("| `bits` | 8 | ideal or whole number in [2, 24] |"));
}

TEST_CASE("a word beside all numbers from 0 on stands for the least of a range from below 0") {
  const ConfigSchema words{{param::zero_is("seed", param::integer("split", "0", at_least(-1), "Seed of the split.")),
                            param::grid("sweep.grid", "Axes.")},
                           {},
                           {}};
  const auto read = [&](const std::string& text, const std::vector<std::string>& settings = {}) {
    return parse_config(words, "words.toml", text, settings);
  };
  CHECK(read("").integer("split") == 0);
  CHECK(read("").as_toml("split") == "0");  // a number like others
  CHECK(read("split = 'seed'").integer("split") == -1);
  CHECK(read("", {"split=seed"}).as_toml("split") == "\"seed\"");
  CHECK(read(dump_toml(read("split = 'seed'"))).integer("split") == -1);
  CHECK(read("[sweep.grid]\nsplit = [0, 'seed', 3]").grid("sweep.grid")[0].values ==
        std::vector<std::string>{"0", "seed", "3"});
  CHECK_THROWS_WITH(read("split = -1"), Catch::Contains("must be >= 0, or seed"));
  CHECK_THAT(describe_table(words.table), Catch::Contains("| `split` | 0 | seed or whole number >= 0 |"));
}
