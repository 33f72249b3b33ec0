// SPDX-License-Identifier: Apache-2.0
// A key that changes nothing is refused: every key of [mixer] with every mixer of every kind of network.
#include "tests/support/catch.hpp"
#include "training/config/config_table.hpp"

#include <map>
#include <optional>

#include "sim/base/errors.hpp"
#include "tests/support/numerics.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/config/run_parts.hpp"
#include "training/models/model_options.hpp"
#include "training/models/transformer/transformer_config.hpp"
#include "training/train/equilibrium_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;
using Settings = std::vector<std::string>;

namespace {

/// Another legal value of every key of [mixer], for 8 channels, 2 heads and 4 tokens; no size that auto stands for in any mixer.
const std::map<std::string, std::string>& others() {
  static const std::map<std::string, std::string> all = {{"mixer.initial_scale", "0.7"},
                                                         {"mixer.window", "2"},
                                                         {"mixer.mask", "bidirectional"},
                                                         {"mixer.head_width", "6"},
                                                         {"mixer.key_value_heads", "1"},
                                                         {"mixer.temperature", "0.6"},
                                                         {"mixer.eta", "0.4"},
                                                         {"mixer.ridge", "0.3"},
                                                         {"mixer.iterations", "3"},
                                                         {"mixer.momentum_start", "0.5"},
                                                         {"mixer.refresh", "false"},
                                                         {"mixer.layers", "1"},
                                                         {"mixer.values", "14"},
                                                         {"mixer.keys", "12"},
                                                         {"mixer.decays", "4"},
                                                         {"mixer.groups", "4"},
                                                         {"mixer.states", "3"},
                                                         {"mixer.rope", "true"},
                                                         {"mixer.epsilon", "0.1"},
                                                         {"mixer.gate_groups", "1"},
                                                         {"mixer.conditioner", "after"},
                                                         {"mixer.conditioner_width", "2"},
                                                         {"mixer.log_sum_exp", "false"},
                                                         {"mixer.inner_gate", "false"},
                                                         {"mixer.outer_gate", "false"}};
  return all;
}

/// A network before any training: what its read-out says of a few tokens, and how many weights it has to learn (a conditioner does
/// nothing before it has learnt).
struct Seen {
  Matrix<double> output;
  Index weights;
  bool operator==(const Seen& other) const { return weights == other.weights && output == other.output; }
};

/// Nothing: the config, or its network, is refused.
std::optional<Seen> output_of(const std::string& kind, const Settings& settings) {
  try {
    const Config config = small(kind, settings);
    const auto plan = network_plan(config, sizes_for(config));
    EquilibriumRun<double> trainee(config, plan, "", Weights::configured);
    Batch batch;
    batch.sequences = 1;
    batch.tokens = plan->rows();
    batch.indices = {3, 5, 1, 2};
    batch.targets = {1, 1, 1, 1};
    return Seen{trainee.outputs(batch, 0).front(), trainee.weights()};
  } catch (const UserError&) {
    return std::nullopt;
  }
}

/// How many keys acted, of those that the config takes.
int acting(const std::string& kind, Settings settings) {
  settings.insert(settings.end(), {"relaxation.free_steps=6", "relaxation.step=0.2", "damping.control=false"});
  const auto plain = output_of(kind, settings);
  if (!plain) return 0;
  int acted = 0;
  for (const auto& [key, value] : others()) {
    if (key == "mixer.iterations" && settings.front().find("loop_") == std::string::npos)
      continue;  // `nudge energy` reads it
    Settings with = settings;
    // A conditioner's width is nothing without a conditioner.
    if (key == "mixer.conditioner_width") with.emplace_back("mixer.conditioner=after");
    const auto before = key == "mixer.conditioner_width" ? output_of(kind, with) : plain;
    // Where there is one, it is taken off: before and after are the same until it has learnt.
    const bool has_one = key == "mixer.conditioner" && settings.front() == "transformer.mixer=fem_softmax";
    with.push_back(key + "=" + (has_one ? "none" : value));
    const auto changed = output_of(kind, with);
    if (!changed || !before) continue;
    CAPTURE(settings, key);
    CHECK_FALSE(*changed == *before);
    ++acted;
  }
  return acted;
}

}  // namespace

