#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "index/browse/html_text.h"
#include "index/browse/list_pages.h"
#include "index/browse/page_frame.h"
#include "index/browse/project_page.h"
#include "index/browse/release_data.h"

using namespace axle::index;

namespace {

class NoMachines final : public PageMachines {
 public:
  std::string machines_json() const override { return R"({"lists":[],"machines":[]})"; }
  std::string origins_json(const axle::wheel::VariantMetadata&) const override {
    return R"({"any":{}})";
  }
};

std::vector<std::string> names(std::string_view beginning, std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(fmt::format("{}{:05}", beginning, i));
  return all;
}

std::vector<std::string> paths_of(const std::vector<SharedFile>& files) {
  std::vector<std::string> paths;
  for (const SharedFile& file : files) paths.push_back(file.path);
  return paths;
}

using Texts = std::vector<std::string>;
using Documents = std::vector<std::optional<axle::wheel::VariantMetadata>>;

}  // namespace

TEST_CASE("text of an index is text for a page") {
  CHECK(html_text("<b a=\"1\" c='2'>&") == "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
  CHECK(html_text("\xe2\x80\xae\x07") == "\\u202e\\x07");
  CHECK(html_text("\xff<") == "\\xff&lt;");
  CHECK(html_data(R"({"a":"</script><!--"})") == "{\"a\":\"\\u003c/script>\\u003c!--\"}");
}

TEST_CASE("a word for a shell is quoted where a shell reads it otherwise") {
  CHECK(html_word("demo==1.0+cu130") == "demo==1.0+cu130");
  CHECK(html_word("demo==1!2.0") == "&#39;demo==1!2.0&#39;");
  CHECK(html_word("a'b") == "&#39;a&#39;\\&#39;&#39;b&#39;");
}

TEST_CASE("only addresses are links") {
  for (const char* url : {"https://a/b", "HTTP://a", "file:///a"}) CHECK(is_followed(url));
  for (const char* url : {"javascript:alert(1)", "data:text/html,x", " https://a", "https:a", ""})
    CHECK_FALSE(is_followed(url));
}

TEST_CASE("many names are divided by their beginnings") {
  CHECK(group_names({}).size() == 1);
  CHECK(group_names(names("a", most_listed_projects)).size() == 1);
  std::vector<std::string> many = names("a", 1500);
  const std::vector<std::string> more = names("b", 10);
  many.insert(many.end(), more.begin(), more.end());
  many.emplace_back("c");
  const auto groups = group_names(many);
  std::size_t end = 0;
  for (const NameGroup& group : groups) {
    CHECK(group.begin == end);
    CHECK(group.end - group.begin <= most_listed_projects);
    for (std::size_t i = group.begin; i < group.end; ++i)
      CHECK(many[i].starts_with(group.beginning));
    end = group.end;
  }
  CHECK(end == many.size());
  CHECK(paths_of(render_list_pages(many)) == Texts{"index.html", "page/list-a00.html",
                                                   "page/list-a01.html", "page/list-b.html",
                                                   "page/list-c.html"});
}

TEST_CASE("names that no beginning divides are on one page") {
  std::vector<std::string> many = names("the-same-beginning-of-all-", 1500);
  CHECK(group_names(many).size() == 1);
  many.insert(many.begin(), "the");  // shorter than what the others have in common
  const auto groups = group_names(many);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].beginning == "the");
}

TEST_CASE("a change of the names writes the pages that list them") {
  const std::vector<std::string> few = {"a", "b"};
  CHECK(paths_of(change_list_pages(few, few).written).empty());
  CHECK(paths_of(change_list_pages({}, few).written) == Texts{"index.html"});
  std::vector<std::string> many = names("a", 800);
  const std::vector<std::string> rest = names("b", 800);
  many.insert(many.end(), rest.begin(), rest.end());
  std::vector<std::string> after = many;
  after.emplace_back("b99999");
  CHECK(paths_of(change_list_pages(many, after).written) ==
        Texts{"index.html", "page/list-b.html"});
  const ListChange divided = change_list_pages(few, many);
  CHECK(paths_of(divided.written) == Texts{"index.html", "page/list-a.html", "page/list-b.html"});
  CHECK(divided.gone.empty());
  const ListChange joined = change_list_pages(many, few);
  CHECK(paths_of(joined.written) == Texts{"index.html"});
  CHECK(joined.gone == Texts{"page/list-a.html", "page/list-b.html"});
}

TEST_CASE("the pages know themselves, and their script changes with what they share") {
  const auto pages = render_list_pages(names("a", 3));
  CHECK(is_our_page(pages.front().text));
  CHECK_FALSE(is_our_page("<h1>mine</h1>"));
  CHECK(page_script().text.starts_with("// "));
  for (const SharedFile& file : other_shared_files(NoMachines())) CHECK(file.text.size() > 20);
}

TEST_CASE("a project's page describes the newest releases with variants, and names the others") {
  std::vector<ListedFile> files;
  for (std::size_t i = 0; i < most_described_releases + 2; ++i) {
    files.push_back(
        {fmt::format("demo-{}-py3-none-any-v3.whl", i), std::string(64, '0'), 7, {}, {}});
    files.push_back({fmt::format("demo-{}-variants.json", i), std::string(64, '1'), 7, {}, {}});
  }
  std::size_t asked = 0;
  const std::string page = render_project_page(
      "demo", files,
      [&](const std::vector<const ListedFile*>& described) {
        asked += described.size();
        axle::wheel::VariantMetadata document;
        document.variants["v3"] = {{"x86_64", "level", "v3"}};
        return Documents(described.size(), document);
      },
      NoMachines());
  CHECK(asked == most_described_releases);
  CHECK(page.contains("it is in <a href=\"demo-0-variants.json\">"));
  CHECK_FALSE(page.contains("\"0\":{"));
  CHECK(page.contains("\"41\":{"));
}

TEST_CASE("a project without a release that can be read has a page") {
  const auto none = [](const std::vector<const ListedFile*>&) { return Documents(); };
  CHECK(render_project_page("demo", {}, none, NoMachines()).contains("0 releases"));
}
