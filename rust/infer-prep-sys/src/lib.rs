//! Bindings to `infer_prep.h`, the C interface of infer-prep, API version 1.
//!
//! The names, structs and rules are those of the header, which documents them.
//! Crate `infer-prep` has safe types over them. [`api`] returns the functions;
//! a feature says where they come from:
//!
//! - `dlopen` (default) loads the shared library at run time: see [`api`].
//! - `static` links `lib/libinfer_prep.a` of the folder `INFER_PREP_DIR`, which
//!   `capi/build.sh` wrote, when the crate is built. If both features are on,
//!   `static` is in effect.
//! - `wasm2c` compiles the library in plain C, which has no Go runtime, from the
//!   folder `INFER_PREP_C_SRC`, which `capi/wasm2c/build.sh` wrote. It goes
//!   before the others.
//!
//! Pass NULL for the address of an empty slice. Rust's is a small number, at which
//! the Go runtime of the library may end the process.
//!
//! A struct that is passed begins with `struct_size`, its size in bytes. `new`
//! returns a struct with its size set and all other members 0.

#![deny(missing_docs, unsafe_op_in_unsafe_fn)]
#![allow(non_camel_case_types)]

#[cfg(not(any(feature = "dlopen", feature = "static")))]
compile_error!(
    "infer-prep-sys: no feature says where the library comes from: want dlopen or static"
);

#[cfg(all(feature = "dlopen", not(feature = "static")))]
mod dlopen;
mod error;
mod functions;
mod types;

pub use error::LoadError;
pub use functions::Api;
pub use types::*;

/// Returns the library's functions, which stay valid for the life of the
/// process. Any thread may call it.
///
/// With feature `dlopen` the first call loads the library and never unloads it.
/// It takes the file that the environment variable `INFER_PREP_LIB` names. If
/// that is unset or empty, it looks for `libinfer_prep.so.1`
/// (`libinfer_prep.dylib` on macOS, `infer_prep.dll` on Windows) in the folder
/// of the program, and then where the system's loader looks. A failed call
/// leaves nothing behind: the next one tries again.
///
/// # Errors
///
/// [`LoadError`] if the library is missing, lacks a function, or has another
/// `ip_api_version` than [`IP_API_VERSION`].
pub fn api() -> Result<&'static Api, LoadError> {
    #[cfg(feature = "static")]
    return functions::linked();
    #[cfg(all(feature = "dlopen", not(feature = "static")))]
    return dlopen::api();
    #[cfg(not(any(feature = "dlopen", feature = "static")))]
    unreachable!()
}
