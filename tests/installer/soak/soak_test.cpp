// Kills and faults at every step of installing, upgrading, uninstalling and recovering. After each
// the next command must find the old or the new state whole; a Python script that knows nothing of
// Axle judges. AXLE_SOAK=full runs the long form.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include "tests/installer/sandbox.h"

using namespace axle::installer;

namespace {

bool is_full() {
  const char* depth = std::getenv("AXLE_SOAK");
  return depth != nullptr && std::string_view(depth) == "full";
}

std::string module_text(const std::string& version, const std::string& extra = {}) {
  return fmt::format("__version__ = \"{}\"\n{}", version, extra);
}

/// A package with all that an installer writes: modules, a folder shared with others, scripts of
/// both kinds, data; the second version drops, adds and keeps files.
std::string make_alpha(const std::string& folder, const std::string& version, bool second) {
  const std::string part = second ? "alpha.newer" : "alpha.older.deep";
  const std::string part_path = second ? "alpha/newer.py" : "alpha/older/deep.py";
  std::vector<axle::wheel::WheelMember> members = {
      {"alpha/__init__.py",
       module_text(version, fmt::format("PARTS = ['{}', 'alpha_single', 'shared.alpha']\n"
                                        "def main():\n    print(__version__)\n",
                                        part))},
      {part_path, module_text(version)},
      {"alpha/same.py", "always = 1\n"},
      {"alpha_single.py", module_text(version)},
      {"shared/alpha.py", module_text(version)},
      {fmt::format("alpha-{}.data/scripts/alpha-old-style", version), "#!python\nprint(1)\n", true},
      {fmt::format("alpha-{}.data/data/share/alpha/{}.txt", version, version),
       "data of " + version},
      {fmt::format("alpha-{}.dist-info/entry_points.txt", version),
       "[console_scripts]\nalpha-say = alpha:main\n"}};
  if (!second) members.push_back({"alpha/older/__init__.py", ""});
  return make_wheel(folder, "alpha", version, std::move(members));
}

std::string make_beta(const std::string& folder) {
  return make_wheel(folder, "beta", "1.0",
                    {{"beta/__init__.py", module_text("1.0", "PARTS = ['shared.beta']\n")},
                     {"shared/beta.py", module_text("1.0")},
                     {"beta-1.0.data/data/share/beta/b.txt", "beta"}});
}

class Soak {
 public:
  explicit Soak(const std::string& prefix) : prefix_(prefix) {
    store_ = place_ / "store";
    alpha_1_ = make_alpha(place_.path(), "1.0", false);
    alpha_2_ = make_alpha(place_.path(), "2.0", true);
    beta_ = make_beta(place_.path());
    (void)drive({"list"}, {});  // keeps the interpreter's answer
    state_ = verify();
  }

  struct Operation {
    std::string name;
    std::vector<std::string> arguments;
  };

  [[nodiscard]] std::vector<Operation> possible() const {
    const bool alpha = state_.contains("alpha==");
    std::vector<Operation> operations = {
        {"alpha 1.0", {"install", alpha_1_}},
        {"alpha 2.0", {"install", alpha_2_}},
        {"beta", {"install", beta_}},
        {"alpha 1.0 and beta", {"install", alpha_1_, beta_}},
        {"alpha 2.0 and beta", {"install", alpha_2_, beta_}},
    };
    if (alpha) operations.push_back({"not alpha", {"uninstall", "alpha"}});
    if (state_.contains("beta==")) operations.push_back({"not beta", {"uninstall", "beta"}});
    if (alpha && state_.contains("beta==")) {
      operations.push_back({"not alpha, not beta", {"uninstall", "alpha", "beta"}});
    }
    return operations;
  }

  /// The state after `operation` on the present one.
  [[nodiscard]] std::string expected(const Operation& operation) const {
    std::string alpha = state_.contains("alpha==1.0") ? "alpha==1.0"
                        : state_.contains("alpha==")  ? "alpha==2.0"
                                                      : "";
    std::string beta = state_.contains("beta==") ? "beta==1.0" : "";
    const bool enters = operation.arguments[0] == "install";
    if (operation.name.contains("alpha")) {
      alpha = !enters ? "" : operation.name.contains("1.0") ? "alpha==1.0" : "alpha==2.0";
    }
    if (operation.name.contains("beta")) beta = enters ? "beta==1.0" : "";
    return alpha + (alpha.empty() || beta.empty() ? "" : " ") + beta;
  }

