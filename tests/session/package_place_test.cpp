#include "session/requests/package_place.h"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

namespace {

namespace fs = std::filesystem;

/// "PLACE | TAIL", or "-" for what is no place.
std::string split(const std::string& text) {
  const auto wheel = axle::session::parse_package_place(text);
  return wheel ? wheel->place + " | " + wheel->tail : "-";
}

axle::Result<axle::wheel::Requirement> at(const std::string& text, const std::string& folder = {}) {
  const auto wheel = axle::session::parse_package_place(text);
  REQUIRE_MESSAGE(wheel.has_value(), text);
  return axle::session::requirement_at(*wheel, folder);
}

/// The working folder for a while, with a wheel in its folder sub.
struct Folder {
  Folder() {
    char pattern[] = "/tmp/axle-wheel-place-XXXXXX";
    path = mkdtemp(pattern);
    fs::create_directories(path / "sub");
    std::ofstream(path / "sub/x-1.0-py3-none-any.whl") << "";
    fs::current_path(path);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    fs::current_path(before);
    fs::remove_all(path);
  }
  [[nodiscard]] std::string url() const {
    return "file://" + (path / "sub/x-1.0-py3-none-any.whl").string();
  }

  fs::path before = fs::current_path();
  fs::path path;
};

/// The URL that `x @ URL` stands for, or the error and its hint.
std::string named(const std::string& url, const std::string& marker = {}) {
  axle::wheel::Requirement requirement;
  requirement.name = "x";
  requirement.url = url;
  if (!marker.empty()) requirement.marker = axle::wheel::parse_marker(marker).value();
  const auto done = axle::session::make_absolute(requirement);
  return done ? requirement.url : done.error().message + " | " + done.error().hint;
}

}  // namespace

TEST_CASE("the place of a package ends before its extras and its marker") {
  CHECK(split("a/x-1-py3-none-any.whl") == "a/x-1-py3-none-any.whl | ");
  CHECK(split("x.whl[a,b]") == "x.whl | [a,b]");
  CHECK(split("x.whl ;os_name=='nt'") == "x.whl |  ;os_name=='nt'");
  CHECK(split("x.whl[a] ; extra == 'b]'") == "x.whl | [a] ; extra == 'b]'");
  CHECK(split("https://h/x.whl?a;b#sha256=1 ; os_name=='nt'") ==
        "https://h/x.whl?a;b#sha256=1 |  ; os_name=='nt'");
  CHECK(split("file:a/x.whl[a] ; os_name=='nt'") == "file:a/x.whl | [a] ; os_name=='nt'");
  CHECK(split("x @ https://h/x.whl") == "-");
  CHECK(split("x @ file:x.whl") == "-");
  CHECK(split("x@file:x.whl") == "-");
  CHECK(split("x[a] @https://h/x.whl") == "-");
  CHECK(split("x@y/x.whl") == "x@y/x.whl | ");
  CHECK(split("./x@file:x.whl") == "./x@file:x.whl | ");
  CHECK(split("x>=1 ; os_name=='nt'") == "-");
  CHECK(split("./x[a] ; os_name=='nt'") == "./x | [a] ; os_name=='nt'");
  CHECK(split(". ;os_name=='nt'") == ". |  ;os_name=='nt'");
  CHECK(split("a/b") == "a/b | ");
  CHECK(split("x-1.tar.gz[a]") == "x-1.tar.gz | [a]");
  CHECK(split("x") == "-");
  CHECK(split("git+https://h/x@v1#egg=x&subdirectory=a ; os_name=='nt'") ==
        "git+https://h/x@v1#egg=x&subdirectory=a |  ; os_name=='nt'");
  CHECK(split("git+https://h/x#egg=x[a]") == "git+https://h/x#egg=x[a] | ");
  CHECK(split("git+ssh://git@h/x") == "git+ssh://git@h/x | ");
  CHECK(split("git+https://me:pw@h:8080/x@v1") == "git+https://me:pw@h:8080/x@v1 | ");
  CHECK(split("x @ git+https://h/x") == "-");
  CHECK(split("x@git+https://h/x") == "-");
}

TEST_CASE("a wheel by its place is a requirement with a URL, extras and marker") {
  const auto remote = at("https://h/My_Pkg-1.0-py3-none-any.whl#sha256=0[A,b] ; os_name == 'nt'");
  REQUIRE_MESSAGE(remote.has_value(), remote.error().message);
  CHECK(axle::wheel::render_requirement(*remote) ==
        "my-pkg[a,b] @ https://h/My_Pkg-1.0-py3-none-any.whl#sha256=0 ; os_name == \"nt\"");
  CHECK(at("https://h/x%2D1.0-py3-none-any.whl")->name == "x");
  CHECK(at("https://h/x-1.0.whl").error().kind == axle::ErrorKind::malformed);
  CHECK(at("https://h/.-1.0-py3-none-any.whl").error().kind == axle::ErrorKind::malformed);
  CHECK(at("https://h/x y-1.0-py3-none-any.whl").error().kind == axle::ErrorKind::malformed);
  CHECK(at("https://h/x-1.0-py3-none-any.whl[a,,b]").error().kind == axle::ErrorKind::malformed);
  CHECK(at("https://h/x-1.0-py3-none-any.whl[a] ; os_name").error().kind ==
        axle::ErrorKind::malformed);
}

