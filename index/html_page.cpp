// PEP 503 pages, read with gumbo as a browser would read them.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gumbo.h>

#include "index/page.h"
#include "index/page_entry.h"
#include "index/transport.h"
#include "index/url.h"
#include "wheel/ascii.h"

namespace axle::index {
namespace {

/// The largest known pages have 2 MB; a bound keeps gumbo's memory (some 30 bytes a byte) in
/// reason.
constexpr std::size_t max_html_bytes = 64U << 20;

/// All memory of one parse. gumbo 0.10.1 frees its tree by recursion, which a page of nested tags
/// turns into a stack overflow; here the tree goes away as a whole instead.
class Arena {
 public:
  void* allocate(std::size_t size) {
    size = (size + alignment - 1) / alignment * alignment;
    if (size > left_) {
      const std::size_t block = size > block_size ? size : block_size;
      blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(block));
      next_ = blocks_.back().get();
      left_ = block;
    }
    void* result = next_;
    next_ += size;
    left_ -= size;
    return result;
  }

 private:
  static constexpr std::size_t alignment = alignof(std::max_align_t);
  static constexpr std::size_t block_size = 256U << 10;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

const char* attribute(const GumboElement& element, const char* name) {
  const GumboAttribute* found = gumbo_get_attribute(&element.attributes, name);
  return found == nullptr ? nullptr : found->value;
}

/// Elements of the tree in document order, without recursion.
std::vector<const GumboElement*> elements_in_order(const GumboNode* root) {
  std::vector<const GumboElement*> found;
  std::vector<const GumboNode*> open = {root};
  while (!open.empty()) {
    const GumboNode* node = open.back();
    open.pop_back();
    if (node->type != GUMBO_NODE_ELEMENT && node->type != GUMBO_NODE_TEMPLATE) continue;
    found.push_back(&node->v.element);
    const GumboVector& children = node->v.element.children;
    for (unsigned i = children.length; i > 0; --i) {
      open.push_back(static_cast<const GumboNode*>(children.data[i - 1]));
    }
  }
  return found;
}

std::string_view first_text(const GumboElement& element) {
  for (unsigned i = 0; i < element.children.length; ++i) {
    const auto* child = static_cast<const GumboNode*>(element.children.data[i]);
    if (child->type == GUMBO_NODE_TEXT) return wheel::trim_ascii(child->v.text.text);
  }
  return {};
}

/// PEP 658/714: "true", or "sha256=<digits>".
void read_metadata_mark(const GumboElement& anchor, PublishedFile& file) {
  const char* mark = attribute(anchor, "data-core-metadata");
  if (mark == nullptr) mark = attribute(anchor, "data-dist-info-metadata");
  if (mark == nullptr) return;
  const std::string_view text = wheel::trim_ascii(mark);
  if (text.starts_with("sha256=")) file.metadata_sha256 = sha256_digits(text.substr(7));
  file.has_metadata = !text.empty() && text != "false";
}

void read_anchor(const GumboElement& anchor, PageBuilder& builder) {
  const char* raw = attribute(anchor, "href");
  if (raw == nullptr) return;
  const std::string_view href = wheel::trim_ascii(raw);
  std::string filename = url_file_name(href);
  if (!is_distribution_name(filename)) return;
  PublishedFile& file = builder.begin();
  file.filename = std::move(filename);
  if (!note_fragment_hashes(file, split_url(href).fragment)) {
    return builder.leave_out("its sha256 is not 64 hexadecimal digits");
  }
  if (const char* text = attribute(anchor, "data-requires-python")) file.requires_python = text;
  if (const char* reason = attribute(anchor, "data-yanked")) {
    file.yanked = true;
    file.yanked_reason = reason;
  }
  read_metadata_mark(anchor, file);
  builder.keep(href);
}

/// What the page says about itself, apart from its links.
struct Head {
  std::string base;         ///< absolute
  std::string api_version;  ///< of the pypi:repository-version mark; empty without
  bool titled = false;      ///< "Links for …", the title that simple pages bear
};

Head read_head(const std::vector<const GumboElement*>& elements, std::string_view page_url) {
  Head head;
  for (const GumboElement* element : elements) {
    if (element->tag == GUMBO_TAG_BASE && head.base.empty()) {
      if (const char* href = attribute(*element, "href")) {
        head.base = resolve_url(without_fragment(page_url), wheel::trim_ascii(href));
      }
    } else if (element->tag == GUMBO_TAG_META && head.api_version.empty()) {
      const char* name = attribute(*element, "name");
      const char* content = attribute(*element, "content");
      if (name != nullptr && content != nullptr &&
          std::string_view(name) == "pypi:repository-version") {
        head.api_version = wheel::trim_ascii(content);
      }
    } else if (element->tag == GUMBO_TAG_TITLE || element->tag == GUMBO_TAG_H1) {
      head.titled = head.titled || first_text(*element).starts_with("Links for");
    }
  }
  if (head.base.empty()) head.base = without_fragment(page_url);
  return head;
}

Result<ProjectPage> read_page(std::string_view body, std::string_view page_url, Report& report,
                              bool any_page) {
  if (body.size() > max_html_bytes) {
    return fail(ErrorKind::malformed, fmt::format("{} has {} bytes, more than any index page",
                                                  redact_url(page_url), body.size()));
  }
  Arena arena;
  GumboOptions options = kGumboDefaultOptions;
  options.allocator = [](void* owner, std::size_t size) {
    return static_cast<Arena*>(owner)->allocate(size);
  };
  options.deallocator = [](void*, void*) {};
  options.userdata = &arena;
  options.max_errors = 0;
  const GumboOutput* output = gumbo_parse_with_options(&options, body.data(), body.size());
  const std::vector<const GumboElement*> elements = elements_in_order(output->root);

  const Head head = read_head(elements, page_url);
  if (!head.api_version.empty()) {
    if (const Result<void> version = check_api_version(head.api_version, page_url); !version) {
      return std::unexpected(version.error());
    }
  }
  PageBuilder builder(page_url, head.base, report);
  for (const GumboElement* element : elements) {
    if (element->tag == GUMBO_TAG_A) read_anchor(*element, builder);
  }
  ProjectPage page = builder.finish();
  if (page.files.empty() && head.api_version.empty() && !head.titled && !any_page) {
    return fail(
        ErrorKind::malformed,
        fmt::format("{} is not a page of a package index: no link on it leads to a wheel or "
                    "source archive",
                    redact_url(page_url)),
        "check the index URL: it usually ends in /simple");
  }
  return page;
}

}  // namespace

Result<ProjectPage> parse_html_page(std::string_view body, std::string_view page_url,
                                    Report& report) {
  return read_page(body, page_url, report, false);
}

Result<ProjectPage> parse_link_page(std::string_view body, std::string_view page_url,
                                    Report& report) {
  return read_page(body, page_url, report, true);
}

}  // namespace axle::index
