#include "wheel/wheel_name.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace wheel = axle::wheel;

namespace {

wheel::WheelName wheel_name(std::string_view text) {
  auto parsed = wheel::parse_wheel_name(text);
  REQUIRE_MESSAGE(parsed.has_value(), text);
  CHECK(wheel::render_wheel_name(*parsed) == text);
  return *parsed;
}

std::string problem(std::string_view text) {
  const auto parsed = wheel::parse_wheel_name(text);
  REQUIRE_FALSE_MESSAGE(parsed.has_value(), text);
  CHECK(parsed.error().kind == axle::ErrorKind::malformed);
  return parsed.error().message;
}

}  // namespace

TEST_CASE("five parts are a plain wheel") {
  const auto name = wheel_name("My_Pkg-1.0.post1+cu128-cp39.cp310-abi3-manylinux_2_28_x86_64.whl");
  CHECK(name.distribution == "My_Pkg");
  CHECK(wheel::render_version(name.version) == "1.0.post1+cu128");
  CHECK_FALSE(name.build.has_value());
  CHECK_FALSE(name.is_variant());
  CHECK(name.tags.size() == 2);
  CHECK(name.tags_text == "cp39.cp310-abi3-manylinux_2_28_x86_64");
}

TEST_CASE("six parts have a build tag when the third starts with a digit, else a label") {
  const auto built = wheel_name("a-1-2b-py3-none-any.whl");
  CHECK(built.build == wheel::BuildTag{2, "b"});
  CHECK_FALSE(built.is_variant());
  const auto variant = wheel_name("a-1-py3-none-any-x86_64_v3.whl");
  CHECK_FALSE(variant.build.has_value());
  CHECK(variant.label == "x86_64_v3");
  CHECK(variant.tags_text == "py3-none-any");
}

TEST_CASE("seven parts have both") {
  const auto name = wheel_name("torch-2.9.0-1-cp313-cp313t-linux_x86_64-null.whl");
  CHECK(name.build == wheel::BuildTag{1, ""});
  CHECK(name.label == "null");
}

TEST_CASE("a label has no length limit and may consist of digits") {
  CHECK(wheel_name("a-1-py3-none-any-" + std::string(500, 'x') + ".whl").label.size() == 500);
  CHECK(wheel_name("a-1-py3-none-any-00000000.whl").label == "00000000");
  CHECK(wheel::is_valid_label("cu12.8_"));
  CHECK_FALSE(wheel::is_valid_label(""));
  CHECK_FALSE(wheel::is_valid_label("CU128"));
  CHECK_FALSE(wheel::is_valid_label("a-b"));
  CHECK_FALSE(wheel::is_valid_label("a\n"));
}

TEST_CASE("build tags compare by number, then by the rest, and none sorts first") {
  const auto build = [](std::string_view text) { return wheel_name(text).build; };
  CHECK(build("a-1-9-py3-none-any.whl") < build("a-1-10-py3-none-any.whl"));
  CHECK(build("a-1-9-py3-none-any.whl") < build("a-1-9a-py3-none-any.whl"));
  CHECK(build("a-1-py3-none-any.whl") < build("a-1-0-py3-none-any.whl"));
}

TEST_CASE("what is not the name of a wheel is refused with the reason") {
  CHECK(problem("a-1-py3-none-any.zip").ends_with("it does not end in .whl"));
  CHECK(problem("a-1-py3-none.whl").ends_with("it must have five to seven parts between dashes"));
  CHECK(problem("a-1-2-py3-none-any-x-y.whl").ends_with("five to seven parts between dashes"));
  CHECK(problem("a__b-1-py3-none-any.whl").ends_with("\"a__b\" is not an escaped name"));
  CHECK(problem("-1-py3-none-any.whl").ends_with("\"\" is not an escaped name"));
  CHECK(problem("../a-1-py3-none-any.whl").ends_with("\"../a\" is not an escaped name"));
  CHECK(problem("a-x-py3-none-any.whl").find("\"x\" is not a valid version") != std::string::npos);
  CHECK(problem("a-1-99999999999999999999-py3-none-any.whl").ends_with("is not a build tag"));
  CHECK(problem("a-1-b-py3-none-any-x.whl")
            .ends_with("the build tag \"b\" does not start with a digit"));
  CHECK(problem("a-1-py3-none-any-CU.whl").find("the variant label \"CU\"") != std::string::npos);
  CHECK(problem("a-1-py3-none-any-.whl").find("the variant label \"\"") != std::string::npos);
  CHECK(problem("a-1--none-any.whl").ends_with("a part is empty"));
  CHECK(problem(".whl").ends_with("five to seven parts between dashes"));
}

TEST_CASE("the variants file is named like the wheels beside it") {
  CHECK(wheel::variants_file_name("My.Pkg-x", *wheel::parse_version("1.0-alpha1")) ==
        "my_pkg_x-1.0a1-variants.json");
  CHECK(wheel::wheel_distribution("A--b.C") == "a_b_c");
}