TEST_CASE("a path counts from the working folder, and the wheel must be there") {
  const Folder folder;
  for (const std::string text :
       {"sub/x-1.0-py3-none-any.whl", "./sub/x-1.0-py3-none-any.whl",
        "file:sub/x-1.0-py3-none-any.whl", "file:./sub/%78-1.0-py3-none-any.whl",
        "file:no/../sub/x-1.0-py3-none-any.whl"}) {
    const auto found = at(text, "/nowhere");
    REQUIRE_MESSAGE(found.has_value(), found.error().message);
    CHECK(found->url == folder.url());
    CHECK(found->name == "x");
  }
  CHECK(at("file:sub/x-1.0-py3-none-any.whl#sha256=0")->url == folder.url() + "#sha256=0");
  CHECK(at("file:sub/x-1.0-py3-none-any.whl#a b").error().kind == axle::ErrorKind::malformed);
  CHECK(at("file:sub/x-1.0-py3-none-any.whl?x=1")->url == folder.url());
  const auto missing = at("./x-1.0-py3-none-any.whl", folder.path / "sub");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().kind == axle::ErrorKind::not_found);
  CHECK(missing.error().message == "wheel file ./x-1.0-py3-none-any.whl does not exist");
  CHECK(missing.error().hint == "paths count from the working folder, as in pip and uv: write " +
                                    (folder.path / "sub/x-1.0-py3-none-any.whl").string());
  CHECK(at("file:x-2.0-py3-none-any.whl", folder.path / "sub").error().hint ==
        "check the path; it counts from the working folder");
}

TEST_CASE("sources by their place have the name that they say") {
  const Folder folder;
  fs::create_directories(folder.path / "p/deep");
  std::ofstream(folder.path / "p/pyproject.toml") << "";
  std::ofstream(folder.path / "p/deep/setup.py") << "";
  std::ofstream(folder.path / "x-1.0.tar.gz") << "";
  const std::string here = "file://" + folder.path.string();
  for (const std::string text : {"./p", "p/", "file:p", "./p/../p/"}) {
    const auto found = at(text);
    REQUIRE_MESSAGE(found.has_value(), found.error().message);
    CHECK(found->url == here + "/p");
    CHECK(found->name.empty());
  }
  CHECK(at("file:p#subdirectory=deep&egg=X_y")->url == here + "/p#subdirectory=deep");
  CHECK(at("file:p#subdirectory=deep&egg=X_y")->name == "x-y");
  CHECK(at("./p[a]")->extras == std::vector<std::string>{"a"});
  CHECK(at("x-1.0.tar.gz")->url == here + "/x-1.0.tar.gz");
  CHECK(at("git+https://h/x@v1#egg=x")->url == "git+https://h/x@v1");
  CHECK(at("./q").error().message == "folder ./q does not exist");
  CHECK(at("./sub").error().message.ends_with("neither pyproject.toml nor setup.py"));
  CHECK(at("y-1.0.zip").error().message == "file y-1.0.zip does not exist");
  CHECK(at("https://h/x").error().kind == axle::ErrorKind::malformed);
  CHECK(at("hg+https://h/x").error().kind == axle::ErrorKind::malformed);
  CHECK(at("git+ext::sh://x").error().kind == axle::ErrorKind::malformed);
  // What has a marker may be for another machine.
  CHECK(at("./q ; os_name == 'nt'")->url == here + "/q");
}

TEST_CASE("the URL of a named wheel may be relative, but not a path") {
  const Folder folder;
  CHECK(named("file:sub/x-1.0-py3-none-any.whl") == folder.url());
  CHECK(named("file:./sub/x-1.0-py3-none-any.whl#sha256=0") == folder.url() + "#sha256=0");
  for (const std::string absolute : {"", "https://h/x.whl", "file:///tmp/x.whl", "file:/tmp/x.whl",
                                     "file://localhost/tmp/x.whl", "git+https://h/x"})
    CHECK(named(absolute) == absolute);
  CHECK(named("./x.whl") ==
        "`./x.whl` is a path, but `x @` is followed by a URL | write it as `x @ file:./x.whl`");
  CHECK(
      named("file://sub/x.whl") ==
      "the file URL file://sub/x.whl names a host | write file:PATH, which counts from the working "
      "folder, or file:///PATH");
  CHECK(named("file://me:secret@h/x.whl").find("secret") == std::string::npos);
  CHECK(named("file:no.whl") ==
        "wheel file no.whl does not exist | check the path; it counts from the working folder");
  CHECK(named("file:x.whl;os_name=='nt'") ==
        "wheel file x.whl;os_name=='nt' does not exist | write a space before the `;` of a marker");
  CHECK(named("file:").contains("does not exist"));
  // What has a marker may be for another machine.
  CHECK(named("file:no.whl", "os_name == 'nt'") == "file://" + (folder.path / "no.whl").string());
  CHECK(named("./x.whl", "os_name == 'nt'") == "./x.whl");
  CHECK(at("no-1.0-py3-none-any.whl ; os_name == 'nt'")->name == "no");
  CHECK(named("file:sub").contains("neither pyproject.toml nor setup.py"));
  CHECK(named("file:x%00.whl").contains("control character"));
}
