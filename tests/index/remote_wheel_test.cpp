#include "index/pages/remote_wheel.h"

#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "index/http/url.h"
#include "index/pages/source.h"
#include "tests/index/sample_wheels.h"
#include "tests/support/index_server.h"
#include "wheel/hash/sha256.h"
#include "wheel/wheel_file.h"

using namespace axle::index;
using axle::CollectedReport;
using axle::ErrorKind;
using axle::test::IndexServer;
using axle::test::SampleWheel;
using axle::test::TemporaryFolder;

namespace {

std::string hex_sha256(const std::string& bytes) {
  return axle::wheel::render_hex(axle::wheel::sha256(bytes));
}

struct Setup {
  explicit Setup(SampleWheel sample = {}) : server(folder.path()) {
    bytes = axle::test::read_file(axle::test::write_wheel(folder.path(), sample));
    file.filename = axle::test::wheel_file_name(sample);
    file.hash = axle::wheel::expected_sha256(hex_sha256(bytes));
    file.size = bytes.size();
    TransportOptions options;
    options.retries = 0;
    options.timeout_seconds = 30;
    transport = make_transport(options);
  }
  PublishedFile at(const std::string& mode) const {
    PublishedFile result = file;
    result.url = server.url(mode + "/" + file.filename);
    return result;
  }

  TemporaryFolder folder;
  IndexServer server;
  std::string bytes;
  PublishedFile file;
  std::unique_ptr<Transport> transport;
};

SampleWheel large_variant() {
  SampleWheel sample;
  sample.label = "v3";
  sample.properties = {"x86_64 :: level :: v3"};
  sample.padding = 1'000'000;
  return sample;
}

axle::Result<std::string> metadata_of(const PublishedFile& file, Transport& transport,
                                      axle::Report& report) {
  return axle::index::fetch_metadata(file, *axle::wheel::parse_wheel_name(file.filename),
                                     "the index", transport, report);
}

axle::Result<axle::wheel::VariantMetadata> own_variant_of(const PublishedFile& file,
                                                          Transport& transport,
                                                          axle::Report& report) {
  return axle::index::fetch_own_variant(file, *axle::wheel::parse_wheel_name(file.filename),
                                        transport, report);
}

}  // namespace

TEST_CASE("metadata and variant of a large wheel take one request for its tail") {
  const Setup setup(large_variant());
  auto source = open_remote(setup.at(""), *setup.transport);
  REQUIRE(source);
  CHECK((*source)->size() == setup.bytes.size());
  CollectedReport report;
  const auto wheel =
      axle::wheel::open_wheel(std::move(*source), setup.file.filename, "remote", report, true);
  REQUIRE(wheel);
  CHECK(wheel->metadata.name == "sample");
  REQUIRE(wheel->variant.has_value());
  CHECK(wheel->variant->variants.contains("v3"));
  CHECK(setup.server.seen().size() == 1);
  CHECK(setup.server.seen()[0].headers.at("range") == "bytes=-66560");
}

