//! The shared library, loaded at run time.

use crate::functions::check;
use crate::{Api, LoadError};
use libloading::Library;
use std::env;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

const FILE: &str = if cfg!(windows) {
    "infer_prep.dll"
} else if cfg!(target_vendor = "apple") {
    "libinfer_prep.dylib"
} else {
    "libinfer_prep.so.1"
};

/// The functions of the loaded library, which are never freed; NULL before.
static LOADED: AtomicPtr<Api> = AtomicPtr::new(ptr::null_mut());

/// Held while a thread loads the library.
static LOADING: Mutex<()> = Mutex::new(());

pub(crate) fn api() -> Result<&'static Api, LoadError> {
    if let Some(api) = loaded() {
        return Ok(api);
    }
    let _guard = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(api) = loaded() {
        return Ok(api);
    }
    let api = Box::leak(Box::new(load()?));
    LOADED.store(api, Ordering::Release);
    Ok(api)
}

fn loaded() -> Option<&'static Api> {
    // SAFETY: the pointer is NULL or that of a leaked Box, which nobody changes
    // after the store.
    unsafe { LOADED.load(Ordering::Acquire).as_ref() }
}

/// Returns the files to try, in order.
fn candidates() -> Vec<PathBuf> {
    if let Some(path) = env::var_os("INFER_PREP_LIB").filter(|p| !p.is_empty()) {
        return vec![path.into()];
    }
    let beside = env::current_exe().ok().map(|p| p.with_file_name(FILE));
    let mut list: Vec<PathBuf> = beside.into_iter().filter(|p| p.exists()).collect();
    list.push(FILE.into());
    list
}

fn load() -> Result<Api, LoadError> {
    let mut tried = Vec::new();
    for path in candidates() {
        // SAFETY: loading runs the start of the library's Go runtime, which
        // needs nothing of the host.
        match unsafe { Library::new(&path) } {
            Ok(library) => return functions(library, &path),
            Err(e) => tried.push((path, e.to_string())),
        }
    }
    Err(LoadError::Missing { tried })
}

fn functions(library: Library, path: &Path) -> Result<Api, LoadError> {
    // SAFETY: a library of this name has the functions of the header. Those of
    // API versions to come keep ip_api_version, which check calls first.
    let api = unsafe { Api::of(&library) };
    // A Go runtime cannot be unloaded.
    std::mem::forget(library);
    let api = api.map_err(|name| LoadError::Function {
        path: path.into(),
        name,
    })?;
    check(&api, path)?;
    Ok(api)
}
