// Which pages the URL of a family stands for.

#include "index/family/family_pages.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "index/family/shipped_families.h"
#include "tests/index/family_text.h"

namespace axle::index {
namespace {

using testing::small_family;
using testing::small_family_with;

Family family_at(const std::string& url) {
  auto family = parse_family(small_family_with("https://acme.test/whl", url), "acme.toml");
  REQUIRE_MESSAGE(family.has_value(), family.error().message);
  return std::move(*family);
}

Family shipped(std::string_view name) {
  const auto text = std::ranges::find(shipped_families(), name, &ShippedFamily::name);
  REQUIRE(text != shipped_families().end());
  auto family = parse_family(text->toml, std::string(name));
  REQUIRE(family.has_value());
  return std::move(*family);
}

std::vector<std::string> urls(const std::vector<FamilyPage>& pages) {
  std::vector<std::string> texts;
  for (const FamilyPage& page : pages) texts.push_back(page.url);
  return texts;
}

TEST_CASE("a URL without marks is one page, and {label} makes one a label") {
  CHECK(urls(family_pages(family_at("https://acme.test/whl"))) ==
        std::vector<std::string>{"https://acme.test/whl"});
  CHECK(urls(family_pages(family_at("https://acme.test/{label}/x"))) ==
        std::vector<std::string>{"https://acme.test/cu130/x", "https://acme.test/cu126/x",
                                 "https://acme.test/rocm6.4/x", "https://acme.test/xpu/x",
                                 "https://acme.test/cpu/x"});
}

TEST_CASE("{version} is the release without its local version, and a label may be elsewhere") {
  const auto version = *wheel::parse_version("2.1.post1+cu130");
  Family family = family_at("https://acme.test/v{version}");
  CHECK(urls(family_pages(family, "acme", version)) ==
        std::vector<std::string>{"https://acme.test/v2.1.post1"});
  family.labels[3].url = "https://acme.test/intel/{version}/{label}";
  CHECK(urls(family_pages(family, "acme", version)) ==
        std::vector<std::string>{"https://acme.test/v2.1.post1",
                                 "https://acme.test/intel/2.1.post1/xpu"});
  // Not of a release that has no entry, nor of the label that the default index has.
  CHECK(family_pages(family, "acme", *wheel::parse_version("9.9")).empty());
  const Family vllm = shipped("vllm");
  const auto pages = family_pages(vllm, "vllm", *wheel::parse_version("0.27.0"));
  REQUIRE(pages.size() == 2);
  CHECK(pages[0].url.ends_with("/0.27.0/cu129"));
  CHECK(pages[1].url.ends_with("/0.27.0/cpu"));
  CHECK(family_pages(vllm, "vllm", *wheel::parse_version("0.9.2")).empty());
}

TEST_CASE("the page of pages is beside them, and only links of the template's form count") {
  const Family pyg = shipped("pyg");
  const std::string list = page_list_url(pyg);
  CHECK(list.ends_with("/whl/index.html"));
  const std::string base = list.substr(0, list.rfind('/') + 1);
  const std::string body = R"(<a href="torch-2.13.0%2Bcu130.html">a</a>
    <a href="torch-2.13.0+cu130.html">the same, spelled otherwise</a>
    <a href="torch-2.13.0%2Bcpu.html#x">b</a> <a href="torch-2.3.0%2Bcu121.html">too old</a>
    <a href="torch-2.13.0%2Bcu999.html">an unknown label</a>
    <a href="torch-new%2Bcu130.html">no version</a>
    <a href="https://other.test/whl/torch-2.13.0%2Bcu130.html">elsewhere</a>
    <a href="nightly/torch-2.13.0%2Bcu130.html">another folder</a>
    <a href="torch-2.13.0%2Bcu130.html.exe">more behind it</a>
    <a href="torch-2.13.0%2B..%2Fcu130.html">a path</a> <a href="torch-%2Bcpu.html">nothing</a>)";
  const auto pages = urls(linked_pages(pyg, body, list));
  CHECK(pages == std::vector<std::string>{base + "torch-2.13.0%2Bcu130.html",
                                          base + "torch-2.13.0%2Bcpu.html"});
  std::string many;
  for (int minor = 4; minor < 2000; ++minor)
    many += "<a href=\"torch-2." + std::to_string(minor) + ".0%2Bcpu.html\">";
  CHECK(linked_pages(pyg, many, list).size() == 500);
}

TEST_CASE("of builds for torch the label is a word of the local version") {
  const Family flash = shipped("flash-attn");
  REQUIRE(flash.label("cu12torch2.8cxx11abitrue") != nullptr);
  CHECK(flash.label("cu12torch2.8cxx11abitrue")->name == "cu12");
  CHECK(flash.label("cu126torch2.8") == nullptr);
  CHECK(flash.label("rocm72torch2.8") == nullptr);
  CHECK(flash.label("") == nullptr);
  const Family pyg = shipped("pyg");
  REQUIRE(pyg.label("pt213cu130") != nullptr);
  CHECK(pyg.label("pt213cu130")->name == "cu130");
  CHECK(pyg.label("pt213cpu")->name == "cpu");
  CHECK(pyg.label("pt213xcpu") == nullptr);
  CHECK(pyg.label("pt213cpux") == nullptr);
}

}  // namespace
}  // namespace axle::index
