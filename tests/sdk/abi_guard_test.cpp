#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "providers/plugins/provider_sink.h"
#include "providers/sdk_files.h"

extern "C" const axle_provider* c99_provider_entry(std::uint32_t program_abi);
extern "C" const axle_provider* cpp_provider_entry(std::uint32_t program_abi);

using axle::plugins::ProviderSink;

TEST_CASE("providers in C99 and in C++ see the same interface as the program") {
  const std::pair<const axle_provider*, const char*> providers[] = {
      {c99_provider_entry(AXLE_PROVIDER_ABI_VERSION), "c99"},
      {cpp_provider_entry(AXLE_PROVIDER_ABI_VERSION), "cpp"}};
  for (const auto& [provider, language] : providers) {
    CAPTURE(language);
    REQUIRE(provider != nullptr);
    CHECK(provider->struct_size == sizeof(axle_provider));
    CHECK(provider->abi_version == AXLE_PROVIDER_ABI_VERSION);
    CHECK(std::string(provider->ns) == "guard");
    ProviderSink sink;
    CHECK(provider->supported(sink.c_sink()) == AXLE_PROVIDER_OK);
    CHECK(sink.mistake().empty());
    REQUIRE(sink.features().size() == 1);
    CHECK(sink.features().front().values == std::vector<std::string>{language});
    CHECK(sink.reasons().size() == 1);
  }
}

TEST_CASE("AXLE_PROVIDER_HAS tells an older sink from a newer one") {
  axle_provider_sink sink{};
  sink.struct_size = offsetof(axle_provider_sink, reason);
  CHECK(AXLE_PROVIDER_HAS(&sink, value));
  CHECK_FALSE(AXLE_PROVIDER_HAS(&sink, reason));
  sink.struct_size = sizeof sink;
  CHECK(AXLE_PROVIDER_HAS(&sink, reason));
}

TEST_CASE("the program carries the SDK's files as they are") {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(AXLE_SOURCE_DIR) / "providers/sdk";
  std::size_t header = 0;
  std::size_t templates = 0;
  for (const axle::providers::SdkFile& file : axle::providers::sdk_files()) {
    CAPTURE(file.path);
    std::ifstream stream(root / file.path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    CHECK(file.text == text);
    header += file.path == "axle_provider.h" ? 1 : 0;
    templates += file.path.starts_with("templates/") ? 1 : 0;
  }
  CHECK(header == 1);
  CHECK(templates >= 10);
}