  CommandResult drive(std::vector<std::string> arguments,
                      const std::vector<std::string>& settings) {
    arguments.insert(arguments.begin() + 1, {prefix_, store_});
    arguments.insert(arguments.begin(), beside_test("installer_driver"));
    return run_command(std::move(arguments), settings);
  }

  CommandResult drive_faulty(const std::vector<std::string>& arguments, unsigned long at,
                             const std::string& action, const std::string& mode = "once") {
    return drive(arguments, {"LD_PRELOAD=" + beside_test("libfault_shim.so"),
                             fmt::format("AXLE_FAULT_AT={}", at), "AXLE_FAULT_ACTION=" + action,
                             "AXLE_FAULT_MODE=" + mode});
  }

  /// How many calls that change something `operation` makes; it is done afterwards.
  unsigned long count_calls(const std::vector<std::string>& arguments) {
    const std::string file = place_ / "count";
    std::filesystem::remove(file);
    const CommandResult result = drive(
        arguments, {"LD_PRELOAD=" + beside_test("libfault_shim.so"), "AXLE_FAULT_COUNT=" + file});
    INFO(result.err);
    REQUIRE(result.status == 0);
    return std::stoul(read_text(file));
  }

  /// What Python finds; fails the test when it is torn.
  std::string verify() {
    const CommandResult result =
        run_command({prefix_ + "/bin/python", AXLE_VERIFY_ENVIRONMENT, place_ / "baseline"});
    INFO(result.out, result.err);
    CHECK(result.status == 0);
    return result.out.substr(0, result.out.find('\n'));
  }

  /// What `list` finds, in Python's spelling.
  std::string list(const std::string& what) {
    const CommandResult listed = drive({"list"}, {});
    INFO(what, "\n", listed.err);
    REQUIRE(listed.status == 0);
    std::string state;
    for (const char c : listed.out) {
      state += c == ' ' ? "==" : std::string(1, c == '\n' ? ' ' : c);
    }
    if (!state.empty()) state.pop_back();
    return state;
  }

  /// After an interruption: `list` and Python agree on one of `allowed`.
  void settle(const std::set<std::string>& allowed, const std::string& what) {
    const std::string by_list = list(what);
    INFO(what);
    state_ = verify();
    CHECK(by_list == state_);
    CAPTURE(state_);
    REQUIRE(allowed.contains(state_));
  }

  void bring_to(const std::vector<std::vector<std::string>>& commands) {
    if (state_.contains("alpha==")) REQUIRE(drive({"uninstall", "alpha"}, {}).status == 0);
    if (state_.contains("beta==")) REQUIRE(drive({"uninstall", "beta"}, {}).status == 0);
    for (const auto& command : commands) REQUIRE(drive(command, {}).status == 0);
    state_ = list("preparing");
  }

  void empty_store() { std::filesystem::remove_all(store_ + "/wheels"); }

  /// Nothing of the interrupted unpackings is left once another has been made.
  void check_store() {
    empty_store();
    bring_to({{"install", alpha_1_}});
    for (const auto& entry : std::filesystem::directory_iterator(store_)) {
      CHECK_FALSE(entry.path().filename().string().starts_with("work-"));
    }
  }

  [[nodiscard]] const std::string& state() const { return state_; }
  [[nodiscard]] const std::string& alpha_1() const { return alpha_1_; }
  [[nodiscard]] const std::string& alpha_2() const { return alpha_2_; }
  [[nodiscard]] const std::string& beta() const { return beta_; }

