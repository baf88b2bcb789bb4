// The main of every test program. doctest lets a filter that matches nothing succeed; here it
// fails, so that a renamed test cannot pass by not running.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdio>
#include <cstring>

#include <doctest/doctest.h>
#include <unistd.h>

namespace {

unsigned cases_run = 0;

struct CaseCounter : doctest::IReporter {
  explicit CaseCounter(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& stats) override {
    cases_run = stats.numTestCasesPassingFilters;
  }
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

}  // namespace

REGISTER_LISTENER("case_counter", 1, CaseCounter);

/// Of a test program that is also something else, which is then started as such: the exit code;
/// negative: it is to test.
extern "C" [[gnu::weak]] int instead_of_tests(int argc, char** argv);

int main(int argc, char** argv) {
  if (instead_of_tests != nullptr) {
    const int code = instead_of_tests(argc, argv);
    if (code >= 0) ::_exit(code);
  }
  doctest::Context context;
  context.applyCommandLine(argc, argv);
  const int failed = context.run();
  if (context.shouldExit()) return failed;
  if (cases_run == 0) {
    std::fputs("no test case matches the filter\n", stderr);
    return 1;
  }
  return failed;
}
