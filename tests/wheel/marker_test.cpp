#include "wheel/marker.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace wheel = axle::wheel;

namespace {

wheel::MarkerEnvironment linux_environment() {
  wheel::MarkerEnvironment environment;
  environment.strings = {{"python_version", "3.11"},
                         {"python_full_version", "3.11.2"},
                         {"os_name", "posix"},
                         {"sys_platform", "linux"},
                         {"platform_machine", "x86_64"},
                         {"platform_release", "6.18.5-custom"},
                         {"platform_python_implementation", "CPython"},
                         {"implementation_name", "cpython"},
                         {"extra", "Foo_Bar"},
                         {"variant_label", "cu128"}};
  environment.sets = {
      {"variant_properties",
       {"nvidia :: cuda_version_lower_bound :: 12.8", "x86_64 :: level :: v3"}},
      {"variant_features", {"nvidia :: cuda_version_lower_bound", "x86_64 :: level"}},
      {"variant_namespaces", {"nvidia", "x86_64"}},
      {"extras", {"Test.All"}}};
  return environment;
}

bool holds(std::string_view text,
           const wheel::MarkerEnvironment& environment = linux_environment()) {
  const auto marker = wheel::parse_marker(text);
  REQUIRE_MESSAGE(marker.has_value(), text);
  return marker->evaluate(environment);
}

std::string rendered(std::string_view text) {
  const auto marker = wheel::parse_marker(text);
  REQUIRE_MESSAGE(marker.has_value(), text);
  return marker->render();
}

std::string problem(std::string_view text) {
  const auto marker = wheel::parse_marker(text);
  REQUIRE_FALSE_MESSAGE(marker.has_value(), text);
  CHECK(marker.error().kind == axle::ErrorKind::malformed);
  return marker.error().message;
}

}  // namespace

TEST_CASE("versions compare as versions, on either side") {
  CHECK(holds("python_version >= '3.9'"));
  CHECK_FALSE(holds("python_version < '3.9'"));
  CHECK(holds("'3.9' < python_version"));
  CHECK(holds("python_version == '3.*'"));
  CHECK(holds("python_version ~= '3.9'"));
  CHECK(holds("python_full_version === '3.11.2'"));
  CHECK(holds("python_version in '3.10, 3.11'"));
  CHECK(holds("python_version not in '2.7'"));
}

TEST_CASE("an invalid version does not satisfy any comparison") {
  CHECK_FALSE(holds("platform_release >= '5.0'"));
  CHECK(holds("platform_release != 'other'"));
  CHECK(holds("platform_release == '6.18.5-custom'"));
}

TEST_CASE("an interpreter built between two tags has a version") {
  auto environment = linux_environment();
  environment.strings["python_full_version"] = "3.14.0a2+";
  CHECK(holds("python_full_version >= '3.14.0a2'", environment));
  CHECK_FALSE(holds("python_full_version >= '3.14'", environment));
}

TEST_CASE("strings support equality and substrings, and ordering only means equality") {
  CHECK(holds("os_name == 'posix'"));
  CHECK(holds("os.name == 'posix' and sys.platform == 'linux'"));
  CHECK(holds("'64' in platform_machine"));
  CHECK(holds("os_name >= 'posix'"));
  CHECK_FALSE(holds("os_name > 'a'"));
  CHECK_FALSE(holds("os_name ~= 'posix'"));
  CHECK(holds("python_implementation == 'CPython'"));
}

TEST_CASE("and binds tighter than or") {
  CHECK(holds("os_name == 'posix' or os_name == 'x' and os_name == 'y'"));
  CHECK_FALSE(holds("(os_name == 'posix' or os_name == 'x') and os_name == 'y'"));
  CHECK(holds("os_name == 'x' and os_name == 'y' or os_name == 'posix'"));
}

TEST_CASE("extras are compared by their normalised names") {
  CHECK(holds("extra == 'foo.bar'"));
  CHECK_FALSE(holds("extra != 'FOO-BAR'"));
  CHECK(holds("extra == ''", {}));
  CHECK(holds("'test_all' in extras"));
  CHECK(holds("'docs' not in extras"));
}

