#pragma once
// Whether the installed program works here: what it carries is whole, what it opens is there, and
// what it does by itself comes out as known.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "foundation/report/error.h"

namespace axle::doctor {

enum class SelfTestState : std::uint8_t { passed, failed, skipped };

struct SelfTestResult {
  std::string name;  ///< of its row in self_tests()
  SelfTestState state = SelfTestState::passed;
  std::string said;  ///< what was seen, or why it failed or was skipped
  std::string hint;  ///< what to do
};

struct SelfTestSettings {
  std::string ca_file;    ///< that the user names; both empty: the system's
  std::string ca_folder;  ///< likewise
  std::string temporary;  ///< the folder for temporary files
  std::string path = {};  ///< PATH, on which an interpreter is looked for
};

/// What a test has seen, or why it cannot be made here.
struct SelfTestAnswer {
  std::string text;
  bool skipped = false;
  std::string hint = {};  ///< of a skipped one: what to do
};

/// The error: why it failed.
using SelfTestRun = Result<SelfTestAnswer> (*)(const SelfTestSettings& settings);

struct SelfTest {
  const char* name;
  SelfTestRun run;
};

/// In the order in which they are made.
[[nodiscard]] const std::vector<SelfTest>& self_tests();

/// Exceptions of the test are its failure, too.
[[nodiscard]] SelfTestResult run_self_test(const char* name,
                                           const std::function<Result<SelfTestAnswer>()>& run);

// One by one.
[[nodiscard]] Result<SelfTestAnswer> test_data(const SelfTestSettings& settings);
[[nodiscard]] Result<SelfTestAnswer> test_hashes(const SelfTestSettings& settings);
[[nodiscard]] Result<SelfTestAnswer> test_pages(const SelfTestSettings& settings);
[[nodiscard]] Result<SelfTestAnswer> test_wheels(const SelfTestSettings& settings);
[[nodiscard]] Result<SelfTestAnswer> test_detection(const SelfTestSettings& settings);
[[nodiscard]] Result<SelfTestAnswer> test_resolver(const SelfTestSettings& settings);
[[nodiscard]] Result<SelfTestAnswer> test_certificates(const SelfTestSettings& settings);
[[nodiscard]] Result<SelfTestAnswer> test_tls(const SelfTestSettings& settings);

}  // namespace axle::doctor
