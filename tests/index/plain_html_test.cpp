// The quick reader of plain pages beside the one that reads everything: never another answer.
#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "index/html_content.h"
#include "index/page.h"

using namespace axle::index;
using axle::CollectedReport;

namespace {

const std::string digest(64, 'a');

/// Whether the quick reader takes `body`; what it says must then be what the other one says.
bool is_plain(const std::string& body) {
  const auto plain = read_plain_html(body);
  if (!plain) return false;
  CAPTURE(body);
  CHECK(plain->says_the_same_as(read_any_html(body)));
  return true;
}

/// Pages as scripts write them, each from its own dice.
class PageWriter {
 public:
  explicit PageWriter(unsigned seed) : dice_(seed) {}

  std::string page() {
    std::string text = pick({"<!DOCTYPE html>\n", "<!doctype html>", "", "\n<!DOCTYPE HTML>"});
    text += pick({"<html>", "<html lang='en'>\n", "", "<!-- a page --><html>"});
    if (one_in(2)) text += head();
    text += pick({"<body>\n", "<body class=\"simple\">", "", "</head><body>"});
    if (!one_in(4))
      text += fmt::format("<h1>{} {}</h1>\n", pick({"Links for", " Files of"}), word());
    for (unsigned left = number(12); left > 0; --left) text += link();
    text += pick({"</body></html>\n", "</body>\n", "", "</html>\n<!--TIMESTAMP 17543-->"});
    return text;
  }

  /// A few bytes of `text` removed, doubled, swapped for what a tokenizer minds, or moved.
  std::string mutate(std::string text) {
    static const std::array<std::string_view, 26> spice = {
        "<",    ">",        "\"",   "'",     "&",       "=",     "/",
        "\n",   "\r",       "<!--", "-->",   "</a>",    "<a ",   "&lt",
        "\x01", "\xc3\xa9", "<p>",  "<br/>", "<table>", "</h1>", "<base href='/b/'>",
        "&#0;", "<title>",  "-",    "A",     "</body>"};
    for (unsigned changes = 1 + number(3); changes > 0 && !text.empty(); --changes) {
      const std::size_t at = number(static_cast<unsigned>(text.size()));
      const std::size_t length = std::min<std::size_t>(1 + number(8), text.size() - at);
      switch (number(4)) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, text.substr(at, length));
          break;
        case 2:
          text.insert(at, spice[number(spice.size())]);
          break;
        default:
          text.insert(number(static_cast<unsigned>(text.size())), text.substr(at, 40));
          break;
      }
    }
    return text;
  }

 private:
  unsigned number(unsigned below) { return std::uniform_int_distribution(0U, below - 1)(dice_); }
  bool one_in(unsigned n) { return number(n) == 0; }
  std::string pick(const std::vector<std::string>& choices) {
    return choices[number(static_cast<unsigned>(choices.size()))];
  }
  std::string word() { return pick({"torch", "a-b", "x &amp; y", "&#39;", "1&lt;2", ""}); }

  std::string head() {
    return "<head>" +
           pick({"", "<meta charset=\"utf-8\"/>", "<meta name='viewport' content='w'>"}) +
           pick({"", "<meta name=\"pypi:repository-version\" content=\" 1.1\">",
                 "<meta name='pypi:repository-version' content='2.0' />"}) +
           pick({"", "<base href=\"../files/\">", "<base target='_blank'>"}) +
           pick({"", "<title>Links for torch</title>", "<title>  &gt; </title>\n"}) + "</head>\n";
  }

  std::string link() {
    const std::string name =
        fmt::format("torch-2.{}.0%2Bcu1{}-cp31{}-cp31{}-{}.whl", number(9), number(4), number(5),
                    number(5), pick({"linux_x86_64", "win_amd64", "manylinux_2_28_aarch64"}));
    std::string text =
        "<a href=" + quoted(pick({"", "https://files.example/whl/", "../", "/p/"}) + name +
                            pick({"", "#sha256=" + digest, "#sha256=12", "?a&amp;b=1"}));
    if (one_in(2)) text += " data-requires-python=" + quoted(pick({"&gt;=3.9,&lt;4", "", "3.8"}));
    if (one_in(3)) text += " data-dist-info-metadata=" + quoted("sha256=" + digest);
    if (one_in(3))
      text += "\n  data-core-metadata=" + quoted(pick({"true", "false", "sha256=" + digest}));
    if (one_in(6)) text += pick({" data-yanked", " data-yanked=\"\"", " data-yanked='a &#x26; b'"});
    if (one_in(3)) text += " data-upload-time=" + quoted("2026-04-01T12:00:00Z");
    return text + ">" + name + "</a>" + pick({"<br/>\n", "<br>\n", "\n", "<br />", " and \n"});
  }

  std::string quoted(const std::string& text) {
    const char mark = one_in(3) ? '\'' : '"';
    return mark + text + mark;
  }

  std::mt19937 dice_;
};

}  // namespace

