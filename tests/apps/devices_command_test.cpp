// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/columns.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

TEST_CASE("devices characterize writes a self-describing file and prints what it measured", "[apps]") {
  const Folder folder;
  const Outcome run = run_nudge(folder, "devices characterize pcm --devices 20 --samples 64 --out pcm.h5");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, Contains("pulses to half window") && Contains("exponent") && Contains("written: pcm.h5"));
  const Outcome info = run_nudge(folder, "info pcm.h5");
  CHECK(info.exit_code == 0);
  CHECK_THAT(info.output, Contains("staircase/conductance") && Contains("drift/exponent") && Contains("spectrum"));
  // It never overwrites, and says so before measuring.
  CHECK(run_nudge(folder, "devices characterize pcm --out pcm.h5").exit_code == 2);
  const Outcome json = run_nudge(folder, "devices characterize ecram --devices 20 --samples 64 --json");
  CHECK(nlohmann::json::parse(json.output)["model"] == "linear_step");
}

TEST_CASE("devices characterize refuses bad input with exit code 2", "[apps]") {
  const Folder folder;
  const Outcome unknown = run_nudge(folder, "devices characterize ecramm");
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.errors, Contains("did you mean ecram?"));
  const Outcome unit = run_nudge(folder, "devices characterize ecram --interval '1 V'");
  CHECK(unit.exit_code == 2);
  CHECK_THAT(unit.errors, Contains("--interval \"1 V\"") && Contains("seconds"));
  CHECK(run_nudge(folder, "devices characterize ecram --seed -1").exit_code == 2);
  CHECK(run_nudge(folder, "devices characterize ecram --devices 0").exit_code == 2);
}

TEST_CASE("devices spice writes a netlist of the mean device, once, and refuses what it cannot move") {
  const Folder folder;
  const Outcome out = run_nudge(folder, "devices spice ecram --pulses '3 up, 2 down' --out ecram.cir");
  CHECK(out.exit_code == 0);
  CHECK_THAT(out.output, Contains("ngspice -b ecram.cir"));
  CHECK_THAT(run_nudge(folder, "devices spice ecram --pulses '3 up'").output,
             Contains(".subckt device p n x") && Contains("print g1"));
  CHECK(run_nudge(folder, "devices spice ecram --out ecram.cir").exit_code == 2);
  const Outcome blocks = run_nudge(folder, "devices spice ecram --pulses sideways");
  CHECK(blocks.exit_code == 2);
  CHECK_THAT(blocks.errors, Contains("100 up, 50 down"));
  CHECK(run_nudge(folder, "devices spice ideal").exit_code == 2);
}

