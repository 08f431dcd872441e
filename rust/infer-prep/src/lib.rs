//! Image preprocessing for models: encoded images, or pixels, become the input
//! tensors of a model, with the same bytes as the Python reference
//! (transformers, torchvision, OpenCV and others).
//!
//! ```no_run
//! use infer_prep::{Graph, Input, Options};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let graph = Graph::open_name("preset:imagenet", &Options::new())?;
//! let file = std::fs::read("photo.jpg")?;
//! let outputs = graph.run(&[Input::encoded(&file)])?;
//! let pixels: &[f32] = outputs.get(0)?.as_slice()?;
//! # let _ = pixels;
//! # Ok(())
//! # }
//! ```
//!
//! A [`Graph`] comes from a file or a model's folder, such as one with
//! transformers' `preprocessor_config.json`, from a preset, or from bytes.
//! [`Graph::run`] lends the outputs in the library's memory;
//! [`Graph::run_into`] and [`Graph::run_batch`] write to the caller's.
//! [`Graph::collate`] joins runs into a batch. [`Video`] chooses and prepares the
//! frames of videos. [`Tokens`] computes what replaces images in a prompt, and
//! [`probe`] reads an image's header.
//!
//! # The library
//!
//! The crate calls the C library `libinfer_prep`. With feature `dlopen`, which
//! is on by default, the first call loads the shared library; see
//! [`infer_prep_sys::api`] for where it looks. With feature `static` the static
//! library is linked. A missing library is an error of [`Status::Library`].
//!
//! # Processes and signals
//!
//! The library has a Go runtime with threads of its own. A child that `fork`
//! made after the library was loaded gets [`Status::Forked`]; starting a program
//! with [`std::process::Command`] is fine. A handler of signals that the host
//! installs after loading needs `SA_ONSTACK`.

#![deny(missing_docs, unsafe_op_in_unsafe_fn)]

mod batch;
mod column;
mod element;
mod error;
mod graph;
mod image;
mod input;
mod options;
mod output;
mod tokens;
mod video;

pub use batch::BatchError;
pub use column::{Batch, Column, DType, Layout};
pub use element::Element;
pub use error::{Error, Status};
pub use graph::Graph;
pub use image::{probe, ImageInfo};
pub use infer_prep_sys::LoadError;
pub use input::Input;
pub use options::Options;
pub use output::{Buffer, Output, Outputs};
pub use tokens::{ImageTokens, TokenFiles, Tokens};
pub use video::{Clip, Video};

use infer_prep_sys as sys;
use std::ffi::{CStr, CString};
use std::os::raw::c_char;

/// Returns the library's release, such as `0.1.0`.
///
/// # Errors
///
/// [`Status::Library`].
pub fn version() -> Result<&'static str, Error> {
    let api = sys::api()?;
    // SAFETY: the function takes nothing and never fails.
    text(unsafe { (api.ip_version)() })
}

/// Returns a JSON object with the lists of names `formats` (of images),
/// `importers`, `presets`, `ops` and `processors` (classes that [`Tokens`]
/// knows).
///
/// # Errors
///
/// [`Status::Library`] and [`Status::Forked`].
pub fn capabilities() -> Result<&'static str, Error> {
    let api = sys::api()?;
    let mut json = std::ptr::null();
    // SAFETY: the pointers are valid for the call.
    error::check(|e| unsafe { (api.ip_capabilities)(&mut json, e) })?;
    text(json)
}

/// Returns a text of the library that is valid for ever.
fn text(from: *const c_char) -> Result<&'static str, Error> {
    if from.is_null() {
        return Err(Error::new(
            Status::Internal,
            "infer_prep: the library returned no text",
        ));
    }
    // SAFETY: the library's texts end with 0 and are never freed.
    let from = unsafe { CStr::from_ptr(from) };
    from.to_str().map_err(|_| {
        Error::new(
            Status::Internal,
            "infer_prep: a text of the library is not UTF-8",
        )
    })
}

/// Returns a text for the library, which reads up to a 0.
fn c_text(what: &str, s: &str) -> Result<CString, Error> {
    CString::new(s).map_err(|_| {
        Error::new(
            Status::Input,
            format!(
                "infer_prep: {}: {:?}: want a text without the byte 0",
                what, s
            ),
        )
    })
}

/// Returns the text in an array of the library.
fn array_text(from: &[c_char]) -> String {
    let bytes: Vec<u8> = from
        .iter()
        .map(|&c| c as u8)
        .take_while(|&c| c != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the address of a slice for the library. Go's runtime stops the
/// process at a small number in a pointer, such as Rust's address of an empty
/// slice.
fn address<T>(of: &[T]) -> *const T {
    if of.is_empty() {
        std::ptr::null()
    } else {
        of.as_ptr()
    }
}

/// Is [`address`] of memory that the library writes to.
fn address_mut<T>(of: &mut [T]) -> *mut T {
    if of.is_empty() {
        std::ptr::null_mut()
    } else {
        of.as_mut_ptr()
    }
}

/// Returns a length for the library.
fn count(what: &str, n: usize) -> Result<i32, Error> {
    i32::try_from(n).map_err(|_| {
        Error::new(
            Status::Input,
            format!("infer_prep: {} {}: want at most {}", n, what, i32::MAX),
        )
    })
}
