#include "installer/environment/environment.h"

#include <filesystem>
#include <thread>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/environment/installed.h"
#include "installer/environment/interpreter.h"
#include "installer/environment/roots.h"
#include "installer/lock.h"
#include "tests/installer/sandbox.h"

using namespace axle::installer;
using axle::ErrorKind;

namespace {

void write_program(const std::string& path, std::string_view text) {
  write_text(path, text);
  REQUIRE(::chmod(path.c_str(), 0755) == 0);
}

}  // namespace

TEST_CASE("a virtual environment is found and described by its interpreter") {
  const Sandbox folder;
  if (!make_venv(folder / "work/.venv")) return;
  std::filesystem::create_directories(folder / "work/deep/er");
  EnvironmentRequest request;
  request.working_dir = folder / "work/deep/er";
  const auto environment = find_environment(request);
  REQUIRE(environment.has_value());
  CHECK(environment->prefix == folder / "work/.venv");
  CHECK(environment->virtual_env);
  CHECK_FALSE(environment->externally_managed);
  CHECK(environment->scripts == folder / "work/.venv/bin");
  CHECK(environment->purelib.starts_with(environment->prefix + "/lib/python3."));
  CHECK(environment->markers.strings.at("sys_platform") == "linux");
  CHECK(environment->tag_target.implementation == "cp");
  CHECK(environment->tag_target.python_major == 3);
  REQUIRE_FALSE(environment->tag_target.abis.empty());
  CHECK(environment->tag_target.abis.front().starts_with("cp3"));
  CHECK_FALSE(environment->tag_target.architecture.empty());
  CHECK_FALSE(environment->tag_target.libc_family.empty());
  CHECK(environment->tag_target.libc_major >= 1);
}

TEST_CASE("the environment named first wins") {
  const Sandbox folder;
  for (const char* name : {"one", "two", "three", "work/.venv"}) {
    write_program(folder / name + "/bin/python3", "#!/bin/sh\necho '" + std::string(name) + "'\n");
  }
  EnvironmentRequest request;
  request.working_dir = folder / "work";
  const auto says = [&](std::string_view name) {
    const auto environment = find_environment(request);
    REQUIRE_FALSE(environment.has_value());
    CAPTURE(environment.error().message);
    CHECK(environment.error().kind == ErrorKind::malformed);
    CHECK(environment.error().message.starts_with(folder / name));
    // The same without starting it.
    CHECK(find_interpreter(request).value_or("") == folder / name + "/bin/python3");
  };
  says("work/.venv");
  request.conda_prefix = folder / "three";
  says("three");
  request.virtual_env = folder / "two";
  says("two");
  request.system = true;
  request.path = "relative:" + folder / "one/bin";
  says("one");
  request.python = folder / "three";
  says("three");
  request.python = "python3";
  says("one");
  // A folder of the working folder that has the name of a program, but not that of an interpreter.
  write_program(folder / "one/bin/env", "#!/bin/sh\n");
  write_program(folder / "work/env/bin/python3", "#!/bin/sh\necho env\n");
  write_program(folder / "work/python3/bin/python3", "#!/bin/sh\necho clone\n");
  request.python = "env";
  says("work/env");
  request.python = "python3";
  says("one");
}

TEST_CASE("what is not an environment is named with the reason") {
  const Sandbox folder;
  write_text(folder / "file", "x");
  write_program(folder / "liar", "#!/bin/sh\necho '{\"executable\": 1}'\n");
  write_program(folder / "failing", "#!/bin/sh\necho 'no good' >&2\nexit 3\n");
  write_program(folder / "loud", "#!/bin/sh\nexec cat /dev/zero\n");
  std::filesystem::create_directories(folder / "empty");
  const auto error_for = [&](const std::string& python) {
    EnvironmentRequest request;
    request.python = python;
    request.working_dir = folder.path();
    const auto environment = find_environment(request);
    REQUIRE_FALSE(environment.has_value());
    CHECK_FALSE(environment.error().hint.empty());
    const auto interpreter = find_interpreter(request);
    const bool program = python == "liar" || python == "failing" || python == "loud";
    CHECK(interpreter.has_value() == program);
    if (!interpreter) CHECK(interpreter.error().message == environment.error().message);
    return environment.error();
  };
  CHECK(error_for("empty").message.contains("it has no bin/python"));
  CHECK(error_for("file").kind == ErrorKind::malformed);
  CHECK(error_for("missing").kind == ErrorKind::not_found);
  CHECK(error_for("liar").kind == ErrorKind::malformed);
  CHECK(error_for("failing").message.contains("no good"));
  CHECK(error_for("loud").message.contains("too long"));
  EnvironmentRequest nothing;
  nothing.working_dir = folder / "empty";
  CHECK(find_environment(nothing).error().kind == ErrorKind::not_found);
  nothing.virtual_env = folder / "gone";
  CHECK(find_environment(nothing).error().message.contains("VIRTUAL_ENV"));
}

