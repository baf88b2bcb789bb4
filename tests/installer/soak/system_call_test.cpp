// Every system call of a command fails once, with each of five errors, under strace. After each
// failure the environment is the old or the new one to the byte, the exit status says which, and
// the next command finds it so. AXLE_SOAK=full tries every call with every error.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include "tests/installer/sandbox.h"

using namespace axle::installer;

namespace {

namespace fs = std::filesystem;
using Tree = std::map<std::string, std::string>;

constexpr const char* strace = "/usr/bin/strace";
constexpr const char* errors[] = {"EIO", "ESTALE", "EACCES", "ENOMEM", "EINTR"};

bool is_full() {
  const char* depth = std::getenv("AXLE_SOAK");
  return depth != nullptr && std::string_view(depth) == "full";
}

bool can_inject() {
  if (::access(strace, X_OK) == 0 &&
      run_command({strace, "-qq", "-o", "/dev/null", "/bin/true"}).status == 0)
    return true;
  MESSAGE("skipped: system calls cannot be made to fail without strace, and leave to trace");
  return false;
}

/// Once with all that an installer writes, once with files dropped, added and kept.
std::string make_package(const std::string& folder, const std::string& version, bool second) {
  std::vector<axle::wheel::WheelMember> members = {
      {"alpha/__init__.py", "version = '" + version + "'\ndef main():\n    print(version)\n"},
      {second ? "alpha/newer.py" : "alpha/older/deep.py", version},
      {"alpha/same.py", "always = 1\n"},
      {"alpha_single.py", version},
      {"shared/alpha.py", version},
      {fmt::format("alpha-{}.data/scripts/alpha-old-style", version), "#!python\nprint(1)\n", true},
      {fmt::format("alpha-{}.data/data/share/alpha/{}.txt", version, version),
       "data of " + version},
      {fmt::format("alpha-{}.dist-info/entry_points.txt", version),
       "[console_scripts]\nalpha-say = alpha:main\n"}};
  return make_wheel(folder, "alpha", version, std::move(members));
}

/// An environment and a store that are set back before every run.
class World {
 public:
  explicit World(const std::string& folder) : folder_(folder) {
    alpha_1 = make_package(folder_, "1.0", false);
    alpha_2 = make_package(folder_, "2.0", true);
    beta = make_wheel(folder_, "beta", "1.0", {{"beta.py", "1"}, {"shared/beta.py", "1"}});
  }

  [[nodiscard]] bool make() {
    if (!make_venv(live())) return false;
    REQUIRE(drive({"list"}).status == 0);  // the store has the interpreter's answer from here on
    return true;
  }

  CommandResult drive(std::vector<std::string> arguments,
                      const std::vector<std::string>& tracer = {},
                      const std::vector<std::string>& settings = {}) {
    arguments.insert(arguments.begin() + 1, {live(), live() + "/store"});
    arguments.insert(arguments.begin(), beside_test("installer_driver"));
    arguments.insert(arguments.begin(), tracer.begin(), tracer.end());
    return run_command(std::move(arguments), settings);
  }

  void keep() {
    fs::remove_all(kept());
    REQUIRE(run_command({"/bin/cp", "-a", live(), kept()}).status == 0);
  }
  /// The file that the interpreter's answer is kept under stays the same one.
  void set_back() {
    for (const auto& entry : fs::directory_iterator(live())) {
      if (entry.path().filename() != "pyvenv.cfg") fs::remove_all(entry.path());
    }
    REQUIRE(run_command({"/bin/cp", "-a", kept() + "/.", live()}).status == 0);
  }

  [[nodiscard]] Tree tree() const {
    Tree all = snapshot(live());
    std::erase_if(all, [](const auto& entry) {
      return entry.first == "store" || entry.first.starts_with("store/");
    });
    return all;
  }
  [[nodiscard]] bool is_clean() const {
    for (const auto& entry : fs::directory_iterator(live() + "/.axle")) {
      const auto name = entry.path().filename();
      if (name != "lock" && name != "unflushed" && name != "history") return false;
    }
    return true;
  }
  [[nodiscard]] std::string live() const { return folder_ + "/venv"; }

  std::string alpha_1;
  std::string alpha_2;
  std::string beta;

 private:
  [[nodiscard]] std::string kept() const { return folder_ + "/kept"; }
  std::string folder_;
};

/// How often a traced program made each call: the lines of strace begin with its name.
std::map<std::string, unsigned> count_calls(const std::string& trace) {
  std::map<std::string, unsigned> calls;
  std::istringstream lines(read_text(trace));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t end = line.find('(');
    if (end != std::string::npos && line[0] >= 'a' && line[0] <= 'z') ++calls[line.substr(0, end)];
  }
  for (const char* beginning_or_end : {"execve", "exit_group"}) calls.erase(beginning_or_end);
  // These never fail so, and glibc ends the program or believes the number to be an address.
  for (const char* memory : {"futex", "brk"}) calls.erase(memory);
  // Linux closes whatever close(2) says; strace leaves it open, and with it a lock held.
  calls.erase("close");
  return calls;
}

struct Fault {
  std::string call;
  unsigned number;
  const char* error;
};