TEST_CASE("pages as real indexes write them are plain") {
  CHECK(is_plain(
      "<!DOCTYPE html>\n<html>\n  <body>\n    <h1>Links for torch</h1>\n"
      "    <a "
      "href=\"https://files.example/torch-2.8.0%2Bcu128-cp312-cp312-linux_x86_64.whl#sha256=" +
      digest + "\" data-dist-info-metadata=\"sha256=" + digest +
      "\" data-core-metadata=\"sha256=" + digest +
      "\" data-upload-time=\"2026-04-02T10:11:12Z\">torch-2.8.0+cu128</a><br/>\n"
      "  </body>\n</html>\n<!--TIMESTAMP 1754321098-->"));
  CHECK(is_plain(
      "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"pypi:repository-version\" content=\"1.1\">\n<title>Links for x</title>\n"
      "</head>\n<body>\n<h1>Links for x</h1>\n"
      "<a href=\"x-1.tar.gz\" data-requires-python=\"&gt;=3.9\" data-yanked=\"\">x</a><br>\n"
      "</body>\n</html>\n"));
  CHECK(is_plain(""));
}

TEST_CASE("the quick reader steps aside from what it does not know for certain") {
  for (const std::string body : {"<p>",
                                 "<A HREF='x'>x</A>",
                                 "<a href=x>x</a>",
                                 "<a href='x'>x",
                                 "<a href='x'><b>x</b></a>",
                                 "<a href='x' href='y'>x</a>",
                                 "<a href='x'data-yanked=''>x</a>",
                                 "<a href = 'x'>x</a>",
                                 "<a href='&nbsp;'>x</a>",
                                 "<a href='a&b=1'>x</a>",
                                 "<a href='&#10;'>x</a>",
                                 "<a href='&#160;'>x</a>",
                                 "<a href='x'/>x</a>",
                                 "<a href='\xc3\xa9'>x</a>",
                                 "\xef\xbb\xbf<html>",
                                 "a\rb",
                                 "<!-->",
                                 "<!--->-->",
                                 "<!-- a -- b -->",
                                 "<!-- a --!>",
                                 "<!doctype html public 'x'>",
                                 "<html><!doctype html>",
                                 "<?xml?>",
                                 "</a>",
                                 "</br>",
                                 "<title>a<b</title>",
                                 "<h1>a",
                                 "<table><a href='x'>x</a></table>",
                                 "<script></script>",
                                 "<a",
                                 "<a href='x",
                                 "<",
                                 "&lt;<"}) {
    CAPTURE(body);
    CHECK(!is_plain(body));
  }
  CHECK(!is_plain(std::string("a\0b", 3)));
}

TEST_CASE("both readers say the same of thousands of pages, whole and mutilated") {
  unsigned plain = 0;
  unsigned plain_mutations = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    PageWriter writer(seed);
    const std::string page = writer.page();
    plain += is_plain(page) ? 1 : 0;
    for (int i = 0; i < 4; ++i) plain_mutations += is_plain(writer.mutate(page)) ? 1 : 0;
  }
  CHECK(plain == 1500);
  CHECK(plain_mutations > 1000);
  CHECK(plain_mutations < 5500);
}

TEST_CASE("files, remarks and errors are the same whichever reader a page takes") {
  const auto outcome = [](const std::string& body) {
    CollectedReport report;
    const auto page = parse_html_page(body, "https://index.example/simple/torch/", report);
    std::string text = page ? "" : page.error().message;
    for (const auto& remark : report.remarks) text += remark.message + '\n';
    if (!page) return text;
    for (const PublishedFile& file : page->files) {
      text += fmt::format("{} {} {} {} {} {} {} {} {}\n", file.filename, file.url, file.sha256,
                          file.other_hash, file.requires_python, file.yanked, file.yanked_reason,
                          file.has_metadata, file.metadata_sha256);
    }
    return text;
  };
  for (unsigned seed = 0; seed < 300; ++seed) {
    const std::string page = PageWriter(seed).page();
    CAPTURE(page);
    CHECK(outcome(page) == outcome(page + "<p>"));  // <p> is not plain
  }
}
