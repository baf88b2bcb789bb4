#include "foundation/text/html.h"

#include <doctest/doctest.h>

using axle::text::escape_html;

TEST_CASE("what HTML would read is written as references, all else stays") {
  CHECK(escape_html("").empty());
  CHECK(escape_html("a wheel, 2 > 1 & 'x' < \"y\"") ==
        "a wheel, 2 &gt; 1 &amp; &#39;x&#39; &lt; &quot;y&quot;");
  CHECK(escape_html("&amp;") == "&amp;amp;");
  CHECK(escape_html("\xc3\xa9\n\t") == "\xc3\xa9\n\t");
}
