// Wheels that lie or want out (installing, hostile wheels): each is refused, the environment stays
// as it was.

#include <filesystem>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "installer/environment/installed.h"
#include "tests/installer/sandbox.h"
#include "wheel/hash/sha256.h"

using namespace axle::installer;
using axle::ErrorKind;
using axle::wheel::WheelMember;

namespace {

struct Refusal {
  Sandbox folder;
  Environment environment = bare_environment(folder / "env");
  std::map<std::string, std::string> before = snapshot(folder / "env");
  MemoryTransport transport;
  axle::CollectedReport report;

  /// Installs the package and checks that it is refused and nothing was changed.
  axle::Error of(const axle::plan::ResolvedPackage& package) {
    axle::plan::Resolution resolution;
    resolution.packages.push_back(package);
    InstallOptions options{.store_folder = folder / "store", .overwrite = true};
    const auto outcome = install(resolution, environment, transport, options, report);
    REQUIRE_FALSE(outcome.has_value());
    CAPTURE(outcome.error().message);
    CHECK(snapshot(folder / "env") == before);
    CHECK_FALSE(is_there(folder / "env/.axle"));
    CHECK_FALSE(is_there(folder / "store/wheels"));
    if (is_there(folder / "store")) CHECK(snapshot(folder / "store").empty());
    return outcome.error();
  }
  axle::Error of_members(std::vector<WheelMember> members) {
    return of(package_of(make_wheel(folder / "dist", "a", "1.0", std::move(members))));
  }
  /// A wheel with a RECORD of its own making.
  axle::Error of_record(const std::string& record) {
    const std::vector<WheelMember> members = {
        {"a.py", "x = 1\n"},
        {"a-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: a\nVersion: 1.0\n"},
        {"a-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
        {"a-1.0.dist-info/RECORD", record}};
    const std::string path = folder / "dist/a-1.0-py3-none-any.whl";
    write_text(path, *axle::wheel::write_zip(members, 1'700'000'000));
    return of(package_of(path));
  }
};

std::string line_of(const std::string& path, const std::string& content) {
  return path + ",sha256=" + axle::wheel::render_base64(axle::wheel::sha256(content)) + "," +
         std::to_string(content.size()) + "\n";
}

const std::string rest_of_record =
    line_of("a-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: a\nVersion: 1.0\n") +
    line_of("a-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n") +
    "a-1.0.dist-info/RECORD,,\n";

}  // namespace

TEST_CASE("files that would replace the environment's own are refused") {
  for (const char* path :
       {"a-1.0.data/scripts/python3", "a-1.0.data/scripts/PyThon", "a-1.0.data/data/bin/python3.11",
        "a-1.0.data/data/bin/activate", "a-1.0.data/scripts/activate", "a-1.0.data/data/pyvenv.cfg",
        "a-1.0.data/data/.axle/transaction/journal", "a-1.0.data/data/bin",
        "a-1.0.data/data/lib"}) {
    CAPTURE(path);
    CHECK(Refusal().of_members({{path, "evil"}}).kind == ErrorKind::malformed);
  }
}

TEST_CASE("entry points that leave the scripts folder or take an interpreter's name are refused") {
  for (const char* entry :
       {"../../../evil = a:b", "python3 = a:b", "x = a:b\nx = a:c", "x = os:system('x')"}) {
    CAPTURE(entry);
    const std::string text = std::string("[console_scripts]\n") + entry + "\n";
    CHECK(Refusal().of_members({{"a.py", ""}, {"a-1.0.dist-info/entry_points.txt", text}}).kind ==
          ErrorKind::malformed);
  }
}

TEST_CASE("data folders and schemes that are none are refused") {
  for (const char* path : {"a-1.0.data/nonsense/x", "a-1.0.data/loose", "b-1.0.data/scripts/x",
                           "a-1.0.data/scripts/deep/er", "a-1.0.data/scripts/-rf"}) {
    CAPTURE(path);
    CHECK(Refusal().of_members({{path, "x"}}).kind == ErrorKind::malformed);
  }
}

TEST_CASE("a wheel that poses as another package is refused") {
  CHECK(Refusal().of_members({{"a-1.0.data/purelib/pip-99.dist-info/METADATA", "x"}}).kind ==
        ErrorKind::malformed);
  CHECK(Refusal()
            .of_members({{"a-1.0.data/data/lib/python3.11/site-packages/pip.egg-info", "x"}})
            .kind == ErrorKind::malformed);
  CHECK(Refusal().of_members({{"a-1.0.data/purelib/a-1.0.dist-info/RECORD", "x"}}).kind ==
        ErrorKind::malformed);
}

TEST_CASE("a wheel that poses as another package by case or by letters that fold is refused") {
  for (const char* path :
       {"requests-99.0.DIST-INFO/METADATA",
        "requests-99.0.Dist-Info/METADATA",
        "requests-99.0.EGG-INFO/PKG-INFO",
        "requests-99.0.egg-info",
        "REQUESTS.EGG-INFO",
        "requests.egg-link",
        "requests.Egg-Link",
        "requests-99.0-py3.11.EGG/EGG-INFO/PKG-INFO",
        "requests-99.0.di\xC5\xBFt-info/METADATA",
        "requests-99.0.di\xEF\xAC\x86-info/METADATA",
        "requests-99.0.dist\xE2\x80\x8B-info/METADATA",
        "A-1.0.DIST-INFO/x",
        "a-1.0.DATA/scripts/x",
        "A-1.0.data/scripts/x",
        "a-1.0.data/SCRIPTS/x",
        "a-1.0.data/purelib/requests-99.0.DIST-INFO/METADATA",
        "a-1.0.data/data/LIB/python3.11/site-packages/requests-99.0.dist-info/METADATA",
        "a-1.0.data/data/lib/python3.11/Site-Packages/requests-99.0.Dist-Info/METADATA",
        "a-1.0.dist-info/installer",
        "a-1.0.dist-info/Requested",
        "a-1.0.dist-info/direct_url.JSON",
        "a-1.0.data/data/PYVENV.CFG",
        "a-1.0.data/data/.AXLE/transaction/journal",
        "a-1.0.data/data/BIN/python3",
        "a-1.0.data/data/Bin/Activate"}) {
    INFO(std::string(path));
    const ErrorKind kind = Refusal().of_members({{path, "Name: requests\nVersion: 99.0\n"}}).kind;
    const bool refused = kind == ErrorKind::malformed || kind == ErrorKind::mismatch;
    CHECK(refused);
  }
}

TEST_CASE("names that only look alike and are nobody's are installed") {
  const Sandbox folder;
  const Environment environment = bare_environment(folder / "env");
  const std::vector<WheelMember> members = {{"Foo.Data/x.txt", "1"},
                                            {"egg-info/x.py", "1"},
                                            {"donn\xC3\xA9\x65s/m.py", "1"},
                                            {"pkg/x.dist-info/METADATA", "1"},
                                            {"stra\xC3\x9F\x65.py", "1"}};
  const std::string path = make_wheel(folder / "dist", "a", "1.0", members);
  MemoryTransport transport;
  axle::CollectedReport report;
  const auto done = install(resolution_of({path}), environment, transport,
                            InstallOptions{.store_folder = folder / "store"}, report);
  REQUIRE_MESSAGE(done.has_value(), done.error().message);
}

TEST_CASE("line ends that only Python sees are refused in names and entry points") {
  for (const char* line_end :
       {"\xE2\x80\xA8", "\xE2\x80\xA9", "\xC2\x85", "\v", "\f", "\x1c", "\x1d", "\x1e", "\r"}) {
    CAPTURE(line_end);
    const std::string hidden = line_end;
    CHECK_THROWS(static_cast<void>(wheel_bytes("a", "1.0", {{"a" + hidden + "b.py", "1"}})));
    for (const std::string& text :
         {"[console_scripts]\nx = a" + hidden + "b:main\n",
          "[console_scripts]\nx = a:main # " + hidden + "pip = evil:main\n",
          "[other]\nx = a:b" + hidden + "[console_scripts]" + hidden + "pip = a:b\n"}) {
      CHECK(Refusal().of_members({{"a.py", ""}, {"a-1.0.dist-info/entry_points.txt", text}}).kind ==
            ErrorKind::malformed);
    }
  }
}

TEST_CASE("two files of a wheel for one place are refused") {
  CHECK(Refusal().of_members({{"x.py", "1"}, {"a-1.0.data/purelib/x.py", "2"}}).kind ==
        ErrorKind::malformed);
}

TEST_CASE("a link inside the environment does not lead out of it") {
  Refusal refusal;
  write_text(refusal.folder / "outside/kept", "kept");
  std::filesystem::create_directory_symlink(refusal.folder / "outside",
                                            refusal.folder / "env/share");
  refusal.before = snapshot(refusal.folder / "env");
  CHECK(refusal.of_members({{"a-1.0.data/data/share/x", "evil"}}).kind == ErrorKind::malformed);
  CHECK_FALSE(is_there(refusal.folder / "outside/x"));
}

TEST_CASE("a wrong RECORD is rejected") {
  const std::string truth = line_of("a.py", "x = 1\n");
  const auto refused = [](const std::string& record) {
    CAPTURE(record);
    const ErrorKind kind = Refusal().of_record(record).kind;
    CHECK((kind == ErrorKind::mismatch || kind == ErrorKind::malformed));
  };
  refused(line_of("a.py", "x = 2\n") + rest_of_record);                  // hash
  refused(truth.substr(0, truth.rfind(',')) + ",7\n" + rest_of_record);  // size
  refused(rest_of_record);                                               // a file unlisted
  refused("a.py,,\n" + rest_of_record);                                  // no hash
  refused(truth + line_of("b.py", "") + rest_of_record);                 // a file missing
  refused(truth + truth + rest_of_record);                               // twice
  refused(truth + "../../../../victim.txt,,\n" + rest_of_record);
  refused("nonsense");
}

TEST_CASE("one wrong hash is found in a wheel that several threads unpack") {
  std::vector<WheelMember> members = {
      {"a-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: a\nVersion: 1.0\n"},
      {"a-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}};
  for (int i = 0; i < 30; ++i)
    members.push_back({fmt::format("a/{}.bin", i), fmt::format("{:0500000}", i)});
  std::string record;
  for (const WheelMember& member : members) record += line_of(member.path, member.content);
  members[17].content[499'000] = 'x';
  members.push_back({"a-1.0.dist-info/RECORD", record + "a-1.0.dist-info/RECORD,,\n"});
  Refusal refusal;
  const std::string path = refusal.folder / "dist/a-1.0-py3-none-any.whl";
  write_text(path, *axle::wheel::write_zip(members, 1'700'000'000));
  const axle::Error error = refusal.of(package_of(path));
  CHECK(error.kind == ErrorKind::mismatch);
  CHECK(error.message.find("the hash of a/15.bin differs") != std::string::npos);
}

TEST_CASE("a RECORD with only stronger hashes is reported as unsupported") {
  for (const char* algorithm : {"sha384", "sha512"}) {
    const auto error =
        Refusal().of_record(fmt::format("a.py,{}=AAAA,6\n{}", algorithm, rest_of_record));
    CHECK(error.kind == ErrorKind::unsupported);
    CHECK(error.message.contains("sha384 or sha512 hash for a.py"));
    CHECK_FALSE(error.hint.empty());
  }
}

TEST_CASE("wheels that are not what the index says are refused") {
  Refusal refusal;
  const std::string path = make_wheel(refusal.folder / "dist", "a", "1.0", {{"a.py", "1"}});
  const auto package = package_of(path);
  const auto with = [&](auto change) {
    auto changed = package;
    change(changed);
    return refusal.of(changed).kind;
  };
  CHECK(with([](auto& p) { p.hash.digits = std::string(64, '0'); }) == ErrorKind::mismatch);
  CHECK(with([](auto& p) { p.hash.digits = "../../x"; }) == ErrorKind::malformed);
  CHECK(with([](auto& p) { p.size = *p.size + 1; }) == ErrorKind::mismatch);
  CHECK(with([](auto& p) { p.name = "b"; }) == ErrorKind::mismatch);
  CHECK(with([](auto& p) { p.version = *axle::wheel::parse_version("2"); }) == ErrorKind::mismatch);
  CHECK(with([](auto& p) { p.wheel_name.distribution = "b"; }) == ErrorKind::mismatch);
  const std::string bytes = read_text(path);
  refusal.transport.files["https://index.example/short"] = bytes.substr(0, bytes.size() - 1);
  refusal.transport.files["https://index.example/long"] = bytes + "x";
  CHECK(with([](auto& p) { p.url = "https://index.example/short"; }) == ErrorKind::mismatch);
  CHECK(with([](auto& p) { p.url = "https://index.example/long"; }) == ErrorKind::mismatch);
  CHECK(with([](auto& p) { p.url = "https://index.example/none"; }) == ErrorKind::not_found);
}

TEST_CASE("an archive that is cut or has something before or after it is refused") {
  Refusal refusal;
  const std::string bytes = wheel_bytes("a", "1.0", {{"a.py", std::string(3000, 'a')}});
  const std::string path = refusal.folder / "a-1.0-py3-none-any.whl";
  std::string damaged = bytes;
  damaged[36] = static_cast<char>(damaged[36] ^ 0x55);  // the content begins at 34
  for (const std::string& altered : {bytes.substr(0, bytes.size() / 2), "x" + bytes, bytes + "x",
                                     bytes + bytes, std::string(), damaged}) {
    write_text(path, altered);
    CHECK(refusal.of(package_of(path)).kind == ErrorKind::malformed);
  }
}