TEST_CASE("every key of [mixer] has another value here", "[unread]") {
  for (const ParamRow& row : program_table()) {
    if (section_of(row.key) == "mixer") CHECK(others().count(row.key) == 1);
  }
}

TEST_CASE("a key of [mixer] changes what a network computes, or is refused", "[unread]") {
  int acted = 0;
  for (const std::string& mixer : force_mixers()) {
    const bool one_head = mixer == "linattn";
    const int own = acting("block", {"model.mixer=" + mixer, one_head ? "model.heads=1" : "model.heads=2"});
    CAPTURE(mixer);
    CHECK(own >= 1);
    acted += own;
  }
  for (const std::string& mixer : transformer_mixers()) acted += acting("transformer", {"transformer.mixer=" + mixer});
  CHECK(acted > 60);
  CHECK(acting("block", {}) == 0);
  CHECK(acting("stack", {}) == 0);
  CHECK(acting("transformer", {"transformer.mixer=attention"}) == 0);
}

TEST_CASE("the whole Free Energy Mixer of a sequence model has its conditioner, and a key that takes it off",
          "[unread]") {
  const auto weights = [](const std::string& mixer, const Settings& more) {
    Settings settings = {"transformer.mixer=" + mixer};
    settings.insert(settings.end(), more.begin(), more.end());
    return output_of("transformer", settings).value().weights;
  };
  const Index ungated = weights("fem_softmax_ltg", {});
  CHECK(weights("fem_softmax", {}) > ungated);
  CHECK(weights("fem_softmax", {"mixer.conditioner=none"}) == ungated);
  CHECK(weights("fem_softmax_ltg", {"mixer.conditioner=before"}) == weights("fem_softmax", {}));
  CHECK_NOTHROW(small("block", {"mixer.conditioner=none"}));  // files of older versions
}

TEST_CASE("what nothing reads is named with what would read it", "[unread]") {
  const auto refused = [](const std::string& kind, const Settings& settings, const std::string& why) {
    CHECK_THROWS_WITH(small(kind, settings), Contains(why));
  };
  refused("block", {"mixer.window=2"}, "mixer.window = 2 (nothing reads it: model.mixer = attention; mha, ");
  refused("block", {"model.mixer=mha", "mixer.refresh=false"},
          "(nothing reads it: model.mixer = mha; loop_elastic or loop_inner would)");
  refused("transformer", {"transformer.mixer=mha", "mixer.inner_gate=false"},
          "(nothing reads it: transformer.mixer = mha; fem_");
  refused("hopfield", {"mixer.eta=0.4"}, "mixer.eta = 0.4 (nothing reads it: network.kind = hopfield");
  refused("hopfield", {"data.text=some.txt"}, "must be empty unless task.kind = characters");
  refused("block", {"gradcheck.age=10 s"}, "must be 0 unless gradcheck.weights = programmed");
  CHECK_NOTHROW(small("block", {"mixer.refresh=true"}));  // as it is anyway
  CHECK_NOTHROW(
      small("block", {"model.mixer=mha", "model.heads=2", "mixer.key_value_heads=2"}));  // what auto stands for
}

TEST_CASE("a gain-bandwidth that no pole and no power takes is refused", "[unread]") {
  const std::string digits =
      "hardware.level = 'ideal'\nestimator = 'ep'\nnetwork.kind = 'hopfield'\ntask.kind = 'classification'\n"
      "device.preset = 'ecram'\n[relaxation]\nstep = 1.0\n";
  const auto checked = [&digits](const Settings& settings) { return parse_program_config("a.toml", digits, settings); };
  const std::string key = "circuit.gain_bandwidth=1 GHz", sweep = "relaxation.schedule=sweep";
  CHECK_THROWS_WITH(checked({sweep, key}), Contains("circuit.gain_bandwidth = 1 GHz (nothing reads it"));
  CHECK_THROWS_WITH(checked({"circuit.amplifier_bandwidth=1 MHz", key}), Contains("circuit.gain_bandwidth = 1 GHz"));
  CHECK_NOTHROW(checked({key}));
  CHECK_NOTHROW(checked({sweep, "circuit.amplifier=ota_180nm", key}));
}

