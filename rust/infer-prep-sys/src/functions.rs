//! The functions of the header, in its order. tests/header.rs reads this file.

use crate::{
    ip_clip, ip_column, ip_error, ip_graph, ip_image_info, ip_image_tokens, ip_input, ip_options,
    ip_parallel, ip_result, ip_status, ip_tensor, ip_token_files, ip_tokens, ip_video, LoadError,
    IP_API_VERSION,
};
use std::ffi::c_void;
use std::os::raw::c_char;
use std::path::Path;

macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) -> $ret:ty;)*) => {
        /// The functions of the library. The header states their arguments,
        /// errors and lifetimes.
        ///
        /// All are unsafe to call: pointers must be NULL or valid as the header
        /// says. Any thread may call them.
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub struct Api {
            $($(#[$doc])* pub $name: unsafe extern "C" fn($($arg: $type),*) -> $ret,)*
        }

        #[cfg(feature = "static")]
        mod symbols {
            use super::*;
            extern "C" {
                $(pub fn $name($($arg: $type),*) -> $ret;)*
            }
        }

        #[cfg(feature = "static")]
        static LINKED: Api = Api { $($name: symbols::$name,)* };

        #[cfg(all(feature = "dlopen", not(feature = "static")))]
        impl Api {
            /// Returns the functions of a library, or the name of one that it
            /// lacks.
            ///
            /// # Safety
            ///
            /// The functions must be those of `infer_prep.h`. The caller must
            /// not unload the library.
            pub(crate) unsafe fn of(library: &libloading::Library) -> Result<Api, &'static str> {
                Ok(Api {
                    $($name: {
                        // SAFETY: the caller says that the function is the
                        // header's, which has this type (tests/header.rs).
                        let f = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) };
                        *f.map_err(|_| stringify!($name))?
                    },)*
                })
            }
        }
    };
}

functions! {
    /// Returns the library's API version.
    fn ip_api_version() -> u32;
    /// Returns the library's release.
    fn ip_version() -> *const c_char;
    /// Returns the name of a status.
    fn ip_status_name(status: ip_status) -> *const c_char;
    /// Lists what the build can do, in JSON.
    fn ip_capabilities(json: *mut *const c_char, error: *mut ip_error) -> ip_status;
    /// Opens a graph from the bytes of a file.
    fn ip_graph_open(data: *const c_void, n: usize, options: *const ip_options, graph: *mut *mut ip_graph, error: *mut ip_error) -> ip_status;
    /// Opens a graph from a file, a folder or a preset.
    fn ip_graph_open_name(name: *const c_char, options: *const ip_options, graph: *mut *mut ip_graph, error: *mut ip_error) -> ip_status;
    /// Closes a graph.
    fn ip_graph_free(graph: *mut ip_graph) -> ip_status;
    /// Returns the number of columns of a list.
    fn ip_graph_count(graph: *const ip_graph, list: i32) -> i32;
    /// Describes a column.
    fn ip_graph_describe(graph: *const ip_graph, list: i32, i: i32, column: *mut ip_column, error: *mut ip_error) -> ip_status;
    /// Returns the index of a column.
    fn ip_graph_find(graph: *const ip_graph, list: i32, name: *const c_char) -> i32;
    /// Describes the outputs for an image of a height and a width.
    fn ip_graph_sizes(graph: *const ip_graph, height: i64, width: i64, columns: *mut ip_column, n: i32, error: *mut ip_error) -> ip_status;
    /// Reads the header of an image.
    fn ip_probe(image: *const c_void, n: usize, info: *mut ip_image_info, error: *mut ip_error) -> ip_status;
    /// Runs a graph and writes to the caller's memory.
    fn ip_run_into(graph: *const ip_graph, in_: *const ip_input, nin: i32, out: *mut ip_tensor, nout: i32, error: *mut ip_error) -> ip_status;
    /// Runs a graph on several images.
    fn ip_run_batch(graph: *const ip_graph, in_: *const ip_input, nin: i32, out: *mut ip_tensor, nout: i32, n: usize, each: *mut ip_status, parallel: ip_parallel, host: *mut c_void, error: *mut ip_error) -> ip_status;
    /// Runs a graph and lends the outputs.
    fn ip_run(graph: *const ip_graph, in_: *const ip_input, nin: i32, result: *mut *mut ip_result, error: *mut ip_error) -> ip_status;
    /// Describes an output of a result.
    fn ip_result_tensor(result: *const ip_result, i: i32, tensor: *mut ip_tensor, error: *mut ip_error) -> ip_status;
    /// Ends the loan of a result.
    fn ip_result_free(result: *mut ip_result) -> ip_status;
    /// Returns the number of outputs of a result.
    fn ip_result_count(result: *const ip_result) -> i32;
    /// Describes an output of a result, with its name.
    fn ip_result_describe(result: *const ip_result, i: i32, column: *mut ip_column, error: *mut ip_error) -> ip_status;
    /// Joins results into a batch.
    fn ip_collate(graph: *const ip_graph, results: *const *const ip_result, n: usize, batch: *mut *mut ip_result, error: *mut ip_error) -> ip_status;
    /// Opens a video processor from the bytes of a file.
    fn ip_video_open(data: *const c_void, n: usize, options: *const ip_options, video: *mut *mut ip_video, error: *mut ip_error) -> ip_status;
    /// Opens a video processor from a file or a folder.
    fn ip_video_open_name(name: *const c_char, options: *const ip_options, video: *mut *mut ip_video, error: *mut ip_error) -> ip_status;
    /// Chooses the frames of a video.
    fn ip_video_sample(video: *const ip_video, clip: *const ip_clip, numbers: *mut i64, capacity: u64, count: *mut u64, error: *mut ip_error) -> ip_status;
    /// Runs a video processor.
    fn ip_video_run(video: *const ip_video, clips: *const ip_clip, n: i32, result: *mut *mut ip_result, error: *mut ip_error) -> ip_status;
    /// Closes a video processor.
    fn ip_video_free(video: *mut ip_video) -> ip_status;
    /// Opens tokens from a model's folder.
    fn ip_tokens_open(folder: *const c_char, tokens: *mut *mut ip_tokens, error: *mut ip_error) -> ip_status;
    /// Opens tokens from the content of files.
    fn ip_tokens_open_files(files: *const ip_token_files, tokens: *mut *mut ip_tokens, error: *mut ip_error) -> ip_status;
    /// Computes the tokens of the images of a prompt.
    fn ip_tokens_images(tokens: *const ip_tokens, sizes: *const i64, n: i32, images: *mut ip_image_tokens, text: *mut c_char, capacity: u64, text_bytes: *mut u64, error: *mut ip_error) -> ip_status;
    /// Closes tokens.
    fn ip_tokens_free(tokens: *mut ip_tokens) -> ip_status;
}

/// Returns an error if the functions are of another API version.
pub(crate) fn check(api: &Api, path: &Path) -> Result<(), LoadError> {
    // SAFETY: the function takes nothing and never fails.
    let found = unsafe { (api.ip_api_version)() };
    if found == IP_API_VERSION {
        return Ok(());
    }
    Err(LoadError::Version {
        path: path.into(),
        found,
        want: IP_API_VERSION,
    })
}

#[cfg(feature = "static")]
pub(crate) fn linked() -> Result<&'static Api, LoadError> {
    check(&LINKED, Path::new("libinfer_prep.a"))?;
    Ok(&LINKED)
}