TEST_CASE("the variant markers see the chosen variant") {
  CHECK(holds("variant_label == 'cu128'"));
  CHECK(holds("'nvidia' in variant_namespaces"));
  CHECK(holds("'amd' not in variant_namespaces"));
  CHECK(holds("'nvidia::cuda_version_lower_bound  ::12.8' in variant_properties"));
  CHECK(holds("'x86_64 :: level' in variant_features"));
  CHECK_FALSE(holds("'x86_64 :: level :: v4' in variant_properties"));
}

TEST_CASE("a plain wheel has an empty label and empty sets") {
  CHECK(holds("variant_label == ''", {}));
  CHECK_FALSE(holds("'nvidia' in variant_namespaces", {}));
  CHECK(holds("'nvidia' not in variant_namespaces", {}));
}

TEST_CASE("a set only supports membership tests") {
  CHECK_FALSE(holds("variant_namespaces == 'nvidia'"));
  CHECK_FALSE(holds("'amd' != variant_namespaces"));
  CHECK_FALSE(holds("variant_namespaces in 'nvidia'"));
}

TEST_CASE("a variable that is missing from the environment is empty") {
  CHECK(holds("python_version < '3'", {}));
  CHECK(holds("os_name == ''", {}));
}

TEST_CASE("markers are rendered as packaging renders them") {
  CHECK(rendered("os.name=='posix'and(python_version>'3')") ==
        "os_name == \"posix\" and python_version > \"3\"");
  CHECK(rendered("(os_name == 'a' or os_name == 'b') and extra == 'C_d'") ==
        "(os_name == \"a\" or os_name == \"b\") and extra == \"c-d\"");
  CHECK(rendered("'x\"y' not  in os_name") == "'x\"y' not in os_name");
  CHECK(rendered("((os_name == 'a' or os_name == 'b'))") == "os_name == \"a\" or os_name == \"b\"");
  CHECK(rendered("'a::b' in variant_features") == "\"a :: b\" in variant_features");
  CHECK(rendered(R"(os_name == 'a\n')") == R"(os_name == "a\n")");
}

TEST_CASE("a marker says which variables it mentions") {
  const auto marker = wheel::parse_marker("os_name == 'a' or (python_implementation == 'b')");
  REQUIRE(marker.has_value());
  CHECK(marker->mentions("os_name"));
  CHECK(marker->mentions("platform_python_implementation"));
  CHECK_FALSE(marker->mentions("extra"));
}

TEST_CASE("what is not a marker is refused with the position") {
  CHECK(problem("") ==
        "\"\" is not a marker: expected a marker variable or a quoted string at position 0");
  CHECK(problem("os_nome == 'x'") ==
        "\"os_nome == 'x'\" is not a marker: expected a marker variable or a quoted string at "
        "position 0");
  CHECK(problem("os_name = 'x'")
            .ends_with("one of ==, !=, <=, >=, <, >, ~=, ===, in, not in at position 8"));
  CHECK(problem("os_name == 'x").ends_with("a quoted string that does not end at position 11"));
  CHECK(problem("os_name == 'x\n'").ends_with("spans lines at position 11"));
  CHECK(problem("os_name == sys_platform").ends_with("expected a quoted string at position 11"));
  CHECK(problem("'a' == 'b'").ends_with("expected a marker variable at position 7"));
  CHECK(problem("os_name not 'x'").ends_with("expected \"in\" after \"not\" at position 12"));
  CHECK(problem("(os_name == 'x'").ends_with("expected \"and\", \"or\" or \")\" at position 15"));
  CHECK(problem("os_name == 'x' os_name")
            .ends_with("expected \"and\", \"or\" or the end at position 15"));
}

TEST_CASE("a hundred parentheses nest, a hundred and one do not") {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '(') + "os_name == 'posix'" + std::string(depth, ')');
  };
  CHECK(holds(nested(100)));
  CHECK(problem(nested(101)).ends_with("parentheses are nested too deeply at position 101"));
  CHECK(problem(std::string(1'000'000, '(')).size() < 300);
}