TEST_CASE("a network that does not settle refuses what only circuits read, but where one config is for several") {
  const auto checked = [](const std::string& text) { return parse_program_config("a.toml", text, {}); };
  const std::string kind = "[network]\nkind = 'sequence_model'\n";
  CHECK_THROWS_WITH(checked(kind + "[relaxation]\nfree_steps = 7\n"),
                    Contains("a.toml:4:1: relaxation.free_steps = 7 (nothing reads it: network.kind = sequence_model"));
  CHECK_THROWS_WITH(checked(kind + "[latent]\nbits = 3\n"), Contains("latent.bits = 3 (nothing reads it"));
  CHECK_THROWS_WITH(checked(kind + "[device]\npreset = 'ecram'\n"),
                    Contains("device.preset = ecram (nothing reads it"));
  CHECK_THROWS_WITH(checked("estimator = 'ep'\n" + kind),
                    Contains("does not fit") && Contains("it learns by backprop"));
  CHECK_THROWS_WITH(checked("estimator = 'backprop'\n"), Contains("this network settles: use estimator = bptt"));
  CHECK_THROWS_WITH(checked(kind + "[mixer]\ninner_gate = false\n"), Contains("sequence.mixer = mha; fem_softmax_l"));
  CHECK_NOTHROW(
      checked("estimator = 'backprop'\n" + kind + "[mixer]\ninner_gate = false\n[sequence]\nmixer = 'fem_softmax'\n"));
  CHECK_NOTHROW(checked(
      kind + "[relaxation]\nfree_steps = 7\n[compare]\nentrants = ['aep: network.kind=transformer', 'backprop']\n"));
  CHECK_NOTHROW(checked(kind + "[mixer]\nmomentum_start = 0.5\n[sweep.grid]\n'sequence.mixer' = ['mha', 'momen']\n"));
  CHECK_THROWS_WITH(checked("[task]\nkind = 'argmax'\n[network]\nkind = 'hopfield'\n"),
                    Contains("must be argmax_read"));
  CHECK_THROWS_WITH(checked("[task]\nkind = 'compression'\n[network]\nkind = 'transformer'\n"),
                    Contains("must be sequence_model"));
  CHECK_THROWS_WITH(checked("[network]\nkind = 'free_transformer'\n[task]\nkind = 'latent'\n"), Contains("must be 66"));
  CHECK_THROWS_WITH(checked("[experiment]\nmixers = ['mha']\n"), Contains("is now sequence.mixer"));
}

