#include "runtime/files/atomic_folder.h"

#include <csignal>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/runtime/files/made_file.h"

namespace {

using namespace axle::runtime;
using namespace axle::runtime::testing;

using Names = std::vector<std::string>;

std::string partial_name(pid_t process) { return "m.partial-" + std::to_string(process); }

/// The id of a process that is no more.
pid_t ended_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  return child;
}

TEST_CASE("a folder appears under its name with all that is in it") {
  const Folder folder;
  // A path may end in slashes.
  Result<AtomicFolder> made = AtomicFolder::create(folder.at("m//"));
  REQUIRE(made.has_value());
  CHECK(made->partial() == folder.at(partial_name(getpid())));
  CHECK(folder.names() == Names{partial_name(getpid())});
  REQUIRE(mkdir((made->partial() + "/inner").c_str(), 0777) == 0);
  folder.write(partial_name(getpid()) + "/inner/file", "text");
  REQUIRE(made->publish().has_value());
  CHECK(folder.names() == Names{"m"});
  CHECK(folder.read("m/inner/file") == "text");
}

TEST_CASE("what is not published is removed, folders in it too, but nothing that links lead to") {
  const Folder folder;
  folder.write("kept", "text");
  REQUIRE(mkdir(folder.at("others").c_str(), 0777) == 0);
  folder.write("others/kept", "text");
  {
    Result<AtomicFolder> made = AtomicFolder::create(folder.at("m"));
    REQUIRE(made.has_value());
    std::string inner = made->partial();
    for (int depth = 0; depth < 5; ++depth) {
      inner += "/inner";
      REQUIRE(mkdir(inner.c_str(), 0777) == 0);
    }
    REQUIRE(symlink(folder.at("others").c_str(), (inner + "/folder").c_str()) == 0);
    REQUIRE(symlink(folder.at("kept").c_str(), (made->partial() + "/file").c_str()) == 0);
    // Moved, it is still one folder.
    const AtomicFolder moved = std::move(*made);
    CHECK(folder.names() == Names{"kept", partial_name(getpid()), "others"});
  }
  CHECK(folder.names() == Names{"kept", "others"});
  CHECK(folder.read("others/kept") == "text");
}

TEST_CASE("something that is at the place already stays, whatever it is") {
  const Folder folder;
  folder.write("file", "text");
  REQUIRE(mkdir(folder.at("folder").c_str(), 0777) == 0);
  REQUIRE(symlink("nowhere", folder.at("link").c_str()) == 0);
  for (const char* name : {"file", "folder", "link"}) {
    const Result<AtomicFolder> made = AtomicFolder::create(folder.at(name));
    REQUIRE(!made.has_value());
    CHECK(made.error().status == AXLE_BAD_ARGUMENT);
    CHECK(made.error().message ==
          folder.at(name) + ": there is something already; name another folder");
  }
  CHECK(folder.names() == Names{"file", "folder", "link"});
}

TEST_CASE("something that comes to the place meanwhile stays") {
  const Folder folder;
  {
    Result<AtomicFolder> made = AtomicFolder::create(folder.at("m"));
    REQUIRE(made.has_value());
    // rename() would replace an empty folder.
    REQUIRE(mkdir(folder.at("m").c_str(), 0777) == 0);
    const Result<void> published = made->publish();
    REQUIRE(!published.has_value());
    CHECK(published.error().status == AXLE_BAD_ARGUMENT);
    folder.write("m/file", "text");
  }
  CHECK(folder.names() == Names{"m"});
  CHECK(folder.read("m/file") == "text");
}

TEST_CASE("a folder that vanished cannot be published, and says so") {
  const Folder folder;
  Result<AtomicFolder> made = AtomicFolder::create(folder.at("m"));
  REQUIRE(made.has_value());
  REQUIRE(rmdir(made->partial().c_str()) == 0);
  const Result<void> published = made->publish();
  REQUIRE(!published.has_value());
  CHECK(published.error().status == AXLE_IO);
  CHECK(published.error().message.find("cannot be renamed to " + folder.at("m")) !=
        std::string::npos);
}

TEST_CASE("a place where nothing can be made is named") {
  const Folder folder;
  folder.write("file", "text");
  for (const char* name : {"nowhere/m", "file/m"}) {
    const Result<AtomicFolder> made = AtomicFolder::create(folder.at(name));
    REQUIRE(!made.has_value());
    CHECK(made.error().status == AXLE_IO);
    CHECK(made.error().message.starts_with(folder.at(name) + ".partial-"));
    CHECK(made.error().message.find("cannot be made") != std::string::npos);
  }
  if (geteuid() == 0) return;  // may write everywhere
  REQUIRE(mkdir(folder.at("closed").c_str(), 0555) == 0);
  const Result<AtomicFolder> made = AtomicFolder::create(folder.at("closed/m"));
  REQUIRE(!made.has_value());
  CHECK(made.error().message.find("Permission denied") != std::string::npos);
}

TEST_CASE("what ended processes left of the same folder is removed, all else stays") {
  const Folder folder;
  const pid_t ended = ended_process();
  const Names others{"m.partial-", "m.partial-" + std::to_string(getppid()), "m.partial-1x",
                     "mm.partial-" + std::to_string(ended), "m.partial--" + std::to_string(ended)};
  for (const std::string& name : others) REQUIRE(mkdir(folder.at(name).c_str(), 0777) == 0);
  REQUIRE(mkdir(folder.at(partial_name(ended)).c_str(), 0777) == 0);
  folder.write(partial_name(ended) + "/model.safetensors", "half");
  {
    const Result<AtomicFolder> made = AtomicFolder::create(folder.at("m"));
    REQUIRE(made.has_value());
    CHECK(access(folder.at(partial_name(ended)).c_str(), F_OK) != 0);
    CHECK(folder.names().size() == others.size() + 1);
  }
  CHECK(folder.names().size() == others.size());
}

TEST_CASE("what a process of the same number left is removed, not what this one fills") {
  const Folder folder;
  const std::string own = folder.at(partial_name(getpid()));
  REQUIRE(mkdir(own.c_str(), 0777) == 0);
  folder.write(partial_name(getpid()) + "/model.safetensors", "half");
  Result<AtomicFolder> made = AtomicFolder::create(folder.at("m"));
  REQUIRE(made.has_value());
  CHECK(access((own + "/model.safetensors").c_str(), F_OK) != 0);
  folder.write(partial_name(getpid()) + "/model.safetensors", "whole");
  const Result<AtomicFolder> second = AtomicFolder::create(folder.at("m"));
  REQUIRE(!second.has_value());
  CHECK(second.error().message.find("File exists") != std::string::npos);
  REQUIRE(made->publish().has_value());
  CHECK(folder.read("m/model.safetensors") == "whole");
}

TEST_CASE("a killed process leaves nothing under the name") {
  const Folder folder;
  const pid_t child = fork();
  if (child == 0) {
    const Result<AtomicFolder> made = AtomicFolder::create(folder.at("m"));
    static_cast<void>(std::raise(SIGKILL));
    _exit(made.has_value() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(folder.names() == Names{partial_name(child)});
  Result<AtomicFolder> made = AtomicFolder::create(folder.at("m"));
  REQUIRE(made.has_value());
  REQUIRE(made->publish().has_value());
  CHECK(folder.names() == Names{"m"});
}

}  // namespace