TEST_CASE("devices fit turns measured pulses into a configuration", "[apps]") {
  const Folder folder;
  std::string csv = "pulse,conductance,direction\n0,2 uS,\n";
  double g = 2;
  for (int i = 1; i <= 80; ++i) {
    g += i <= 40 ? 0.1 * (12 - g) : -0.08 * (g - 1);
    csv += fmt::format("{},{:.6f} uS,{}\n", i, g, i <= 40 ? "up" : "down");
  }
  folder.write("pulses.csv", csv);
  const Outcome fit = run_nudge(folder, "devices fit pulses.csv --model linear_step --out device.toml");
  CHECK(fit.exit_code == 0);
  CHECK_THAT(fit.output, Contains("curve residual"));
  const Outcome check = run_nudge(folder, "config check device.toml");
  CHECK(check.exit_code == 0);
  CHECK_THAT(check.output, Contains("device.linear_step.gamma_up"));
  CHECK_THAT(run_nudge(folder, "devices fit pulses.csv --json").output, Contains("curve_residual"));

  folder.write("gap.csv", "pulse,conductance,direction\n0,1e-6,up\n2,2e-6,up\n");
  std::string noise = "pulse,conductance,direction\n";  // eleven values by turns: no curve in it
  for (int i = 0; i < 200; ++i) noise += fmt::format("{},{}e-6,{}\n", i, 10 + i * 37 % 11, i < 100 ? "up" : "down");
  folder.write("noise.csv", noise);
  const Outcome useless = run_nudge(folder, "devices fit noise.csv --model exponential_step");
  CHECK(useless.exit_code == 3);
  CHECK_THAT(useless.errors, Contains("a horizontal line"));
  const auto best = nlohmann::json::parse(run_nudge(folder, "devices fit pulses.csv --model auto --json").output);
  CHECK(best["candidates"].size() >= 2);
  CHECK(best["candidates"][0]["model"] == best["model"]);
  CHECK(best["rms_over_window"].get<double>() < best["mean_rms_over_window"].get<double>());
  const Outcome gap = run_nudge(folder, "devices fit gap.csv");
  CHECK(gap.exit_code == 2);
  CHECK_THAT(gap.errors, Contains("gap.csv:3: pulse 2 follows pulse 0 (a gap"));
  folder.write("nan.csv", "pulse,conductance,direction\n0,1e-6,up\n1,nan,up\n");
  CHECK_THAT(
      run_nudge(folder, "devices fit nan.csv").errors,
      Contains("0 pulses up and 0 down") && Contains("1 readings are missing (an overflow, or no number): lines 3"));
  CHECK(run_nudge(folder, "devices fit nan.csv").exit_code == 2);
  CHECK(run_nudge(folder, "devices fit absent.csv").exit_code == 2);
  folder.write("empty.csv", "");
  const Outcome empty = run_nudge(folder, "devices fit empty.csv");
  CHECK(empty.exit_code == 2);
  CHECK_THAT(empty.errors, Contains("empty.csv: empty (the first line must be"));
  CHECK_THAT(run_nudge(folder, "devices fit pulses.csv --points 1000000000").errors, Contains("--points 1000000000"));
  // Nothing is overwritten.
  folder.write("kept.toml", "kept");
  const Outcome kept = run_nudge(folder, "devices fit pulses.csv --out kept.toml");
  CHECK(kept.exit_code == 2);
  CHECK_THAT(kept.errors, Contains("kept.toml: exists already"));
  CHECK(read_file(folder.file("kept.toml")) == "kept");
}

TEST_CASE("devices characterize takes presets with --set, configs and measured pulses, and report draws them",
          "[apps]") {
  const Folder folder;
  const std::string small = " --devices 10 --samples 64 --points 20";
  const auto drawn = [&](const std::string& name, const std::string& out) {
    const Outcome run = run_nudge(folder, "devices characterize " + name + small + " --out " + out + ".h5");
    CHECK(run.exit_code == 0);
    CHECK(run_nudge(folder, "report " + out + ".h5 -o " + out + ".html").exit_code == 0);
    return read_file(folder.file(out + ".html"));
  };
  const std::string preset = drawn("ecram --set device.g_max='50 uS'", "preset");
  CHECK_THAT(preset, Contains("<h1>ecram: ") && Contains("to 49") && Contains("Step of one pulse") &&
                         Contains("From bound to bound") && Contains("Every device along the staircase"));
  folder.write("own.toml", "[device]\nmodel = 'soft_bounds'\npulses = 40\nread_noise = '1 %'\n");
  CHECK_THAT(drawn("own.toml", "config"), Contains("own.toml: ") && Contains("A read scatters by"));
  std::string csv = "device,cycle,pulse,conductance_uS,direction\n";
  for (const int device : {1, 2, 3}) {
    double g = 2;
    for (int i = 0; i <= 80; ++i) {
      if (i > 0) g += i <= 40 ? 0.1 * (11 + device - g) : -0.08 * (g - 1);
      csv += fmt::format("{},1,{},{:.6f},{}\n", device, i, g, i <= 40 ? "up" : "down");
    }
  }
  folder.write("lab.csv", csv);
  CHECK_THAT(drawn("lab.csv --model soft_bounds", "fitted"), Contains("measured") && Contains("lab.csv: "));
  CHECK(H5Reader(folder.file("fitted.h5")).reals<double>("measured/pulse").size() == 81);
  folder.write("lab.dat", csv);  // a file of any name
  CHECK_THAT(drawn("lab.dat --model soft_bounds", "other"), Contains("measured") && Contains("lab.dat: "));
  folder.write("lab", csv);
  CHECK_THAT(drawn("lab --model soft_bounds", "third"), Contains("measured") && Contains("lab: "));
  CHECK_THAT(run_nudge(folder, "devices characterize lap.dat").errors, Contains("lap.dat: cannot be read"));
  CHECK_THAT(run_nudge(folder, "devices characterize lap").errors, Contains("neither a model nor a preset"));
  const Outcome fit = run_nudge(folder, "devices fit lab.csv --model soft_bounds --out lab.toml");
  CHECK_THAT(fit.output, Contains("3 devices, 3 records") && Contains("devices differ by"));
  CHECK_THAT(run_nudge(folder, "config check lab.toml").output, Contains("device.joint_covariance"));
  CHECK(nlohmann::json::parse(run_nudge(folder, "devices fit lab.csv --model soft_bounds --json").output)["devices"] ==
        3);
  folder.write("exact.toml", "seed = 1\n");
  const Outcome exact = run_nudge(folder, "devices characterize exact.toml");
  CHECK(exact.exit_code == 2);
  CHECK_THAT(exact.errors, Contains("(not a device)"));
  CHECK(run_nudge(folder, "devices characterize ecram --set device.pulsess=3").exit_code == 2);
}