TEST_CASE("reads outside the tail fetch a block and keep it") {
  const Setup setup(large_variant());
  auto source = open_remote(setup.at(""), *setup.transport);
  REQUIRE(source);
  for (const std::size_t offset : {0, 30, 1000, 20'000}) {
    std::string got(100, '\0');
    REQUIRE((*source)->read(offset, std::as_writable_bytes(std::span(got))));
    CHECK(got == setup.bytes.substr(offset, 100));
  }
  CHECK(setup.server.seen().size() == 2);
  std::string all(setup.bytes.size(), '\0');
  REQUIRE((*source)->read(0, std::as_writable_bytes(std::span(all))));
  CHECK(all == setup.bytes);
  std::string beyond(10, '\0');
  CHECK(!(*source)->read(setup.bytes.size() - 5, std::as_writable_bytes(std::span(beyond))));
}

TEST_CASE("servers without ranges give the whole file once") {
  const Setup setup(large_variant());
  auto source = open_remote(setup.at("/-no-range"), *setup.transport);
  REQUIRE(source);
  for (const std::size_t offset : {0UL, 500'000UL, setup.bytes.size() - 100}) {
    std::string got(100, '\0');
    REQUIRE((*source)->read(offset, std::as_writable_bytes(std::span(got))));
    CHECK(got == setup.bytes.substr(offset, 100));
  }
  const auto seen = setup.server.seen();
  REQUIRE(seen.size() == 3);
  CHECK(!seen[2].headers.contains("range"));
}

TEST_CASE("servers that know no tails give it by its offset") {
  const Setup setup(large_variant());
  for (const char* mode : {"/-no-tail", "/-whole-tail"}) {
    CAPTURE(mode);
    const std::size_t before = setup.server.seen().size();
    auto source = open_remote(setup.at(mode), *setup.transport);
    REQUIRE(source);
    CHECK((*source)->size() == setup.bytes.size());
    std::string got(100, '\0');
    const std::size_t offset = setup.bytes.size() - 100;
    REQUIRE((*source)->read(offset, std::as_writable_bytes(std::span(got))));
    CHECK(got == setup.bytes.substr(offset, 100));
    const auto seen = setup.server.seen();
    REQUIRE(seen.size() == before + 3);
    for (std::size_t i = before; i < seen.size(); ++i) CHECK(seen[i].headers.contains("range"));
  }
}

TEST_CASE("metadata that was read out of a wheel is kept, for that URL and hash alone") {
  CollectedReport report;
  Setup setup(large_variant());
  const TemporaryFolder cache;
  setup.transport = make_caching_transport(std::move(setup.transport), {cache.path(), false});
  const auto text = metadata_of(setup.at(""), *setup.transport, report);
  REQUIRE(text);
  const auto offline = make_caching_transport(make_transport({}), {cache.path(), true});
  CHECK(metadata_of(setup.at(""), *offline, report) == *text);
  PublishedFile other = setup.at("");
  other.hash.digits = std::string(64, '0');
  CHECK(!metadata_of(other, *offline, report));
  other = setup.at("");
  other.url += "?elsewhere";
  CHECK(!metadata_of(other, *offline, report));
}

TEST_CASE("what a variant wheel says of itself is read once, and its METADATA with it") {
  const Setup setup(large_variant());
  const PublishedFile file = setup.at("");
  const TemporaryFolder cache;
  CollectedReport report;
  for (unsigned run = 0; run < 2; ++run) {
    const auto transport = make_caching_transport(make_transport({}), {cache.path(), run == 1});
    const auto variant = own_variant_of(file, *transport, report);
    REQUIRE(variant);
    CHECK(variant->variants.contains("v3"));
    const auto metadata = metadata_of(file, *transport, report);
    REQUIRE(metadata);
    CHECK(metadata->find("Name: sample") != std::string::npos);
    CHECK(setup.server.seen().size() == 1);
  }
  PublishedFile renamed = file;  // the label is checked against the name that is asked for
  renamed.filename.replace(renamed.filename.find("-v3"), 3, "-v4");
  const auto transport = make_caching_transport(make_transport({}), {cache.path(), false});
  const auto other = own_variant_of(renamed, *transport, report);
  REQUIRE_FALSE(other);
  CHECK(other.error().kind == ErrorKind::mismatch);
}

TEST_CASE("a plain wheel says nothing of variants") {
  const Setup setup;
  CollectedReport report;
  const auto variant = own_variant_of(setup.at(""), *setup.transport, report);
  REQUIRE_FALSE(variant);
  CHECK(variant.error().kind == ErrorKind::unsupported);
}

TEST_CASE("servers that lie about ranges are not believed") {
  const Setup setup(large_variant());
  for (const char* mode : {"/-bad-range", "/-short-range"}) {
    CAPTURE(mode);
    const auto source = open_remote(setup.at(mode), *setup.transport);
    REQUIRE(!source);
    CHECK(source.error().kind == ErrorKind::unsupported);
  }
}

TEST_CASE("a wheel whose size or hash differs from the index is refused") {
  const Setup setup(large_variant());
  PublishedFile file = setup.at("");
  file.size = *file.size + 1;
  CHECK(open_remote(file, *setup.transport).error().kind == ErrorKind::mismatch);
  const auto wrong = open_remote(setup.at("/-no-range/-wrong"), *setup.transport);
  REQUIRE(!wrong);
  CHECK(wrong.error().kind == ErrorKind::mismatch);
  CHECK(wrong.error().message.find("the index gives " + setup.file.hash.digits) !=
        std::string::npos);
  PublishedFile given = setup.at("/-no-range/-wrong");
  given.hash.source = axle::wheel::HashSource::url;
  const auto other = open_remote(given, *setup.transport);
  REQUIRE(!other);
  CHECK(other.error().message.find("the given URL has #sha256=" + setup.file.hash.digits) !=
        std::string::npos);
  CHECK(other.error().message.find("the index") == std::string::npos);
}

TEST_CASE("an absent wheel is not found, a forbidden one is an io error") {
  const Setup setup;
  CHECK(open_remote(setup.at("/absent"), *setup.transport).error().kind == ErrorKind::not_found);
  CHECK(open_remote(setup.at("/-status-403"), *setup.transport).error().kind == ErrorKind::io);
}

TEST_CASE("a wheel on disk is read in place") {
  CollectedReport report;
  const Setup setup;
  PublishedFile file = setup.file;
  file.url = file_url(setup.folder / setup.file.filename);
  CHECK((*open_remote(file, *setup.transport))->size() == setup.bytes.size());
  CHECK(metadata_of(file, *setup.transport, report)->find("Name: sample") != std::string::npos);
  CHECK(setup.server.seen().empty());
}

TEST_CASE("published metadata is fetched alone and checked") {
  CollectedReport report;
  const Setup setup(large_variant());
  axle::test::write_file(setup.folder / (setup.file.filename + ".metadata"), "Name: published\n");
  PublishedFile file = setup.at("");
  file.has_metadata = true;
  file.metadata_sha256 = hex_sha256("Name: published\n");
  CHECK(metadata_of(file, *setup.transport, report).value() == "Name: published\n");
  REQUIRE(setup.server.seen().size() == 1);
  CHECK(setup.server.seen()[0].target.ends_with(".whl.metadata"));
}

TEST_CASE("published metadata with another hash is passed over for the wheel's own, with a word") {
  const Setup setup(large_variant());
  axle::test::write_file(setup.folder / (setup.file.filename + ".metadata"), "Name: published\n");
  PublishedFile file = setup.at("");
  file.has_metadata = true;
  file.metadata_sha256 = std::string(64, '0');
  CollectedReport report;
  CHECK(metadata_of(file, *setup.transport, report)->find("Name: sample") != std::string::npos);
  REQUIRE(report.remarks.size() == 1);
  CHECK(report.remarks[0].severity == axle::Severity::warning);
  for (const std::string& word : {file.filename + ".metadata", std::string("the index"),
                                  file.metadata_sha256, hex_sha256("Name: published\n")}) {
    CHECK(report.remarks[0].message.find(word) != std::string::npos);
  }
  CHECK(setup.server.seen().back().headers.at("range") == "bytes=-66560");
}

TEST_CASE(
    "offline the wheel's own metadata stands in for published metadata that was passed over") {
  Setup setup(large_variant());
  const TemporaryFolder cache;
  setup.transport = make_caching_transport(std::move(setup.transport), {cache.path(), false});
  axle::test::write_file(setup.folder / (setup.file.filename + ".metadata"), "Name: published\n");
  PublishedFile file = setup.at("");
  file.has_metadata = true;
  file.metadata_sha256 = std::string(64, '0');
  CollectedReport report;
  CHECK(metadata_of(file, *setup.transport, report));
  const auto offline = make_caching_transport(make_transport({}), {cache.path(), true});
  CHECK(metadata_of(file, *offline, report)->find("Name: sample") != std::string::npos);
}

TEST_CASE("metadata that was promised and is absent comes from the wheel") {
  CollectedReport report;
  const Setup setup;
  PublishedFile file = setup.at("");
  file.has_metadata = true;
  CHECK(metadata_of(file, *setup.transport, report)->find("Name: sample") != std::string::npos);
  file.has_metadata = false;
  CHECK(metadata_of(file, *setup.transport, report)->find("Name: sample") != std::string::npos);
}

TEST_CASE("a listed file must have its listed hash") {
  const Setup setup;
  axle::test::write_file(setup.folder / "sample-1.0-variants.json", "{}");
  PublishedFile file;
  file.filename = "sample-1.0-variants.json";
  file.url = setup.server.url("/" + file.filename);
  CHECK(fetch_listed(file, *setup.transport, 100).value() == "{}");
  file.hash = axle::wheel::expected_sha256(hex_sha256("{}"));
  CHECK(fetch_listed(file, *setup.transport, 100).value() == "{}");
  CHECK(fetch_listed(file, *setup.transport, 1).error().kind == ErrorKind::io);
  file.hash = axle::wheel::expected_sha256(std::string(64, 'f'));
  CHECK(fetch_listed(file, *setup.transport, 100).error().kind == ErrorKind::mismatch);
  file.url = setup.server.url("/absent.json");
  CHECK(fetch_listed(file, *setup.transport, 100).error().kind == ErrorKind::not_found);
  file.url = file_url(setup.folder / "absent.json");
  CHECK(fetch_listed(file, *setup.transport, 100).error().kind == ErrorKind::not_found);
}