TEST_CASE("an interpreter that does not answer is killed with everything that it started") {
  const Sandbox folder;
  write_program(folder / "slow", "#!/bin/sh\nsleep 60\n");
  const auto answer = ask_interpreter(folder / "slow", std::chrono::milliseconds(200));
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().kind == ErrorKind::malformed);
  CHECK(answer.error().message.contains("did not answer"));
}

TEST_CASE("what an environment prints when its interpreter starts is no part of the answer") {
  const Sandbox folder;
  if (!make_venv(folder / "venv")) return;
  EnvironmentRequest request;
  request.python = folder / "venv";
  const auto before = find_environment(request);
  REQUIRE(before.has_value());
  write_program(before->purelib + "/loud.pth", "import sys; sys.stdout.write('hello')\n");
  const auto after = find_environment(request);
  REQUIRE(after.has_value());
  CHECK(after->purelib == before->purelib);
}

TEST_CASE("while a virtual environment's interpreter is asked the caller may do something else") {
  const Sandbox folder;
  if (!make_venv(folder / "venv")) return;
  std::vector<std::string> told;
  EnvironmentRequest request;
  request.python = folder / "venv";
  request.cache_folder = folder / "cache";
  request.meanwhile = [&](const std::string& python, const std::string& prefix) {
    // The answer is not there yet.
    CHECK_FALSE(std::filesystem::exists(folder / "cache/interpreters"));
    told = {python, prefix};
  };
  const auto environment = find_environment(request);
  REQUIRE(environment.has_value());
  CHECK(told == std::vector{environment->python, environment->prefix});
  told.clear();
  REQUIRE(find_environment(request).has_value());
  CHECK(told.empty());  // it was cached
  // What is in no such environment is not known before the answer.
  write_program(folder / "bare/bin/python3", "#!/bin/sh\nexit 3\n");
  request.python = folder / "bare";
  CHECK_FALSE(find_environment(request).has_value());
  CHECK(told.empty());
}

TEST_CASE("answers are kept until the environment changes and a damaged one is asked for again") {
  const Sandbox folder;
  if (!make_venv(folder / "venv")) return;
  EnvironmentRequest request;
  request.python = folder / "venv";
  request.cache_folder = folder / "cache";
  REQUIRE(find_environment(request).has_value());
  std::string kept;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache/interpreters")) {
    kept = entry.path().string();
  }
  REQUIRE_FALSE(kept.empty());
  const std::string answer = read_text(kept);
  std::string told = answer;
  told.replace(told.find("linux"), 5, "venus");
  write_text(kept, told);
  CHECK(find_environment(request)->markers.strings.at("sys_platform") ==
        "linux");  // "platform" was told
  CHECK(find_environment(request)->tag_target.architecture.size() > 0);
  for (const std::string& damaged :
       {std::string(), answer.substr(0, answer.size() / 2), "x" + answer}) {
    write_text(kept, damaged);
    REQUIRE(find_environment(request).has_value());
    CHECK(read_text(kept) == answer);
  }
  std::string lie = answer;
  lie.replace(lie.find("CPython"), 7, "XPython");
  write_text(kept, lie);
  CHECK(find_environment(request)->markers.strings.at("platform_python_implementation") ==
        "XPython");
  write_text(folder / "venv/pyvenv.cfg", read_text(folder / "venv/pyvenv.cfg") + "# changed\n");
  CHECK(find_environment(request)->markers.strings.at("platform_python_implementation") ==
        "CPython");
}

TEST_CASE("a path contains what lies below it and nothing that only begins like it") {
  CHECK(contains_path("/a/v", "/a/v"));
  CHECK(contains_path("/a/v", "/a/v/x"));
  CHECK_FALSE(contains_path("/a/v", "/a/victim"));
  CHECK_FALSE(contains_path("/a/v", "/a"));
}

