#include "doctor/self/self_test.h"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "foundation/report/report.h"
#include "index/family/alternatives.h"
#include "index/family/device_extras.h"
#include "index/family/family.h"
#include "index/family/shipped_families.h"
#include "index/pages/page.h"
#include "machines/profile.h"
#include "machines/shipped_profiles.h"
#include "providers/sdk_files.h"
#include "wheel/hash/sha256.h"

namespace axle::doctor {
namespace {

/// How many of `shipped` `parse` reads.
template <class Shipped, class Parse>
Result<std::size_t> read_all(const Shipped& shipped, const char* kind, const Parse& parse) {
  for (const auto& one : shipped) {
    const auto read = parse(one);
    if (!read)
      return std::unexpected(within(fmt::format("the {} {}", kind, one.name), read.error()));
  }
  if (shipped.empty()) return fail(ErrorKind::malformed, fmt::format("there is no {}", kind));
  return shipped.size();
}

}  // namespace

const std::vector<SelfTest>& self_tests() {
  static const std::vector<SelfTest> all = {
      {"data", test_data},
      {"hashes", test_hashes},
      {"pages", test_pages},
      {"wheels", test_wheels},
      {"detection", test_detection},
      {"resolver", test_resolver},
      {"certificates", test_certificates},
      {"TLS", test_tls},
  };
  return all;
}

SelfTestResult run_self_test(const char* name, const std::function<Result<SelfTestAnswer>()>& run) {
  SelfTestResult result{name, SelfTestState::passed, {}, {}};
  try {
    auto seen = run();
    if (seen) {
      if (seen->skipped) result.state = SelfTestState::skipped;
      result.said = std::move(seen->text);
      result.hint = std::move(seen->hint);
      return result;
    }
    result.state = SelfTestState::failed;
    result.said = std::move(seen.error().message);
    result.hint = std::move(seen.error().hint);
  } catch (const std::exception& error) {
    result.state = SelfTestState::failed;
    result.said = error.what();
    result.hint = "reinstall the program, and the libraries that it opens";
  }
  return result;
}

Result<SelfTestAnswer> test_data(const SelfTestSettings&) {
  const auto profiles =
      read_all(machines::shipped_profiles(), "machine profile",
               [](const auto& one) { return machines::parse_profile(one.json, one.name); });
  if (!profiles) return std::unexpected(profiles.error());
  const auto families = read_all(index::shipped_families(), "family", [](const auto& one) {
    return index::parse_family(one.toml, std::string(one.name));
  });
  if (!families) return std::unexpected(families.error());
  const auto alternatives = read_all(
      index::shipped_alternatives(), "list of alternatives",
      [](const auto& one) { return index::parse_alternatives(one.toml, std::string(one.name)); });
  if (!alternatives) return std::unexpected(alternatives.error());
  const auto extras = read_all(
      index::shipped_device_extras(), "list of device extras",
      [](const auto& one) { return index::parse_device_extras(one.toml, std::string(one.name)); });
  if (!extras) return std::unexpected(extras.error());
  return SelfTestAnswer{fmt::format(
      "{} machine profiles, {} families, {} lists of alternatives and {} of device extras",
      *profiles, *families, *alternatives, *extras)};
}

Result<SelfTestAnswer> test_hashes(const SelfTestSettings&) {
  // Short texts are hashed by code of our own, long ones by OpenSSL.
  constexpr std::size_t length = 1'000'000;
  constexpr std::string_view known =
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";  // FIPS 180-2, B.3
  const std::string got = wheel::render_hex(wheel::sha256(std::string(length, 'a')));
  if (got != known) {
    return fail(ErrorKind::mismatch,
                fmt::format("SHA-256 of a million times \"a\" is {}, but should be {}", got, known),
                "the processor or OpenSSL's library is damaged: nothing that is installed can be "
                "trusted");
  }
  return SelfTestAnswer{"SHA-256 is right"};
}

Result<SelfTestAnswer> test_pages(const SelfTestSettings&) {
  CollectedReport report;  // remarks about what nobody wrote
  const std::string body =
      R"({"meta": {"api-version": "1.1"}, "name": "demo", "files": [{"filename": "demo-1.0-py3-none-any.whl",)"
      R"( "url": "demo-1.0-py3-none-any.whl", "hashes": {}, "size": 7}]})";
  const auto page = index::parse_json_page(body, "https://index.test/simple/demo/", report);
  if (!page) return std::unexpected(page.error());
  const bool right =
      page->files.size() == 1 && page->files.front().size == 7 &&
      page->files.front().url == "https://index.test/simple/demo/demo-1.0-py3-none-any.whl";
  if (!right) return fail(ErrorKind::mismatch, "a page of an index is not read as it is written");
  return SelfTestAnswer{"a page of an index is read"};
}

}  // namespace axle::doctor