TEST_CASE("export writes every column as CSV and overwrites nothing", "[apps]") {
  const Folder folder;
  REQUIRE(run_nudge(folder, "devices characterize ecram --devices 3 --samples 64 --points 8 --out e.h5").exit_code ==
          0);
  const Outcome run = run_nudge(folder, "export e.h5 --csv out");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, Contains("staircase.csv") && Contains("staircase.conductance.csv") && Contains("columns.csv"));
  const std::string table = read_file(folder.file("out/endurance.csv"));
  CHECK_THAT(table, Catch::StartsWith("cycle,high_mean,high_std,low_mean,low_std,pulses\n1,"));
  const auto means = H5Reader(folder.file("e.h5")).reals<double>("endurance/high_mean");
  CHECK_THAT(table, Contains(fmt::format(",{},", means[0])));
  CHECK_THAT(read_file(folder.file("out/columns.csv")), Contains("endurance.csv,high_mean,S,"));
  CHECK_THAT(read_file(folder.file("out/config.toml")), Contains("[device]"));
  const Outcome again = run_nudge(folder, "export e.h5 --csv out");
  CHECK(again.exit_code == 2);
  CHECK_THAT(again.errors, Contains("exists already"));
  CHECK(run_nudge(folder, "export absent.h5 --csv other").exit_code == 2);
}

TEST_CASE("bad devices in a configuration are refused with place and rule", "[apps]") {
  const Folder folder;
  const auto errors = [&](const std::string& toml) {
    folder.write("bad.toml", "[device]\nmodel = 'soft_bounds'\n" + toml);
    const Outcome run = run_nudge(folder, "config check bad.toml");
    CHECK(run.exit_code == 2);
    return run.errors + run.output;
  };
  CHECK_THAT(errors("g_min = '30 uS'\n"), Contains("device.g_min") && Contains("device.g_max"));
  CHECK_THAT(errors("g_max = '30 uV'\n"), Contains("bad.toml:3") && Contains("30 uV"));
  CHECK_THAT(errors("[crossbar]\nrow_resistance = '-1 Ohm'\n"), Contains("bad.toml:4") && Contains("row_resistance"));
  CHECK_THAT(errors("drift_start = '20 S'\n"), Contains("bad.toml:3"));
  CHECK_THAT(errors("pulsess = 3\n"), Contains("pulses"));
  CHECK_THAT(errors("programming_error = 5\n"), Contains("must be in [0, 1]; did you mean \"5 %\"?"));
  CHECK_THAT(errors("stuck_low = 2.5\n"), Contains("did you mean \"2.5 %\"?"));
  CHECK_THAT(errors("stuck_low = 250\n"), !Contains("did you mean"));
  // Rules that join several numbers: reported where one of them was set, whatever the command.
  CHECK_THAT(errors("pulses = 1e8\n"), Contains("bad.toml:3:1: device.pulses = 1e+08 (must be <=") &&
                                           Contains("below the resolution of a conductance"));
  CHECK_THAT(errors("[crossbar]\nforward_adc_bits = 25\n"), Contains("bad.toml:4:20: crossbar.forward_adc_bits = 25"));
  CHECK_THAT(errors("pulses = 10\n[crossbar]\nprogramming = 'write_verify'\n"),
             Contains("bad.toml:3:1: crossbar.verify_tolerance = 0.01 (must be >= 0.05)"));
  CHECK_THAT(errors("stuck_low = 0.6\nstuck_high = 0.6\n"), Contains("bad.toml:3:1: device.stuck_low"));
  CHECK_THAT(errors("iv_sinh = '1 mV'\n"), Contains("bad.toml:3:1: device.iv_sinh") && Contains("read_voltage"));
  CHECK_THAT(errors("[correction]\ngain_error = -1\n"), Contains("bad.toml:4") && Contains("correction.gain_error"));
  CHECK_THAT(errors("[circuit]\namplifier_bandwidth = '1 MHz'\n[relaxation]\nsolver = 'rk4'\n"),
             Contains("bad.toml:6:1: relaxation.solver = rk4 (does not fit: amplifiers must be infinitely fast") &&
                 Contains("; euler would)"));
  folder.write("good.toml", "[device]\nmodel = 'soft_bounds'\n");
  const Outcome set = run_nudge(folder, "config check good.toml --set device.pulses=1e8");
  CHECK(set.exit_code == 2);
  CHECK_THAT(set.errors, Contains("--set: device.pulses = 1e+08"));
  const Outcome memory = run_nudge(folder,
                                   "crossbar good.toml --set model.channels=65536 --set model.memories=65536 "
                                   "--set model.heads=1");
  CHECK(memory.exit_code == 2);
  CHECK_THAT(memory.errors, Contains("crossbar of 65536 x 262144 weights: needs"));
  CHECK_THAT(run_nudge(folder, "crossbar good.toml --volts nan").errors, Contains("--volts"));
}

