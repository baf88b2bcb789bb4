#pragma once
// What ISA-L unpacks deflate streams with, opened on first use.

struct inflate_state;  // of isa-l/igzip_lib.h

namespace axle::wheel::zip {

/// As in isa-l/igzip_lib.h.
struct Isal {
  void (*inflate_init)(inflate_state* state) = nullptr;
  int (*inflate_set_dict)(inflate_state* state, unsigned char* dict, unsigned length) = nullptr;
  int (*inflate)(inflate_state* state) = nullptr;
};

/// Throws as library_function does.
[[nodiscard]] const Isal& isal();

}  // namespace axle::wheel::zip