TEST_CASE(
    "a key of another network, task, device model, optimizer or solver is refused where it is set, with what would "
    "read it") {
  const auto checked = [](const std::string& text, const Settings& settings = {}) {
    return parse_program_config("a.toml", text, settings);
  };
  CHECK_THROWS_WITH(
      checked("[hopfield]\nhidden = [9]\n"),
      Contains("a.toml:2:1: hopfield.hidden = [9] (nothing reads it: network.kind = block; hopfield or convolutional "
               "would)"));
  CHECK_THROWS_WITH(checked("", {"network.kind=transformer", "model.attention_scale=1"}),
                    Contains("block or stack would"));
  CHECK_THROWS_WITH(checked("[data]\nclasses = 3\n"),
                    Contains("task.kind = characters; classification or regression would"));
  CHECK_THROWS_WITH(checked("[task]\nexamples = 3\n"), Contains("in_context_recall"));
  CHECK_THROWS_WITH(checked("[device.vteam]\nwindow = 3\n[device]\nmodel = 'soft_bounds'\n"),
                    Contains("device.vteam.window = 3 (nothing reads it: device.model = soft_bounds; vteam would)"));
  CHECK_THROWS_WITH(checked("[train]\nmomentum = 0.5\n"), Contains("train.optimizer = adam; sgd would"));
  CHECK_THROWS_WITH(checked("[relaxation]\nmemory = 7\n"), Contains("euler; anderson or newton_gmres would"));
  // What is chosen later leaves idle what stood there, as does a sweep over the choice; a default is nothing that was set.
  CHECK_NOTHROW(checked("[hopfield]\nhidden = [9]\n", {"network.kind=transformer"}));
  CHECK_NOTHROW(checked("", {"stack.layers=3", "network.kind=transformer"}));
  CHECK_THROWS(checked("", {"network.kind=transformer", "stack.layers=3"}));
  CHECK_NOTHROW(checked("[stack]\nlayers = 3\n[sweep.grid]\n'network.kind' = ['block', 'stack']\n"));
  CHECK_NOTHROW(
      checked("[mixer]\neta = 0.4\n[model]\nmixer = 'gd_elastic'\n", {"network.kind=stack", "model.mixer=attention"}));
  CHECK_NOTHROW(checked("[train]\nmomentum = 0.9\n[damping]\ncontrol = false\n"));
  CHECK_NOTHROW(
      checked(dump_toml(checked("[hopfield]\nhidden = [9]\n", {"network.kind=transformer"}), DumpComments::none)));
}

TEST_CASE("every key that describes networks has a kind that reads it") {
  for (const ParamRow& row : program_table()) {
    const std::string section(section_of(row.key));
    const Settings sections{"model",    "stack",  "transformer", "hopfield", "convolutional", "resistive", "mixer",
                            "sequence", "latent", "argmax",      "own"};
    if (std::find(sections.begin(), sections.end(), section) == sections.end()) continue;
    if (row.key.starts_with("own.cost") || row.key.starts_with("own.estimator") || row.key.starts_with("own.device"))
      continue;  // of network.cost = own, and of estimators and devices that are lent
    CAPTURE(row.key);
    if (row.key == "model.tokens") continue;  // of all that couple their rows
    const auto& kinds = network_kinds();
    CHECK(std::any_of(kinds.begin(), kinds.end(),
                      [&](const NetworkKind& kind) { return find_row(kind.keys, row.key) != nullptr; }));
  }
}

TEST_CASE("mixer.mask = bidirectional: a token hears those behind it, and is refused where they hold its answer",
          "[unread]") {
  const Settings compress{"task.kind=compression", "network.kind=sequence_model", "sequence.mixer=differential"};
  const auto with = [&](Settings more) {
    more.insert(more.begin(), compress.begin(), compress.end());
    return parse_program_config("mask.toml", "", more);
  };
  CHECK_NOTHROW(with({"mixer.mask=bidirectional"}));
  CHECK_THROWS_WITH(with({"task.kind=in_context_recall", "mixer.mask=bidirectional"}),
                    Contains("contain the answer of a token"));
  MixerChoice recurrent;
  recurrent.kind = "mamba2";
  recurrent.bidirectional = true;
  CHECK_THROWS_WITH(mixer_spec(recurrent), Contains("mixer.mask"));
  MixerChoice choice;
  choice.kind = "mha";
  const MixerSpec spec = mixer_spec(choice);
  std::vector<Matrix<double>> weights;
  for (const Field& field : spec.parameters) weights.push_back(random_matrix<double>(field.rows(), field.cols(), 3));
  const auto first_row = [&](bool bidirectional, double last) {
    choice.bidirectional = bidirectional;
    Tape<double> tape;
    Matrix<double> x = random_matrix<double>(4, choice.options.width, 5);
    x.row(3) *= last;
    std::vector<Value<double>> values;
    for (const auto& w : weights) values.push_back(tape.parameter(w));
    return Matrix<double>(mixed(choice, tape.input(x), values).matrix().topRows(1));
  };
  CHECK((first_row(false, 1) - first_row(false, -2)).norm() < 1e-14);
  CHECK((first_row(true, 1) - first_row(true, -2)).norm() > 1e-2);
}