TEST_CASE("crossbar shows curved devices and amplifiers, and exports arrays and the block to SPICE", "[apps]") {
  const Folder folder;
  folder.write(
      "small.toml",
      "[model]\nchannels = 4\ntokens = 2\nmemories = 6\nheads = 2\n[train]\nsteps = 1\nbatch = 1\n"
      "evaluation_batches = 1\n[device]\nmodel = 'soft_bounds'\niv_sinh = '0.1 V'\n"
      "[circuit]\ntime_constant = '25 ns'\namplifier_bandwidth = '20 MHz'\n[crossbar]\nrow_resistance = '1 Ohm'\n");
  const Outcome shown = run_nudge(folder, "crossbar small.toml --spice minus.cir --negative --block block.cir");
  CHECK(shown.exit_code == 0);
  // tau_a = 1/(2 pi 20 MHz 25 ns) = 0.318; sinh(2)/2 = 1.813.
  CHECK_THAT(shown.output, Contains("a lag of 0.318 tau") && Contains("currents at the read voltage 81.") &&
                               Contains("negative devices of Winput"));
  CHECK_THAT(read_file(folder.file("minus.cir")), Contains("sinh"));
  CHECK_THAT(read_file(folder.file("block.cir")), Contains("block.cir.data"));
  const Outcome again = run_nudge(folder, "crossbar small.toml --block block.cir");
  CHECK(again.exit_code == 2);
  CHECK_THAT(again.errors, Contains("block.cir: exists already"));
  const Outcome large = run_nudge(folder, "crossbar small.toml --block b.cir --set model.channels=128");
  CHECK(large.exit_code == 2);
  CHECK_THAT(large.errors, Contains("source terms") && Contains("model.channels = 128"));
  folder.write("numbers.toml",
               "[network]\nkind = 'resistive'\n[task]\nkind = 'classification'\n[resistive]\nhidden = [3]\n"
               "bias = 'rails'\n[relaxation]\nsolver = 'coordinate'\n");
  CHECK(run_nudge(folder, "crossbar numbers.toml --block numbers.cir").exit_code == 0);
  CHECK_THAT(read_file(folder.file("numbers.cir")), Contains(" 1e+20\n"));  // open resistors are there
  const Outcome array = run_nudge(folder, "crossbar numbers.toml --block more.cir --spice array.cir");
  CHECK(array.exit_code == 2);
  CHECK_THAT(array.errors, Contains("device.model is digital: there is no array"));
  const auto json = nlohmann::json::parse(run_nudge(folder, "crossbar small.toml --json").output);
  CHECK(json["circuit"]["amplifier_lag"].get<double>() == Approx(0.3183).epsilon(1e-3));
  CHECK(json["arrays"][0]["curve_missed"].get<double>() <
        0.01);  // a drop of 18^2/3 x 1 ohm x 23 uS = 0.25 %, bent twice
}