/// What `command` does once it is on its way, without what every program does to start. It is done
/// afterwards.
std::vector<Fault> list_faults(World& world, const std::vector<std::string>& command,
                               const std::string& trace) {
  (void)run_command({strace, "-qq", "-o", trace, beside_test("installer_driver")});
  const auto start = count_calls(trace);
  REQUIRE(world.drive(command, {strace, "-qq", "-o", trace}).status == 0);
  std::vector<Fault> faults;
  for (const auto& [call, count] : count_calls(trace)) {
    const unsigned before = start.contains(call) ? start.at(call) : 0;
    for (unsigned number = before + 1; number <= count; ++number) {
      for (const char* error : errors) faults.push_back({call, number, error});
    }
  }
  return faults;
}

struct Judge {
  Tree old_tree;
  Tree new_tree;
  bool recovers = false;  ///< the command finishes another's work: any status, either tree

  void after(World& world, const CommandResult& result) const {
    const Tree now = world.tree();
    CHECK(result.status <= 1);
    if (!recovers) CHECK((now == (result.status == 0 ? new_tree : old_tree)));
    if (recovers && result.status == 0) CHECK((now == old_tree || now == new_tree));
    const CommandResult listed = world.drive({"list"});
    CHECK_MESSAGE(listed.status == 0, listed.err);
    const Tree settled = world.tree();
    if (recovers) {
      CHECK((settled == old_tree || settled == new_tree));
    } else {
      CHECK((settled == now));
    }
    CHECK(world.is_clean());
  }
};

void fail_every(World& world, const std::vector<std::string>& command, Judge judge) {
  const Sandbox traces;
  world.keep();
  if (!judge.recovers) judge.old_tree = world.tree();
  const std::vector<Fault> faults = list_faults(world, command, traces / "trace");
  if (!judge.recovers) judge.new_tree = world.tree();
  REQUIRE(faults.size() > 200);
  // A prime, so that all five errors and all calls have their turn.
  const std::size_t step = is_full() ? 1 : 61;
  unsigned refused = 0;
  unsigned runs = 0;
  for (std::size_t i = 0; i < faults.size(); i += step) {
    const Fault& fault = faults[i];
    world.set_back();
    const CommandResult result = world.drive(
        command,
        {strace, "-qq", "-o", traces / "trace", "-e", "trace=" + fault.call, "-e",
         fmt::format("inject={}:error={}:when={}", fault.call, fault.error, fault.number)});
    INFO(fmt::format("{} {} number {} {}: exit {} {}", command[0], fault.call, fault.number,
                     fault.error, result.status, result.err));
    judge.after(world, result);
    refused += result.status == 1;
    ++runs;
  }
  std::printf("%s: %u failing calls, %u of them stopped the command\n", command[0].c_str(), runs,
              refused);
  CHECK(refused > 0);
}

/// Memory where there is some: deletions on disk would be most of the time.
std::string soak_folder() { return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ""; }

}  // namespace

TEST_CASE("a failing system call of an installation") {
  const Sandbox folder(soak_folder());
  World world(folder.path());
  if (!can_inject() || !world.make()) return;
  REQUIRE(world.drive({"install", world.beta}).status == 0);
  fail_every(world, {"install", world.alpha_1}, {});
}

TEST_CASE("a failing system call of an upgrade") {
  const Sandbox folder(soak_folder());
  World world(folder.path());
  if (!can_inject() || !world.make()) return;
  REQUIRE(world.drive({"install", world.alpha_2}).status == 0);  // for the store
  REQUIRE(world.drive({"install", world.alpha_1, world.beta}).status == 0);
  fail_every(world, {"install", world.alpha_2}, {});
}

TEST_CASE("a failing system call of a reinstallation over byte code") {
  const Sandbox folder(soak_folder());
  World world(folder.path());
  if (!can_inject() || !world.make()) return;
  REQUIRE(world.drive({"install", world.alpha_1}).status == 0);
  REQUIRE(run_command({world.live() + "/bin/python", "-c", "import alpha, shared.alpha"}).status ==
          0);
  fail_every(world, {"install", world.alpha_1}, {});
}

TEST_CASE("a failing system call of an uninstallation") {
  const Sandbox folder(soak_folder());
  World world(folder.path());
  if (!can_inject() || !world.make()) return;
  REQUIRE(world.drive({"install", world.alpha_1, world.beta}).status == 0);
  fail_every(world, {"uninstall", "alpha"}, {});
}

TEST_CASE("a failing system call of a recovery") {
  const Sandbox folder(soak_folder());
  World world(folder.path());
  if (!can_inject() || !world.make()) return;
  REQUIRE(world.drive({"install", world.alpha_2}).status == 0);
  const Tree new_tree = world.tree();
  REQUIRE(world.drive({"install", world.alpha_1}).status == 0);
  const Tree old_tree = world.tree();
  world.keep();
  for (unsigned at = 1; at < 500; ++at) {
    world.set_back();
    const CommandResult killed =
        world.drive({"install", world.alpha_2}, {},
                    {"LD_PRELOAD=" + beside_test("libfault_shim.so"),
                     fmt::format("AXLE_FAULT_AT={}", at), "AXLE_FAULT_ACTION=kill"});
    REQUIRE(killed.status == 137);
    const Tree now = world.tree();
    if (now == old_tree || now == new_tree ||
        !is_there(world.live() + "/.axle/transaction/journal"))
      continue;
    fail_every(world, {"list"}, {old_tree, new_tree, true});
    return;
  }
  FAIL("no kill left the upgrade half made");
}
