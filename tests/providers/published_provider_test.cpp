// Our list against the published provider-variant-x86-64, installed from the configured registry.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "providers/provider.h"

namespace axle::providers {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "axle-published-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// "level v4 v3 v2 v1\navx_vnni on\n…", one line a feature.
std::string render(const Features& features) {
  std::string text;
  for (const Feature& feature : features) {
    text += feature.name;
    for (const std::string& value : feature.values) text += " " + value;
    text += "\n";
  }
  return text;
}

TEST_CASE("x86_64: all values equal those of the published provider, order included") {
  const char* wanted = std::getenv("AXLE_TEST_REGISTRY");
  if (wanted == nullptr || std::string_view(wanted) != "1") {
    std::cout << "SKIP: needs a package registry (set AXLE_TEST_REGISTRY=1)\n";
    return;
  }
  const TemporaryFolder folder;
  REQUIRE_FALSE(folder.path().empty());
  const std::string venv = (folder.path() / "venv").string();
  const std::string log = (folder.path() / "log").string();
  const std::string install = "python3 -m venv " + venv + " >" + log + " 2>&1 && " + venv +
                              "/bin/python -m pip install --quiet provider-variant-x86-64 >>" +
                              log + " 2>&1";
  if (std::system(install.c_str()) != 0) {
    std::ostringstream reason;
    reason << std::ifstream(log).rdbuf();
    std::cout << "SKIP: provider-variant-x86-64 cannot be installed here: " << reason.str() << "\n";
    return;
  }
  // The published release keeps its list as a class member; later ones also answer get_all_configs.
  std::ofstream(folder.path() / "ask.py")
      << "from provider_variant_x86_64.plugin import X8664Plugin as P\n"
         "print('level', *[f'v{n}' for n in range(P.max_known_level, 0, -1)])\n"
         "for name in P.all_features: print(name, 'on')\n";
  const std::string answer = (folder.path() / "answer").string();
  const std::string ask =
      venv + "/bin/python " + (folder.path() / "ask.py").string() + " >" + answer;
  REQUIRE(std::system(ask.c_str()) == 0);
  std::ostringstream published;
  published << std::ifstream(answer).rdbuf();
  CHECK(render(find_provider("x86_64")->all()) == published.str());
}

}  // namespace
}  // namespace axle::providers
