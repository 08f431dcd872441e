use std::fmt;
use std::path::PathBuf;

/// The reason why the library cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// The system's loader refused every file, or found none.
    Missing {
        /// The files that were tried, with the loader's message for each.
        tried: Vec<(PathBuf, String)>,
    },
    /// The library lacks a function of the header.
    Function {
        /// The library's file.
        path: PathBuf,
        /// The function's name.
        name: &'static str,
    },
    /// The library has another API version than this crate.
    Version {
        /// The library's file; `libinfer_prep.a` if it is linked.
        path: PathBuf,
        /// What its `ip_api_version` returns.
        found: u32,
        /// The version that this crate is for.
        want: u32,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("infer_prep: load: ")?;
        match self {
            LoadError::Missing { tried } => {
                f.write_str("no library: want its path in INFER_PREP_LIB")?;
                for (path, why) in tried {
                    write!(f, "; {}: {}", path.display(), why)?;
                }
                Ok(())
            }
            LoadError::Function { path, name } => write!(
                f,
                "{}: function {} is missing: want a library of infer-prep {} or later",
                path.display(),
                name,
                env!("CARGO_PKG_VERSION")
            ),
            LoadError::Version { path, found, want } => {
                write!(
                    f,
                    "{}: API version {}, want {}",
                    path.display(),
                    found,
                    want
                )
            }
        }
    }
}

impl std::error::Error for LoadError {}
