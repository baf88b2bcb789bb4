#include "tests/index/sample_wheels.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "wheel/wheel_writer.h"

namespace axle::test {
namespace {

wheel::VariantMetadata variant_of(const SampleWheel& sample) {
  wheel::VariantMetadata metadata;
  metadata.namespaces = sample.namespaces;
  for (const std::string& ns : sample.namespaces) {
    metadata.providers[ns].requires_ = {"provider-" + ns};
  }
  wheel::VariantProperties& properties = metadata.variants[sample.label];
  for (const std::string& text : sample.properties) {
    properties.insert(wheel::parse_property(text).value());
  }
  return metadata;
}

std::string noise(std::size_t size) {
  std::mt19937 random(7);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "axle-index-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = std::filesystem::canonical(pattern);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::string& path, std::string_view content) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string wheel_file_name(const SampleWheel& wheel) {
  return fmt::format("{}-{}-py3-none-any{}{}.whl", wheel.name, wheel.version,
                     wheel.label.empty() ? "" : "-", wheel.label);
}

std::string wheel_bytes(const SampleWheel& sample) {
  const std::string dist_info = fmt::format("{}-{}.dist-info", sample.name, sample.version);
  std::vector<wheel::WheelMember> members;
  members.push_back({sample.name + "/__init__.py", "VALUE = 1\n"});
  if (sample.padding > 0) members.push_back({sample.name + "/noise.bin", noise(sample.padding)});
  members.push_back({dist_info + "/METADATA",
                     fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\n"
                                 "Requires-Python: >=3.9, <4\nRequires-Dist: packaging\n\nText.\n",
                                 sample.name, sample.version)});
  members.push_back({dist_info + "/WHEEL",
                     "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
                     "Tag: py3-none-any\n"});
  if (!sample.label.empty()) {
    members.push_back(
        {dist_info + "/variant.json", wheel::render_variant_metadata(variant_of(sample)).value()});
  }
  return wheel::write_wheel(std::move(members), dist_info, 1'700'000'000).value();
}

std::string write_wheel(const std::string& folder, const SampleWheel& wheel) {
  const std::string path = folder + '/' + wheel_file_name(wheel);
  write_file(path, wheel_bytes(wheel));
  return path;
}

}  // namespace axle::test
