#include "doctor/self/self_test.h"

#include <stdexcept>

#include <doctest/doctest.h>

using namespace axle;
using namespace axle::doctor;

TEST_CASE("a test of the program itself passes, is skipped by its own word alone, or failed") {
  const SelfTestResult passed =
      run_self_test("one", [] { return Result<SelfTestAnswer>(SelfTestAnswer{"seen"}); });
  CHECK(passed.name == "one");
  CHECK(passed.state == SelfTestState::passed);
  CHECK(passed.said == "seen");

  const SelfTestResult skipped = run_self_test("two", [] {
    return Result<SelfTestAnswer>(SelfTestAnswer{"no Python", true, "install it"});
  });
  CHECK(skipped.state == SelfTestState::skipped);
  CHECK(skipped.said == "no Python");
  CHECK(skipped.hint == "install it");

  // What the program cannot read of its own data is no reason to skip.
  for (const ErrorKind kind : {ErrorKind::unsupported, ErrorKind::malformed, ErrorKind::io}) {
    const SelfTestResult failed = run_self_test("three", [kind]() -> Result<SelfTestAnswer> {
      return fail(kind, "a newer schema", "reinstall");
    });
    CHECK(failed.state == SelfTestState::failed);
    CHECK(failed.said == "a newer schema");
    CHECK(failed.hint == "reinstall");
  }
  const SelfTestResult thrown = run_self_test(
      "four", []() -> Result<SelfTestAnswer> { throw std::runtime_error("no memory"); });
  CHECK(thrown.state == SelfTestState::failed);
  CHECK(thrown.said == "no memory");
}
