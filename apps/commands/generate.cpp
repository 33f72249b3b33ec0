// SPDX-License-Identifier: Apache-2.0
#include "training/train/generate.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/commands.hpp"
#include "apps/streams.hpp"
#include "sim/base/text.hpp"

namespace nudge {
namespace {

struct GenerateArguments {
  std::string file;
  GenerateOptions options;
  bool json = false;
};

ExitCode run_generate(const GenerateArguments& arguments) {
  if (arguments.json) {
    const Generated out = generate(arguments.file, arguments.options);
    answer("{}\n", json_text(nlohmann::json{{"prompt", out.prompt},
                                            {"text", out.text},
                                            {"temperature", arguments.options.temperature},
                                            {"seed", arguments.options.seed},
                                            {"negative_log_likelihood_nat", out.negative_log_likelihood}},
                             2));
    return ExitCode::ok;
  }
  bool begun = false;
  const Generated out = generate(arguments.file, arguments.options, [&](const std::string& character) {
    if (!std::exchange(begun, true)) answer("{}", arguments.options.prompt);
    answer("{}", character);
    return true;  // nothing to save: a signal ends it here
  });
  answer("\n");
  say("nudge: {:.3f} nat per character, on average\n", out.negative_log_likelihood);
  return ExitCode::ok;
}

std::function<ExitCode()> add_generate(CLI::App& app) {
  const auto arguments = std::make_shared<GenerateArguments>();
  GenerateOptions& options = arguments->options;
  app.add_option("file", arguments->file, "HDF5 file of nudge train, task.kind = characters")->required();
  app.add_option("--prompt", options.prompt, "Text to continue; only characters of the training text")
      ->capture_default_str();
  app.add_option("--tokens", options.tokens, "Characters to add")->capture_default_str();
  app.add_option("--temperature", options.temperature,
                 "Temperature of the softmax; 0: always the most probable "
                 "character")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of the draws and of read noise")->capture_default_str();
  app.add_flag("--prefill", options.prefill,
               "free_transformer: take the latents of the prompt from the encoder, not from the prior");
  app.add_flag("--json", arguments->json, "Print JSON");
  return [arguments] { return run_generate(*arguments); };
}

}  // namespace

Command generate_command() {
  return {"generate", "Write text with a trained network, on its devices with their noise",
          "nudge generate run.h5 --prompt \"ROMEO:\" --tokens 200 --temperature 0.8", add_generate};
}

}  // namespace nudge
