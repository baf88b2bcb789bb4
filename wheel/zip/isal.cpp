#include "wheel/zip/isal.h"

#include <type_traits>

#include <isa-l/igzip_lib.h>

#include "wheel/libraries/opened_libraries.h"

namespace axle::wheel::zip {
namespace {

static_assert(std::is_same_v<decltype(Isal::inflate_init), decltype(&::isal_inflate_init)>);
static_assert(std::is_same_v<decltype(Isal::inflate_set_dict), decltype(&::isal_inflate_set_dict)>);
static_assert(std::is_same_v<decltype(Isal::inflate), decltype(&::isal_inflate)>);

Isal open_isal() {
  Isal functions;
  find_in_isal("isal_inflate_init", functions.inflate_init);
  find_in_isal("isal_inflate_set_dict", functions.inflate_set_dict);
  find_in_isal("isal_inflate", functions.inflate);
  return functions;
}

}  // namespace

const Isal& isal() {
  static const Isal functions = open_isal();
  return functions;
}

}  // namespace axle::wheel::zip