TEST_CASE("an environment that cannot be written is listed and not changed") {
  const Sandbox folder("/tmp");
  if (!make_venv(folder / "venv")) return;
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  const std::string wheel = make_wheel(folder / "dist", "a", "1", {{"a.py", "x = 1\n"}});
  const std::string driver = folder / "driver";
  std::filesystem::copy_file(beside_test("installer_driver"), driver);
  REQUIRE(run_command({driver, "install", folder / "venv", folder / "store", wheel}).status == 0);
  const auto before = snapshot(folder / "venv");
  std::filesystem::create_directory(folder / "theirs");
  REQUIRE(::chmod((folder / "theirs").c_str(), 0777) == 0);
  if (::geteuid() != 0) REQUIRE(::chmod((folder / "venv").c_str(), 0555) == 0);
  const auto listed = run_as_nobody({driver, "list", folder / "venv", folder / "theirs"});
  if (!listed) return;
  CHECK(listed->out == "a 1\n");
  CHECK(listed->status == 0);
  const auto removed =
      run_as_nobody({driver, "uninstall", folder / "venv", folder / "theirs", "a"});
  CHECK(removed->status == 1);
  CHECK(removed->err.contains("Permission denied"));
  CHECK(snapshot(folder / "venv") == before);
}

TEST_CASE("a second command waits for the first and says so") {
  const Sandbox folder;
  const Environment environment = bare_environment(folder / "env");
  axle::CollectedReport first;
  auto lock = EnvironmentLock::for_change(folder / "env/.axle", first);
  REQUIRE(lock.has_value());
  axle::CollectedReport second;
  std::thread waiting([&] { (void)list_installed(environment, second); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  lock = axle::fail(ErrorKind::io, "released");
  waiting.join();
  REQUIRE(second.remarks.size() == 1);
  CHECK(second.remarks[0].message.starts_with("waiting for another command"));
}

TEST_CASE("a full disk refuses an installation and keeps the environment") {
  const Sandbox folder;
  const std::string disk = folder / "disk";
  std::filesystem::create_directory(disk);
  if (run_command({"/bin/mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk}).status != 0) {
    MESSAGE("skipped: no small file system can be mounted here");
    return;
  }
  const Environment environment = bare_environment(disk + "/env");
  const auto before = snapshot(disk + "/env");
  MemoryTransport transport;
  axle::CollectedReport report;
  const std::string wheel =
      make_wheel(folder / "dist", "a", "1",
                 {{"a.py", std::string(200'000, 'x')}, {"b.py", std::string(200'000, 'y')}});
  const auto outcome = install(resolution_of({wheel}), environment, transport,
                               {.store_folder = folder / "store"}, report);
  CHECK_FALSE(outcome.has_value());
  if (!outcome) CHECK(outcome.error().message.contains("No space left"));
  CHECK(snapshot(disk + "/env") == before);
  CHECK(list_installed(environment, report)->empty());
  CHECK(run_command({"/bin/umount", disk}).status == 0);
}

TEST_CASE("packages of a lower layer of overlayfs are upgraded and removed whole") {
  const Sandbox folder;
  const std::string disk = folder / "disk";  // overlayfs does not go on overlayfs
  std::filesystem::create_directory(disk);
  const auto mount = [](const std::string& type, const std::string& options,
                        const std::string& at) {
    return run_command({"/bin/mount", "-t", type, "-o", options, type, at}).status == 0;
  };
  if (!mount("tmpfs", "size=4m", disk)) {
    MESSAGE("skipped: nothing can be mounted here");
    return;
  }
  MemoryTransport transport;
  axle::CollectedReport report;
  const auto put = [&](const std::string& prefix, const std::string& version) {
    const std::string wheel = make_wheel(
        folder / "dist", "a", version,
        {{"a/__init__.py", version}, {"a/deep/x.py", version}, {"a/v" + version + ".py", version}});
    return install(resolution_of({wheel}), bare_environment(prefix), transport,
                   {.store_folder = folder / "store"}, report);
  };
  REQUIRE(put(disk + "/lower/env", "1").has_value());
  for (const char* name : {"/upper", "/work", "/merged"})
    std::filesystem::create_directory(disk + name);
  if (mount("overlay",
            "lowerdir=" + disk + "/lower,upperdir=" + disk + "/upper,workdir=" + disk + "/work",
            disk + "/merged")) {
    const std::string prefix = disk + "/merged/env";
    const std::string site = bare_environment(prefix).purelib;
    CHECK(put(prefix, "2").has_value());
    CHECK(read_text(site + "/a/deep/x.py") == "2");
    CHECK_FALSE(is_there(site + "/a/v1.py"));
    CHECK(uninstall({"a"}, bare_environment(prefix), {.store_folder = folder / "store"}, report)
              .has_value());
    CHECK(std::filesystem::is_empty(site));
    CHECK(list_installed(bare_environment(prefix), report)->empty());
    CHECK_FALSE(is_there(prefix + "/.axle/transaction"));
    CHECK(run_command({"/bin/umount", disk + "/merged"}).status == 0);
  } else {
    MESSAGE("skipped: overlayfs cannot be mounted here");
  }
  CHECK(run_command({"/bin/umount", disk}).status == 0);
}
