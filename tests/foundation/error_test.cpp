#include "foundation/report/error.h"

#include <doctest/doctest.h>

#include "foundation/report/report.h"

using axle::ErrorKind;

TEST_CASE("within names the place and keeps kind and hint") {
  const axle::Error error =
      axle::within("dist/a.whl", {ErrorKind::malformed, "no RECORD", "build it again"});
  CHECK(error.kind == ErrorKind::malformed);
  CHECK(error.message == "dist/a.whl: no RECORD");
  CHECK(error.hint == "build it again");
}

TEST_CASE("every kind has the name that JSON uses") {
  CHECK(std::string(axle::render_kind(ErrorKind::not_found)) == "not_found");
  CHECK(std::string(axle::render_kind(ErrorKind::unsupported)) == "unsupported");
  CHECK(std::string(axle::render_kind(ErrorKind::malformed)) == "malformed");
  CHECK(std::string(axle::render_kind(ErrorKind::mismatch)) == "mismatch");
  CHECK(std::string(axle::render_kind(ErrorKind::io)) == "io");
  CHECK(std::string(axle::render_kind(ErrorKind::conflict)) == "conflict");
}

TEST_CASE("a collected report keeps remarks in order") {
  axle::CollectedReport report;
  report.note("first");
  report.warn("second", "fix it");
  REQUIRE(report.remarks.size() == 2);
  CHECK(report.remarks[0].severity == axle::Severity::note);
  CHECK(report.remarks[1].message == "second");
  CHECK(report.remarks[1].hint == "fix it");
}
