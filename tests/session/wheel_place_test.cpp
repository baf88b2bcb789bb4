#include "session/requests/wheel_place.h"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

namespace {

namespace fs = std::filesystem;

/// "PLACE | TAIL", or "-" for what is no place of a wheel.
std::string split(const std::string& text) {
  const auto wheel = axle::session::parse_wheel_place(text);
  return wheel ? wheel->place + " | " + wheel->tail : "-";
}

axle::Result<axle::wheel::Requirement> at(const std::string& text, const std::string& folder = {}) {
  const auto wheel = axle::session::parse_wheel_place(text);
  REQUIRE_MESSAGE(wheel.has_value(), text);
  return axle::session::requirement_at(*wheel, folder);
}

}  // namespace

TEST_CASE("the place of a wheel ends before its extras and its marker") {
  CHECK(split("a/x-1-py3-none-any.whl") == "a/x-1-py3-none-any.whl | ");
  CHECK(split("x.whl[a,b]") == "x.whl | [a,b]");
  CHECK(split("x.whl ;os_name=='nt'") == "x.whl |  ;os_name=='nt'");
  CHECK(split("x.whl[a] ; extra == 'b]'") == "x.whl | [a] ; extra == 'b]'");
  CHECK(split("https://h/x.whl?a;b#sha256=1 ; os_name=='nt'") ==
        "https://h/x.whl?a;b#sha256=1 |  ; os_name=='nt'");
  CHECK(split("x @ https://h/x.whl") == "-");
  CHECK(split("x>=1 ; os_name=='nt'") == "-");
}

TEST_CASE("a wheel by its place is a requirement with a URL, extras and marker") {
  const auto remote = at("https://h/My_Pkg-1.0-py3-none-any.whl#sha256=0[A,b] ; os_name == 'nt'");
  REQUIRE_MESSAGE(remote.has_value(), remote.error().message);
  CHECK(axle::wheel::render_requirement(*remote) ==
        "my-pkg[a,b] @ https://h/My_Pkg-1.0-py3-none-any.whl#sha256=0 ; os_name == \"nt\"");
  CHECK(at("https://h/x%2D1.0-py3-none-any.whl")->name == "x");
  CHECK(at("https://h/x-1.0.whl").error().kind == axle::ErrorKind::malformed);
  CHECK(at("https://h/x y-1.0-py3-none-any.whl").error().kind == axle::ErrorKind::malformed);
  CHECK(at("https://h/x-1.0-py3-none-any.whl[a,,b]").error().kind == axle::ErrorKind::malformed);
  CHECK(at("https://h/x-1.0-py3-none-any.whl[a] ; os_name").error().kind ==
        axle::ErrorKind::malformed);
}

TEST_CASE("a path counts from the folder of its file, and the wheel must be there") {
  char pattern[] = "/tmp/axle-wheel-place-XXXXXX";
  const fs::path folder = mkdtemp(pattern);
  fs::create_directories(folder / "sub");
  std::ofstream(folder / "sub/x-1.0-py3-none-any.whl") << "";
  const auto found = at("./x-1.0-py3-none-any.whl", folder / "sub");
  REQUIRE_MESSAGE(found.has_value(), found.error().message);
  CHECK(found->url == "file://" + (folder / "sub/x-1.0-py3-none-any.whl").string());
  CHECK(at((folder / "sub/x-1.0-py3-none-any.whl").string(), "/nowhere")->name == "x");
  const auto missing = at("x-2.0-py3-none-any.whl", folder / "sub");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().kind == axle::ErrorKind::not_found);
  CHECK(missing.error().message == "wheel file x-2.0-py3-none-any.whl does not exist");
  fs::remove_all(folder);
}
