// Needs no test framework and no Axle: acme_provider_test FOLDER, an empty or absent folder for its
// files.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <axle_provider.h>

#include "acme_devices.h"

namespace {

int failures = 0;

void check(bool holds, const char* what) {
  std::printf("%s %s\n", holds ? "ok  " : "FAIL", what);
  if (!holds) ++failures;
}

/// A sink that stores the result of a query, like Axle's.
struct Answer {
  std::vector<std::pair<std::string, std::vector<std::string>>> features;
  int32_t status = 0;
};

Answer ask(int32_t (*query)(const axle_provider_sink*)) {
  Answer answer;
  axle_provider_sink sink{};
  sink.struct_size = sizeof sink;
  sink.abi_version = AXLE_PROVIDER_ABI_VERSION;
  sink.host = &answer;
  sink.feature = [](const axle_provider_sink* to, const char* name, int32_t) -> int32_t {
    static_cast<Answer*>(to->host)->features.push_back({name, {}});
    return AXLE_PROVIDER_OK;
  };
  sink.value = [](const axle_provider_sink* to, const char* value) -> int32_t {
    static_cast<Answer*>(to->host)->features.back().second.push_back(value);
    return AXLE_PROVIDER_OK;
  };
  sink.reason = [](const axle_provider_sink*, const char*) -> int32_t { return AXLE_PROVIDER_OK; };
  answer.status = query(&sink);
  return answer;
}

void test_devices(const std::filesystem::path& folder) {
  std::filesystem::remove_all(folder);
  check(acme_provider::find_devices(folder.string()).empty(), "a missing folder has no devices");
  for (const char* device : {"null", "zero", "unheard_of"}) {
    std::filesystem::create_directories(folder / device);
    std::ofstream(folder / device / "dev") << "1:3\n";
  }
  std::filesystem::create_directories(folder / "full");
  check(acme_provider::find_devices(folder.string()) == std::vector<std::string>{"zero", "null"},
        "known devices with a node are found, the preferred one first");
  std::filesystem::remove_all(folder);
}

void test_provider() {
  const axle_provider* provider = axle_provider_entry(AXLE_PROVIDER_ABI_VERSION);
  check(provider != nullptr && std::strcmp(provider->ns, "acme") == 0, "the namespace is acme");
  check(provider->struct_size == sizeof(axle_provider), "the table has its size");
  const Answer all = ask(provider->all);
  check(all.status == AXLE_PROVIDER_OK && all.features.size() == 2, "all: two features");
  check(all.features[1].second.front() == std::to_string(acme_provider::known_devices().size()) &&
            all.features[1].second.back() == "1",
        "all: counts fall");
  const Answer here = ask(provider->supported);
  check(here.status == AXLE_PROVIDER_OK, "this machine can be asked");
  check(here.features.empty() || here.features.size() == 2, "both features or none");
}

}  // namespace

int main(int argc, char** argv) {
  test_devices(argc > 1 ? argv[1] : "acme_provider_test_files");
  test_provider();
  return failures == 0 ? 0 : 1;
}
