#include "doctor/self/sample_wheels.h"

#include <utility>

#include <fmt/format.h>

#include "foundation/system/whole_file.h"
#include "wheel/wheel_writer.h"

namespace axle::doctor {
namespace {

constexpr std::uint64_t sample_time = 1'700'000'000;

std::string variant_json(std::string_view label) {
  const std::string properties =
      label == "null" ? "{}" : fmt::format(R"({{"x86_64": {{"level": ["{}"]}}}})", label);
  return fmt::format(R"({{"$schema": "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json",)"
                     R"( "default-priorities": {{"namespace": ["x86_64"]}},)"
                     R"( "providers": {{"x86_64": {{"requires": ["x86-64-variant-provider"]}}}},)"
                     R"( "variants": {{"{}": {}}}}})",
                     label, properties);
}

Result<SampleWheel> make_wheel(const std::string& name, const std::string& version,
                               const std::string& label) {
  const std::string dist_info = fmt::format("{}-{}.dist-info", name, version);
  const std::string needs = name == "demo" ? "Requires-Dist: base>=1\n" : "";
  std::vector<wheel::WheelMember> members = {
      // Long enough to be deflated, and hashed by OpenSSL.
      {name + "/__init__.py", fmt::format("LABEL = \"{}\"\n{:#<8000}\n", label, "")},
      {dist_info + "/METADATA",
       fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\n{}", name, version, needs)},
      {dist_info + "/WHEEL",
       "Wheel-Version: 1.0\nGenerator: axle\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
  };
  if (!label.empty()) members.push_back({dist_info + "/variant.json", variant_json(label)});
  auto bytes = wheel::write_wheel(std::move(members), dist_info, sample_time);
  if (!bytes) return std::unexpected(bytes.error());
  return SampleWheel{
      fmt::format("{}-{}-py3-none-any{}.whl", name, version, label.empty() ? "" : "-" + label),
      std::move(*bytes)};
}

}  // namespace

Result<std::vector<SampleWheel>> make_sample_wheels() {
  std::vector<SampleWheel> all;
  const std::vector<std::vector<std::string>> rows = {
      {"demo", "1.0", "null"}, {"demo", "1.0", "v2"}, {"demo", "1.0", "v3"},
      {"demo", "1.0", "v4"},   {"base", "1.0", ""},   {"base", "2.0", ""}};
  for (const auto& row : rows) {
    auto made = make_wheel(row[0], row[1], row[2]);
    if (!made) return std::unexpected(made.error());
    all.push_back(std::move(*made));
  }
  return all;
}

Result<void> write_sample(const std::string& path, const std::string& bytes) {
  const auto error = system::write_whole_file(path, bytes, {.flush = system::Flush::no});
  if (error) {
    return fail(ErrorKind::io, fmt::format("cannot write {}: {}", path, error.message()),
                "make room, or set TMPDIR to a folder that can be written");
  }
  return {};
}

}  // namespace axle::doctor
