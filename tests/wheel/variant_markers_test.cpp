#include "wheel/variant/variant_markers.h"

#include <array>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "wheel/requirement.h"

namespace wheel = axle::wheel;

namespace {

/// Of the variant "a" with one property on a machine that supports it.
wheel::MarkerEnvironment seen(std::string_view label = "a") {
  wheel::VariantProperties supported;
  if (!label.empty()) supported.insert({"x86_64", "level", "v3"});
  return wheel::variant_markers({}, label, supported);
}

/// The requirement that is left, "gone", or "malformed".
std::string left(std::string_view text, std::string_view label = "a") {
  const auto evaluated = wheel::evaluate_variant_requirement(text, seen(label));
  if (!evaluated) return "malformed";
  return evaluated->value_or("gone");
}

/// A marker of random shape over clauses about the variant and others.
std::string random_marker(std::mt19937& random, unsigned depth) {
  static constexpr std::array<std::string_view, 9> clauses = {"variant_label == 'a'",
                                                              "'b' == variant_label",
                                                              "'x86_64' in variant_namespaces",
                                                              "'nvidia' not in variant_features",
                                                              "variant_properties == 'x'",
                                                              "os_name == 'posix'",
                                                              "'nt'==os_name",
                                                              "extra == 'Some_Extra'",
                                                              "python_version >= \"3.12\""};
  std::string text;
  const unsigned count = 1 + random() % 3;
  for (unsigned i = 0; i < count; ++i) {
    if (i > 0) text += random() % 2 == 0 ? " and " : " or ";
    if (depth > 0 && random() % 2 == 0) {
      text += "(" + random_marker(random, depth - 1) + ")";
    } else {
      text += clauses[random() % clauses.size()];
    }
  }
  return text;
}

}  // namespace

TEST_CASE("a marker about the variant alone leaves the requirement or nothing") {
  CHECK(left("x; variant_label == 'a'") == "x");
  CHECK(left("x; variant_label == 'b'") == "gone");
  CHECK(left("x>=1 ; variant_label == 'a'") == "x>=1");
  CHECK(left("x @ https://host/a;b.whl ; variant_label == 'a'") == "x @ https://host/a;b.whl");
  CHECK(left("x[e] (>=1);variant_label != 'b'") == "x[e] (>=1)");
  CHECK(left("x; variant_label == ''", "") == "x");
  CHECK(left("x; 'x86_64' in variant_namespaces", "") == "gone");
}

TEST_CASE("the rest of a marker keeps its spelling") {
  CHECK(left("x; variant_label == \"a\" and python_version < \"3.9\"") ==
        "x; python_version < \"3.9\"");
  CHECK(left("x; variant_label == 'a' and extra=='Foo_Bar'") == "x; extra=='Foo_Bar'");
  CHECK(left("x; os.name=='nt'  and  variant_label=='a'") == "x; os.name=='nt'");
  CHECK(left("X_y >=1,<2;(variant_label == 'a') and ('3.9'>python_version)") ==
        "X_y >=1,<2; '3.9'>python_version");
  CHECK(left("x; os_name == 'nt'") == "x; os_name == 'nt'");
  CHECK(left("x ;( os_name=='nt' )") == "x ;( os_name=='nt' )");
}

TEST_CASE("and binds tighter than or, and parentheses stay where they are needed") {
  CHECK(left("x; variant_label == 'b' and os_name == 'nt'") == "gone");
  CHECK(left("x; variant_label == 'a' or os_name == 'nt'") == "x");
  CHECK(left("x; variant_label == 'b' or os_name == 'nt'") == "x; os_name == 'nt'");
  CHECK(left("x; os_name == 'nt' or variant_label == 'b' and extra == 'e'") ==
        "x; os_name == 'nt'");
  CHECK(left("x; os_name == 'nt' or variant_label == 'a' and extra == 'e'") ==
        "x; os_name == 'nt' or extra == 'e'");
  CHECK(left("x; (os_name == 'nt' or variant_label == 'a') and extra == 'e'") == "x; extra == 'e'");
  CHECK(
      left("x; (os_name == 'nt' or os_name == 'java' or variant_label == 'b') and extra == 'e'") ==
      "x; (os_name == 'nt' or os_name == 'java') and extra == 'e'");
  CHECK(left("x; ((variant_label == 'a') and (os_name == 'nt' or extra == 'e')) and "
             "python_version < '3'") ==
        "x; (os_name == 'nt' or extra == 'e') and python_version < '3'");
  CHECK(left("x; variant_label == 'a' and (os_name == 'nt' or (variant_label == 'b'))") ==
        "x; os_name == 'nt'");
}

TEST_CASE("operands may be reversed, sets know in and not in, all else is false") {
  CHECK(left("x; 'a' == variant_label") == "x");
  CHECK(left("x; 'x86_64' in variant_namespaces") == "x");
  CHECK(left("x; 'nvidia' in variant_namespaces") == "gone");
  CHECK(left("x; 'nvidia' not in variant_namespaces") == "x");
  CHECK(left("x; 'x86_64::level' in variant_features") == "x");
  CHECK(left("x; 'x86_64 :: level :: v3' in variant_properties") == "x");
  CHECK(left("x; 'x86_64 :: level :: v2' in variant_properties") == "gone");
  CHECK(left("x; variant_label in 'abc'") == "x");
  CHECK(left("x; variant_label not in 'abc'") == "gone");
  CHECK(left("x; variant_namespaces == 'x86_64'") == "gone");
  CHECK(left("x; variant_label == 'a' and") == "malformed");
  CHECK(left("x; variant_colour == 'red'") == "malformed");
}

