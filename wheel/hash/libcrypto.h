#pragma once
// OpenSSL's libcrypto, opened on first use: linking it would cost every start of the program 0.7 ms
// (a hundred pages of relocations), also of commands that hash nothing.

namespace axle::wheel {

/// Throws std::runtime_error where the library that the headers belong to is not installed, or has
/// no such function.
[[nodiscard]] void* libcrypto_function(const char* name);

/// Sets `function` to libcrypto's of that name.
template <class Function>
void find_in_libcrypto(const char* name, Function& function) {
  function = reinterpret_cast<Function>(libcrypto_function(name));
}

}  // namespace axle::wheel
