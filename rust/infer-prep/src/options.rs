use crate::{c_text, count, Error};
use infer_prep_sys as sys;
use std::ffi::CString;
use std::os::raw::c_char;

/// How to open a graph.
///
/// ```
/// # use infer_prep::Options;
/// let options = Options::new().max_pixels(20_000_000).backend("pil");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    jobs: i32,
    max_pixels: i64,
    max_bytes: i64,
    max_scans: i32,
    format: Option<String>,
    backend: Option<String>,
    decoder: Option<String>,
    ignored: Vec<String>,
}

impl Options {
    /// Returns the defaults.
    pub fn new() -> Options {
        Options::default()
    }

    /// Sets the number of runs at once; further ones wait. 0 is the default: the
    /// number of processors.
    pub fn jobs(mut self, n: i32) -> Options {
        self.jobs = n;
        self
    }

    /// Sets the limit of width x height of an image as stored. 0 is the default,
    /// 100,000,000; -1 is no limit.
    pub fn max_pixels(mut self, n: i64) -> Options {
        self.max_pixels = n;
        self
    }

    /// Sets the limit of the memory of a run, and of the estimated memory of all
    /// runs, in bytes. 0 is the default, 1 GiB; -1 is no limit.
    pub fn max_bytes(mut self, n: i64) -> Options {
        self.max_bytes = n;
        self
    }

    /// Sets the limit of the scans of a progressive JPEG. 0 is the default, 500;
    /// -1 is no limit.
    pub fn max_scans(mut self, n: i32) -> Options {
        self.max_scans = n;
        self
    }

    /// Sets the format: `graph`, `bundle`, `preset` or an importer's name, such
    /// as `hf`. The default is to look at the content.
    pub fn format(mut self, name: &str) -> Options {
        self.format = Some(name.into());
        self
    }

    /// Sets one of the importer's backends, such as `pil`. The default is that of
    /// the reference.
    pub fn backend(mut self, name: &str) -> Options {
        self.backend = Some(name.into());
        self
    }

    /// Sets one of the importer's ways of reading image files, such as
    /// `torchcodec`. The default is that of the reference.
    pub fn decoder(mut self, name: &str) -> Options {
        self.decoder = Some(name.into());
        self
    }

    /// Adds a key of the file to ignore although the importer does not know it.
    /// An unknown key is an error otherwise.
    pub fn ignore(mut self, key: &str) -> Options {
        self.ignored.push(key.into());
        self
    }

    /// Calls f with the options for the library, which are valid for the call.
    pub(crate) fn with<T>(
        &self,
        f: impl FnOnce(*const sys::ip_options) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let optional =
            |what: &str, s: &Option<String>| s.as_ref().map(|s| c_text(what, s)).transpose();
        let format = optional("open: format", &self.format)?;
        let backend = optional("open: backend", &self.backend)?;
        let decoder = optional("open: decoder", &self.decoder)?;
        let ignored = texts("open: ignored key", self.ignored.iter())?;
        let keys = pointers(&ignored);
        let mut options = sys::ip_options::new();
        options.jobs = self.jobs;
        options.max_pixels = self.max_pixels;
        options.max_bytes = self.max_bytes;
        options.max_scans = self.max_scans;
        options.format = pointer(&format);
        options.backend = pointer(&backend);
        options.decoder = pointer(&decoder);
        options.ignored = count("ignored keys", keys.len())?;
        options.ignored_keys = crate::address(&keys);
        f(&options)
    }
}

/// Returns texts for the library.
pub(crate) fn texts<S: AsRef<str>>(
    what: &str,
    list: impl Iterator<Item = S>,
) -> Result<Vec<CString>, Error> {
    list.map(|s| c_text(what, s.as_ref())).collect()
}

/// Returns the addresses of texts, valid as long as they are.
pub(crate) fn pointers(list: &[CString]) -> Vec<*const c_char> {
    list.iter().map(|s| s.as_ptr()).collect()
}

/// Returns the address of a text, NULL for none.
pub(crate) fn pointer(s: &Option<CString>) -> *const c_char {
    s.as_ref().map_or(std::ptr::null(), |s| s.as_ptr())
}