TEST_CASE("train with amplifiers, curved devices and useless wires runs and warns", "[apps]") {
  const Folder folder;
  folder.write("wires.toml",
               "[model]\nchannels = 16\ntokens = 8\nmemories = 16\nheads = 2\n[train]\nsteps = 2\nbatch = 2\n"
               "evaluation_batches = 1\n[device]\npreset = 'ecram'\niv_cubic = 1\nread_saturating = '1 nS'\n"
               "[circuit]\namplifier_bandwidth = '20 MHz'\n[crossbar]\nrow_resistance = '500 Ohm'\n"
               "update = 'tiki_taka'\n");
  const Outcome run = run_nudge(folder, "train wires.toml --out w.h5 --json");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.errors, Contains("wire resistance: IR drop figure L ="));
  CHECK(nlohmann::json::parse(run.output)["hardware"]["pulses"].get<double>() > 0);  // of both arrays of a matrix
}

TEST_CASE("crossbar: a group of columns is told the array that holds it, before anything is written", "[apps]") {
  const Folder folder;
  folder.write("small.toml", "[model]\nchannels = 16\nmemories = 16\nheads = 2\n[device]\npreset = 'ecram'\n");
  const Outcome group = run_nudge(folder, "crossbar small.toml --array Wm --spice a.cir");
  CHECK(group.exit_code == 2);
  CHECK_THAT(group.errors, Contains("of the array Winput (take --array Winput)"));
  const Outcome unknown = run_nudge(folder, "crossbar small.toml --array Winptu --spice a.cir");
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.errors, Contains("did you mean Winput?"));
  CHECK_FALSE(std::filesystem::exists(folder.file("a.cir")));
}

TEST_CASE("devices fit --noise and --bake print measured beside model and write a configuration", "[apps]") {
  const Folder folder;
  std::string reads = "time_ms,conductance_uS\n";
  for (int t = 0; t < 600; ++t) reads += fmt::format("{},{}\n", t, 10 + 0.01 * (t * 37 % 101));
  folder.write("reads.csv", reads);
  const Outcome noise = run_nudge(folder, "devices fit reads.csv --noise --out noise.toml --json");
  REQUIRE(noise.exit_code == 0);
  const auto answer = nlohmann::json::parse(noise.output);
  CHECK(answer["understood"][0]["columns"][0]["name"] == "time_ms");
  const auto spectrum = answer["rows"];
  REQUIRE(spectrum.size() > 3);
  for (const char* key : {"level_S", "frequency_Hz", "psd_measured", "psd_model"}) CHECK(spectrum[0][key] > 0);
  CHECK(spectrum[0]["psd_unit"] == "S^2/Hz");
  CHECK(run_nudge(folder, "config check noise.toml").exit_code == 0);

  std::string bake = "cell,time_s,conductance_uS,temperature_C\n";
  for (int i = 0; i < 60; ++i) {
    for (const int celsius : {100, 150}) {
      bake += fmt::format("{0},0,{1},{2}\n{0},3600,{3},{2}\n", i, 20 + 0.1 * i, celsius,
                          20 + 0.1 * i + 0.001 * celsius * (i * 37 % 21 - 10));
    }
  }
  folder.write("bake.csv", bake);
  const Outcome baked = run_nudge(folder, "devices fit bake.csv --bake --out bake.toml --activation '1.1 eV' --json");
  REQUIRE(baked.exit_code == 0);
  const auto rows = nlohmann::json::parse(baked.output)["rows"];
  REQUIRE(rows.size() == 2);  // one group of cells
  CHECK(rows[1]["temperature_K"] == Approx(423.15));
  CHECK_THAT(run_nudge(folder, "config check bake.toml").output, Contains("device.relaxation_activation = 1.1"));

  const auto refused = [&](const std::string& arguments, const char* why) {
    const Outcome outcome = run_nudge(folder, "devices fit " + arguments);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.errors, Contains(why));
  };
  refused("reads.csv --noise --bake", "one of --relaxation, --noise, --bake, --iv, --endurance and --disturb");
  refused("reads.csv --bake", "reads.csv:1: column \"cell\" is missing");
  refused("bake.csv --noise", "bake.csv:4: time begins anew where column \"temperature_C\" changes");
  refused("bake.csv --bake --activation warm", "--activation \"warm\"");
  refused("reads.csv --noise --rate '5 s'", "--rate \"5 s\"");
  refused("reads.csv --noise --out noise.toml", "noise.toml");
}