 private:
  Sandbox place_;
  std::string prefix_;
  std::string store_;
  std::string alpha_1_;
  std::string alpha_2_;
  std::string beta_;
  std::string state_;
};

/// Memory where there is some: deletions on disk would be most of the time.
std::string soak_folder() { return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ""; }

struct Fault {
  const char* action;
  const char* mode;
};

void fail_every(Soak& soak, const std::vector<std::vector<std::string>>& before,
                const Soak::Operation& operation, unsigned long step, bool cold) {
  if (cold) soak.empty_store();
  soak.bring_to(before);
  if (cold) soak.empty_store();
  const std::string old_state = soak.state();
  const std::string new_state = soak.expected(operation);
  const unsigned long calls = soak.count_calls(operation.arguments);
  REQUIRE(calls > 10);
  soak.settle({new_state}, operation.name);
  constexpr Fault faults[] = {
      {"ENOSPC", "once"}, {"EIO", "once"}, {"EACCES", "once"}, {"ENOSPC", "after"}};
  unsigned long turn = 0;
  unsigned long refused = 0;
  for (unsigned long at = 1; at <= calls; at += step) {
    const Fault fault = faults[turn++ % std::size(faults)];
    soak.bring_to(before);
    if (cold) soak.empty_store();
    const CommandResult result =
        soak.drive_faulty(operation.arguments, at, fault.action, fault.mode);
    const std::string what =
        fmt::format("{}: call {} of {} {} {}: exit {} {}", operation.name, at, calls, fault.action,
                    fault.mode, result.status, result.err);
    INFO(what);
    REQUIRE(result.status <= 1);
    if (result.status == 1) {
      ++refused;
      CHECK(result.err.contains("error: "));
    }
    // "after" may leave even the undoing undone: then either state, by the next command.
    const bool either = result.status == 1 && std::string_view(fault.mode) == "after";
    soak.settle(either ? std::set<std::string>{old_state, new_state}
                       : std::set<std::string>{result.status == 0 ? new_state : old_state},
                what);
  }
  CHECK(refused > 0);
}

}  // namespace

TEST_CASE("a kill at a random point of any command leaves the old or the new state") {
  Sandbox folder(soak_folder());
  if (!make_venv(folder / "venv")) return;
  Soak soak(folder / "venv");
  const unsigned wanted = is_full() ? 1000 : 200;
  std::mt19937 random(20'260'101);
  const auto below = [&random](unsigned long bound) {
    return std::uniform_int_distribution<unsigned long>(0, bound - 1)(random);
  };
  std::map<std::string, unsigned long> calls;  // of the last run that was not killed
  unsigned kills = 0;
  unsigned kills_of_recovery = 0;
  for (unsigned turn = 0; kills < wanted; ++turn) {
    REQUIRE(turn < wanted * 20);
    const auto operations = soak.possible();
    const Soak::Operation& operation = operations[below(operations.size())];
    const std::string old_state = soak.state();
    const std::string new_state = soak.expected(operation);
    if (below(4) == 0) soak.empty_store();
    const unsigned long at = 1 + below(calls.contains(operation.name) ? calls[operation.name] : 60);
    const CommandResult result = soak.drive_faulty(operation.arguments, at, "kill");
    const std::string what = fmt::format("turn {}: {} on '{}', killed at {}: exit {} {}", turn,
                                         operation.name, old_state, at, result.status, result.err);
    INFO(what);
    REQUIRE((result.status == 0 || result.status == 137));
    kills += result.status == 137;
    calls[operation.name] =
        result.status == 137 ? std::max(calls[operation.name], at + 20) : std::max(at, 2UL) - 1;
    for (unsigned attempt = 0; result.status == 137 && attempt < 3 && below(2) == 0; ++attempt) {
      kills_of_recovery += soak.drive_faulty({"list"}, 1 + below(12), "kill").status == 137;
    }
    soak.settle({old_state, new_state}, what);
  }
  std::printf("%u kills, and %u of recoveries\n", kills, kills_of_recovery);
  CHECK(kills_of_recovery > 0);
  soak.check_store();
}

TEST_CASE("a failing call at any point of any command leaves the old or the new state") {
  Sandbox folder(soak_folder());
  if (!make_venv(folder / "venv")) return;
  Soak soak(folder / "venv");
  const unsigned long step = is_full() ? 1 : 5;
  const std::vector<std::string> alpha_1 = {"install", soak.alpha_1()};
  const std::vector<std::string> beta = {"install", soak.beta()};
  fail_every(soak, {}, {"alpha 1.0", {"install", soak.alpha_1()}}, step, true);
  fail_every(soak, {alpha_1, beta}, {"alpha 2.0", {"install", soak.alpha_2()}}, step, false);
  fail_every(soak, {alpha_1, beta}, {"not alpha", {"uninstall", "alpha"}}, step, false);
  soak.check_store();
}
