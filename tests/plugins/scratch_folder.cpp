#include "tests/plugins/scratch_folder.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <stdlib.h>
#include <unistd.h>

namespace testing {

namespace fs = std::filesystem;
using axle::plugins::Plugin;
using axle::plugins::PluginKind;

namespace {

constexpr const char* python = "/usr/bin/python3";
constexpr std::string_view preamble =
    "#!/usr/bin/python3\nimport ctypes, errno, json, os, resource, signal, socket, subprocess, "
    "sys, "
    "threading, time\n";

}  // namespace

ScratchFolder::ScratchFolder() {
  std::string pattern = (fs::temp_directory_path() / "axle-plugins-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = fs::canonical(pattern).string();
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string ScratchFolder::program(std::string_view name, std::string_view text) const {
  const std::string path = path_ + "/" + std::string(name);
  std::ofstream(path) << text;
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

Plugin ScratchFolder::executable(std::string_view body) const {
  const std::string place = program("provider", std::string(preamble) + std::string(body));
  return {"acme", PluginKind::executable, place, place};
}

Plugin ScratchFolder::python(std::string_view module, std::string_view plugin_api) const {
  const std::string environment = path_ + "/environment";
  fs::create_directories(environment + "/bin");
  const fs::path base = fs::canonical(testing::python);
  fs::remove(environment + "/bin/python");
  fs::create_symlink(base, environment + "/bin/python");
  std::ofstream(environment + "/pyvenv.cfg") << "home = /usr/bin\n";
  const std::string site = environment + "/lib/" + base.filename().string() + "/site-packages";
  fs::create_directories(site);
  std::ofstream(site + "/acme.py") << module;
  return {"acme",
          PluginKind::python,
          "acme",
          environment + "/bin/python",
          std::string(plugin_api),
          {environment}};
}

std::string python_missing() {
  return ::access(python, X_OK) == 0 ? std::string() : "there is no /usr/bin/python3";
}

}  // namespace testing
