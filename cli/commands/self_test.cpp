// self-test: whether the installed program works on this machine.
#include "doctor/self/self_test.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/opened_model.h"
#include "runtime/selftest.h"
#include "session/session.h"
#include "session/settings/settings.h"
#include "session/variables.h"
#include "session/version.h"

namespace axle::cli {

namespace {

using doctor::SelfTestAnswer;
using doctor::SelfTestResult;
using doctor::SelfTestState;
using nlohmann::ordered_json;

/// Every kernel that the processor can run, against the reference.
Result<SelfTestAnswer> test_kernels(const session::Session& session) {
  const auto engine = open_engine(session);
  if (!engine) return std::unexpected(engine.error().error);
  axle_error error{};
  if (runtime::selftest(**engine, &error) != AXLE_OK)
    return fail(ErrorKind::mismatch, error.message, "the processor, or the program, is damaged");
  return SelfTestAnswer{"all kernels that this processor can run give the same bits"};
}

std::string_view name_of(SelfTestState state) {
  switch (state) {
    case SelfTestState::passed:
      return "ok";
    case SelfTestState::failed:
      return "failed";
    case SelfTestState::skipped:
      break;
  }
  return "skipped";
}

std::string render_results(const std::vector<SelfTestResult>& results) {
  std::string text;
  for (const SelfTestResult& result : results) {
    text += fmt::format("{:<14}{:<9}{}\n", result.name, name_of(result.state), result.said);
    if (!result.hint.empty()) text += fmt::format("{:<23}{}\n", "", result.hint);
  }
  const auto failed = std::ranges::count(results, SelfTestState::failed, &SelfTestResult::state);
  return text + (failed == 0 ? fmt::format("axle {} works here\n", session::version)
                             : fmt::format("{} of {} tests failed\n", failed, results.size()));
}

ordered_json results_json(const std::vector<SelfTestResult>& results) {
  ordered_json rows = ordered_json::array();
  for (const SelfTestResult& result : results) {
    rows.push_back({{"test", result.name},
                    {"state", name_of(result.state)},
                    {"said", result.said},
                    {"hint", result.hint}});
  }
  return rows;
}

std::string temporary_folder() {
  std::error_code error;
  std::string folder = std::filesystem::temp_directory_path(error).string();
  return error ? session::variable("TMPDIR") : folder;  // the test says what is wrong with it
}

}  // namespace

int run_self_test(session::Session& session, Output& output) {
  const auto settings = session::read_settings(session.arguments(), {}, session.pip_section());
  if (!settings) return output.failure(settings.error());
  const doctor::SelfTestSettings how{settings->ca_file, settings->ca_folder, temporary_folder(),
                                     session::variable("PATH")};
  std::vector<SelfTestResult> results;
  for (const doctor::SelfTest& test : doctor::self_tests())
    results.push_back(doctor::run_self_test(test.name, [&] { return test.run(how); }));
  results.push_back(doctor::run_self_test("kernels", [&] { return test_kernels(session); }));
  const bool works = std::ranges::none_of(
      results, [](const SelfTestResult& one) { return one.state == SelfTestState::failed; });
  return output.answer(
      {.text = [&] { return render_results(results); },
       .json = [&]() -> ordered_json {
         return {{"version", session::version}, {"works", works}, {"tests", results_json(results)}};
       }},
      works ? 0 : 1);
}

}  // namespace axle::cli