TEST_CASE("a preset is shown by what differs from the defaults, with prefixes, within 80 columns", "[devices]") {
  const Folder folder;
  const Outcome outcome = run_nudge(folder, "devices show ecram");
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.output, Contains("g_min") && Contains("1.911 uS") && Contains("250 nS") && !Contains("  g_max ") &&
                                 Contains("more parameters have their defaults: --all"));
  std::istringstream lines(outcome.output);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(text_columns(line) <= 80);
  }
  CHECK_THAT(run_nudge(folder, "devices show ecram --all").output, Contains("g_max"));
}

TEST_CASE("devices characterize reads what devices fit reads, and both tell of waits and currents", "[apps]") {
  const Folder folder;
  std::string ltp = "n,I (uA)\n", ltd = "n,I (uA)\n", waits = "pulse,G (uS),direction,time_s\n0,2,,0\n";
  double g = 2;
  for (int n = 0; n <= 30; ++n) {
    ltp += fmt::format("{},{:.6f}\n", n, 0.1 * g);
    g += 0.1 * (20 - g);
  }
  for (int n = 0; n <= 30; ++n) {
    ltd += fmt::format("{},{:.6f}\n", n, 0.1 * g);
    g -= 0.1 * (g - 1);
  }
  folder.write("ltp.csv", ltp);
  folder.write("ltd.csv", ltd);
  const std::string files =
      "ltp.csv ltd.csv --columns 'pulse=COL1,I=COL2 uA' --read-voltage '0.1 V' --model soft_bounds";
  const auto fit = nlohmann::json::parse(run_nudge(folder, "devices fit " + files + " --json").output);
  CHECK(fit["g_max_S"]["mean"].get<double>() == Approx(20e-6).epsilon(0.01));
  const Outcome drawn = run_nudge(folder, "devices characterize " + files + " --devices 20 --samples 64 --json");
  REQUIRE(drawn.exit_code == 0);
  const auto seen = nlohmann::json::parse(drawn.output);
  CHECK(seen["understood"].size() == 2);
  CHECK(seen["understood"][0]["rows"] == 31);
  CHECK(run_nudge(folder, "devices characterize ecram pcm").exit_code == 2);
  const Outcome twice = run_nudge(folder, "devices fit ltp.csv ltp.csv --columns 'pulse=COL1,I=COL2 uA'");
  CHECK(twice.exit_code == 2);
  CHECK_THAT(twice.errors, Contains("ltp.csv: the same file is given twice"));
  // Side by side: the same device from one file.
  std::string beside = "pulse,LTP (uA),LTD (uA)\n";
  double up = 2, down = 19;
  for (int n = 0; n <= 30; ++n) {
    beside += fmt::format("{},{:.6f},{:.6f}\n", n, 0.1 * up, 0.1 * down);
    up += 0.1 * (20 - up);
    down -= 0.1 * (down - 1);
  }
  folder.write("beside.csv", beside);
  const std::string both = "beside.csv --read-voltage '0.1 V' --model soft_bounds";
  CHECK(run_nudge(folder, "devices fit " + both).exit_code == 0);
  CHECK(run_nudge(folder, "devices characterize " + both + " --devices 20 --samples 64").exit_code == 0);
  // Pulses, then a leak towards 1 uS within 50 s, twice.
  g = 2;
  double t = 0;
  for (int round = 0, n = 0; round < 2; ++round) {
    for (int k = 0; k < 20; ++k) {
      const bool rises = k < 12;
      g += rises ? 0.1 * (20 - g) : -0.1 * (g - 1);
      t += 1e-3;
      waits += fmt::format("{},{:.6f},{},{:.4f}\n", ++n, g, rises ? "up" : "down", t);
    }
    for (int k = 0; k < 6; ++k) {
      g = 1 + (g - 1) * std::exp(-10.0 / 50);
      t += 10;
      waits += fmt::format("{},{:.6f},wait,{:.4f}\n", n, g, t);
    }
  }
  folder.write("waits.csv", waits);
  const Outcome joint = run_nudge(folder, "devices fit waits.csv --model soft_bounds --json");
  REQUIRE(joint.exit_code == 0);
  const auto leak = nlohmann::json::parse(joint.output);
  CHECK(leak["leak"]["time_s"].get<double>() == Approx(50).epsilon(0.02));
  CHECK(leak["g_max_S"]["mean"].get<double>() == Approx(20e-6).epsilon(0.02));
  CHECK_THAT(leak["toml"].get<std::string>(), Contains("leak_time = "));
}