TEST_CASE("the rest of any marker is true exactly where the marker was") {
  std::mt19937 random(20261122);
  for (int i = 0; i < 5'000; ++i) {
    const std::string text = "x; " + random_marker(random, 3);
    const auto whole = wheel::parse_requirement(text);
    const auto evaluated = wheel::evaluate_variant_requirement(text, seen());
    REQUIRE(whole.has_value());
    REQUIRE(evaluated.has_value());
    std::optional<wheel::Requirement> rest;
    if (*evaluated) {
      auto parsed = wheel::parse_requirement(**evaluated);
      REQUIRE_MESSAGE(parsed.has_value(), **evaluated);
      rest = std::move(*parsed);
      REQUIRE_FALSE((rest->marker && wheel::mentions_variant(*rest->marker)));
    }
    for (unsigned bits = 0; bits < 8; ++bits) {
      wheel::MarkerEnvironment environment = seen();
      environment.strings["os_name"] = (bits & 1U) != 0 ? "posix" : "nt";
      environment.strings["extra"] = (bits & 2U) != 0 ? "some-extra" : "";
      environment.strings["python_version"] = (bits & 4U) != 0 ? "3.12" : "3.11";
      const bool holds = rest && (!rest->marker || rest->marker->evaluate(environment));
      REQUIRE_MESSAGE(holds == whole->marker->evaluate(environment), text);
    }
  }
}

TEST_CASE("METADATA is unchanged except for the requirements about the variant") {
  const std::string_view text =
      "Metadata-Version: 2.1\r\nName: demo\nVersion: 1.0\n"
      "Summary: Requires-Dist: x; variant_label == 'b'\n"
      "requires-dist:   kept ; variant_label == 'a'  \r\n"
      "Requires-Dist: dropped; 'nvidia' in variant_namespaces\n"
      "Requires-Dist: other;os_name=='nt'\n"
      "Provides-Extra: Plot\n"
      "Requires-Dist: plot; (extra == 'Plot') and variant_label == 'a'\n"
      "X-Odd: a\n  folded\n\tRequires-Dist: y; variant_label == 'b'\n"
      "Author: \xff\xfe\n"
      "\n"
      "Requires-Dist: in the text; variant_label == 'b'\n\xff";
  const std::string_view wanted =
      "Metadata-Version: 2.1\r\nName: demo\nVersion: 1.0\n"
      "Summary: Requires-Dist: x; variant_label == 'b'\n"
      "requires-dist:   kept  \r\n"
      "Requires-Dist: other;os_name=='nt'\n"
      "Provides-Extra: Plot\n"
      "Requires-Dist: plot; extra == 'Plot'\n"
      "X-Odd: a\n  folded\n\tRequires-Dist: y; variant_label == 'b'\n"
      "Author: \xff\xfe\n"
      "\n"
      "Requires-Dist: in the text; variant_label == 'b'\n\xff";
  const auto evaluated = wheel::evaluate_variant_metadata(text, seen());
  REQUIRE(evaluated.has_value());
  CHECK(*evaluated == wanted);
}

TEST_CASE("METADATA without a body, a last line end or a marker about the variant") {
  const auto evaluate = [](std::string_view text) {
    return wheel::evaluate_variant_metadata(text, seen()).value_or("malformed");
  };
  CHECK(evaluate("Requires-Dist: x; variant_label == 'a'") == "Requires-Dist: x");
  CHECK(evaluate("Name: a\nRequires-Dist: x; variant_label == 'b'") == "Name: a\n");
  CHECK(evaluate("").empty());
  CHECK(evaluate("Name: a\n\nvariant_label") == "Name: a\n\nvariant_label");
  CHECK(evaluate("Requires-Dist: x; os_name == 'variant_label'\n") ==
        "Requires-Dist: x; os_name == 'variant_label'\n");
  CHECK(evaluate("not a header, variant_label\nRequires-Dist: x; variant_label == 'a'\n") ==
        "not a header, variant_label\nRequires-Dist: x; variant_label == 'a'\n");
  CHECK(evaluate("Requires-Dist: x;\n variant_label == 'a'\n") == "malformed");
  // A lone carriage return ends a line: what follows it is a field, or the description.
  CHECK(evaluate("Name: a\rRequires-Dist: x; variant_label == 'b'\rSummary: b\n") ==
        "Name: a\rSummary: b\n");
  CHECK(evaluate("Name: a\r.\nRequires-Dist: x; variant_label == 'b'\n") ==
        "Name: a\r.\nRequires-Dist: x; variant_label == 'b'\n");
  CHECK(evaluate("Name: a\r\rRequires-Dist: x; variant_label == 'b'\n") ==
        "Name: a\r\rRequires-Dist: x; variant_label == 'b'\n");
}
