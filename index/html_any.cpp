// HTML of any kind, read with gumbo.
#include <optional>
#include <string_view>
#include <vector>

#include <gumbo.h>

#include "index/html_content.h"

namespace axle::index {
namespace {

std::optional<std::string_view> attribute(const GumboElement& element, const char* name) {
  const GumboAttribute* found = gumbo_get_attribute(&element.attributes, name);
  if (found == nullptr) return std::nullopt;
  return found->value;
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
    if (child->type == GUMBO_NODE_TEXT) return child->v.text.text;
  }
  return {};
}

void note_element(const GumboElement& element, HtmlContent& content) {
  switch (element.tag) {
    case GUMBO_TAG_A:
      if (const auto href = attribute(element, "href")) {
        content.links.push_back({*href, attribute(element, "data-requires-python"),
                                 attribute(element, "data-yanked"),
                                 attribute(element, "data-core-metadata"),
                                 attribute(element, "data-dist-info-metadata")});
      }
      break;
    case GUMBO_TAG_BASE:
      if (const auto href = attribute(element, "href")) content.note_base(*href);
      break;
    case GUMBO_TAG_META: {
      const auto name = attribute(element, "name");
      const auto value = attribute(element, "content");
      if (name && value) content.note_meta(*name, *value);
      break;
    }
    case GUMBO_TAG_TITLE:
    case GUMBO_TAG_H1:
      content.note_title(first_text(element));
      break;
    default:
      break;
  }
}

}  // namespace

// gumbo 0.10.1 frees its tree by recursion, which a page of nested tags turns into a stack
// overflow; in the arena the tree goes away as a whole instead.
HtmlContent read_any_html(std::string_view body) {
  HtmlContent content;
  GumboOptions options = kGumboDefaultOptions;
  options.allocator = [](void* owner, std::size_t size) {
    return static_cast<Arena*>(owner)->allocate(size);
  };
  options.deallocator = [](void*, void*) {};
  options.userdata = &content.memory;
  options.max_errors = 0;
  const GumboOutput* output = gumbo_parse_with_options(&options, body.data(), body.size());
  for (const GumboElement* element : elements_in_order(output->root)) {
    note_element(*element, content);
  }
  return content;
}

}  // namespace axle::index
