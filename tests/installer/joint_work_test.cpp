// Several wheels at once, and one wheel by several threads.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "installer/transaction/changes.h"
#include "installer/transaction/joint_report.h"
#include "tests/installer/sandbox.h"

using namespace axle::installer;
using axle::ErrorKind;

namespace {

/// Remembers what it was told.
class Said final : public axle::Report {
 public:
  void add(axle::Remark remark) override { remarks.push_back(std::move(remark.message)); }
  void progress(const axle::Work& work) override { shown.emplace_back(work.what); }

  std::vector<std::string> remarks;
  std::vector<std::string> shown;
};

/// A download waits until another has begun, for some seconds at most.
class MeetingTransport final : public axle::index::Transport {
 public:
  axle::Result<axle::index::HttpResponse> fetch(const axle::index::HttpRequest& request) override {
    return inner.fetch(request);
  }
  axle::Result<axle::index::HttpResponse> download(const axle::index::HttpRequest& request,
                                                   const axle::index::BodySink& sink) override {
    std::unique_lock lock(mutex_);
    most_at_once = std::max(most_at_once, ++running_);
    met_.notify_all();
    met_.wait_for(lock, std::chrono::seconds(20), [&] { return most_at_once > 1; });
    auto response = inner.download(request, sink);
    --running_;
    return response;
  }

  MemoryTransport inner;
  int most_at_once = 0;

 private:
  std::mutex mutex_;
  std::condition_variable met_;
  int running_ = 0;
};

/// One file never ends; the others are answered.
class EndlessTransport final : public axle::index::Transport {
 public:
  explicit EndlessTransport(std::string url) : url_(std::move(url)) {}

  axle::Result<axle::index::HttpResponse> fetch(const axle::index::HttpRequest& request) override {
    const std::lock_guard lock(mutex_);
    return inner.fetch(request);
  }
  axle::Result<axle::index::HttpResponse> download(const axle::index::HttpRequest& request,
                                                   const axle::index::BodySink& sink) override {
    while (request.url == url_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::string_view more = "PK";
      if (auto taken = sink(std::as_bytes(std::span(more))); !taken)
        return std::unexpected(taken.error());
    }
    const std::lock_guard lock(mutex_);
    return inner.download(request, sink);
  }

  MemoryTransport inner;

 private:
  std::string url_;
  std::mutex mutex_;
};

struct Workplace {
  Sandbox folder;
  Environment environment = bare_environment(folder / "env");
  InstallOptions options{.store_folder = folder / "store"};
  Said report;
};

/// Packages on a server that `transport` plays.
axle::plan::Resolution served(const Sandbox& folder, MemoryTransport& transport,
                              const std::vector<std::string>& names) {
  axle::plan::Resolution resolution;
  for (const std::string& name : names) {
    const std::string path =
        make_wheel(folder / "dist", name, "1.0", {{name + ".py", "name = '" + name + "'\n"}});
    axle::plan::ResolvedPackage package = package_of(path);
    package.url = fmt::format("https://index.example/{}", package.filename);
    transport.files[package.url] = read_text(path);
    resolution.packages.push_back(std::move(package));
  }
  return resolution;
}

}  // namespace

TEST_CASE("remarks of tasks are passed on in order, progress says how many are done") {
  Said said;
  JointReport joint(said, 3);
  joint.of(2).warn("third");
  joint.of(0).progress({"downloading a", 1, 2});
  joint.of(0).detail("first");
  joint.count_done();
  joint.of(2).progress({"unpacking c", 1, 2});
  joint.of(0).note("first again");
  CHECK(said.remarks.empty());
  joint.pass_on_remarks();
  CHECK(said.remarks == std::vector<std::string>{"first", "first again", "third"});
  CHECK(said.shown == std::vector<std::string>{"[1/3] downloading a", "[2/3] unpacking c"});
  joint.pass_on_remarks();
  CHECK(said.remarks.size() == 3);

  Said alone;
  JointReport(alone, 1).of(0).progress({"downloading a", 1, 2});
  CHECK(alone.shown == std::vector<std::string>{"downloading a"});
}

TEST_CASE("wheels are downloaded at once, and installed in the order of the plan") {
  Workplace work;
  MeetingTransport transport;
  const auto resolution = served(work.folder, transport.inner, {"one", "two", "three"});
  const auto changes = install(resolution, work.environment, transport, work.options, work.report);
  REQUIRE(changes.has_value());
  CHECK(transport.most_at_once > 1);
  REQUIRE(changes->installed.size() == 3);
  CHECK(changes->installed[0].name == "one");
  CHECK(changes->installed[2].name == "three");
  for (const char* name : {"one", "two", "three"})
    CHECK(is_there(fmt::format("{}/{}.py", work.environment.purelib, name)));
}

TEST_CASE("the first error ends the downloads beside it, and nothing is left of them") {
  Workplace work;
  EndlessTransport transport("https://index.example/endless-1.0-py3-none-any.whl");
  auto resolution = served(work.folder, transport.inner, {"endless", "wrong"});
  resolution.packages[0].size.reset();
  resolution.packages[1].hash.digits = std::string(64, '0');
  const auto changes = install(resolution, work.environment, transport, work.options, work.report);
  REQUIRE_FALSE(changes.has_value());
  CHECK(changes.error().kind == ErrorKind::mismatch);
  CHECK(changes.error().message.find("wrong-1.0-py3-none-any.whl") != std::string::npos);
  if (is_there(work.folder / "store")) CHECK(snapshot(work.folder / "store").empty());
}

TEST_CASE("a large wheel is unpacked by several threads") {
  Workplace work;
  std::vector<axle::wheel::WheelMember> members;
  for (int i = 0; i < 40; ++i)
    members.push_back(
        {fmt::format("big/part{}/data.bin", i), std::string(400'000, char('a' + i % 26))});
  const std::string good = make_wheel(work.folder / "dist", "big", "1.0", members);
  MemoryTransport none;
  REQUIRE(install(resolution_of({good}), work.environment, none, work.options, work.report));
  for (int i = 0; i < 40; ++i) {
    CHECK(read_text(fmt::format("{}/big/part{}/data.bin", work.environment.purelib, i)) ==
          members[static_cast<std::size_t>(i)].content);
  }
}
