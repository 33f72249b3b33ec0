// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace nudge::test {

/// An empty folder of this process that is removed at the end.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("nudge_apps_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

struct Outcome {
  int exit_code;
  std::string output;
  std::string errors;
};

/// Runs the built program in the folder; `arguments` as in a shell.
inline Outcome run_nudge(const Folder& folder, const std::string& arguments) {
  const std::string output = folder.file("stdout.txt");
  const std::string errors = folder.file("stderr.txt");
  const std::string command = "cd '" + folder.file("") + "' && '" NUDGE_PROGRAM "' " + arguments + " >'" + output +
                              "' 2>'" + errors + "' </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(output), read_file(errors)};
}

}  // namespace nudge::test
