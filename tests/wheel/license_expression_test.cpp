#include "wheel/license_expression.h"

#include <doctest/doctest.h>

using axle::wheel::normalize_license_expression;

TEST_CASE("license expressions are normalised") {
  CHECK(normalize_license_expression("MIT") == "MIT");
  CHECK(normalize_license_expression("  MIT  or\nApache-2.0 ") == "MIT OR Apache-2.0");
  CHECK(normalize_license_expression("(MIT and ( BSD-2-Clause ) )") == "(MIT AND (BSD-2-Clause))");
  CHECK(normalize_license_expression("GPL-2.0+ WITH Classpath-exception-2.0 AND MIT") ==
        "GPL-2.0+ WITH Classpath-exception-2.0 AND MIT");
  CHECK(normalize_license_expression("LicenseRef-Own OR DocumentRef-a:LicenseRef-b") ==
        "LicenseRef-Own OR DocumentRef-a:LicenseRef-b");
}

TEST_CASE("what is no license expression is refused") {
  for (const char* text :
       {"", " ", "MIT License", "MIT OR", "OR MIT", "(MIT", "MIT)", "()", "MIT WITH",
        "(MIT) WITH x", "MIT WITH a WITH b", "MIT AND OR MIT", "MIT/X11", "+", "a:b",
        "DocumentRef-a:b", "M\xc3\xafT", "MIT, BSD", "MIT WITH a+"}) {
    CAPTURE(text);
    CHECK_FALSE(normalize_license_expression(text).has_value());
  }
  CHECK_FALSE(normalize_license_expression(std::string(5000, 'a')).has_value());
}
