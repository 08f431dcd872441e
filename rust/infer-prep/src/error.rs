use infer_prep_sys as sys;
use std::fmt;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// A bug in the library, or a status of a later version: please report it.
    Internal,
    /// The data breaks its format's rules, or is of no known format.
    Format,
    /// Valid, but this build does not read it or the graph refuses it.
    Unsupported,
    /// More pixels, bytes or scans than the limits allow.
    Limit,
    /// An invalid graph or configuration.
    Graph,
    /// An op that this build does not have.
    UnknownOp,
    /// An invalid parameter or option; a key that is missing or unknown.
    Param,
    /// An argument or an input that does not fit.
    Input,
    /// The caller's memory is too small; [`Buffer::needed`](crate::Buffer::needed)
    /// has the bytes.
    Capacity,
    /// The process is a fork of the one that loaded the library.
    Forked,
    /// A closed handle. Safe code cannot cause it.
    Handle,
    /// A file or folder that is missing or unreadable.
    Io,
    /// The library is missing or of another version. The error's source is a
    /// [`LoadError`](crate::LoadError).
    Library,
}

impl Status {
    /// Returns the kind of a status of the library that is not `IP_OK`.
    pub(crate) fn of(status: sys::ip_status) -> Status {
        match status {
            sys::IP_FORMAT => Status::Format,
            sys::IP_UNSUPPORTED => Status::Unsupported,
            sys::IP_LIMIT => Status::Limit,
            sys::IP_GRAPH => Status::Graph,
            sys::IP_UNKNOWN_OP => Status::UnknownOp,
            sys::IP_PARAM => Status::Param,
            sys::IP_INPUT => Status::Input,
            sys::IP_CAPACITY => Status::Capacity,
            sys::IP_FORKED => Status::Forked,
            sys::IP_HANDLE => Status::Handle,
            sys::IP_IO => Status::Io,
            _ => Status::Internal,
        }
    }
}

/// A failed call.
#[derive(Clone, Debug)]
pub struct Error {
    status: Status,
    message: String,
    source: Option<Box<sys::LoadError>>,
}

impl Error {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Error {
        Error {
            status,
            message: message.into(),
            source: None,
        }
    }

    /// Returns the kind of the error.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Returns the message: package, operation, the value and the expectation.
    /// The library cuts one of more than 1,015 bytes and ends it with `...`.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.source {
            Some(e) => Some(e.as_ref()),
            None => None,
        }
    }
}

impl From<sys::LoadError> for Error {
    fn from(e: sys::LoadError) -> Error {
        Error {
            status: Status::Library,
            message: e.to_string(),
            source: Some(Box::new(e)),
        }
    }
}

/// Calls a function of the library, which writes its error to the argument.
pub(crate) fn check(call: impl FnOnce(*mut sys::ip_error) -> sys::ip_status) -> Result<(), Error> {
    let mut e = sys::ip_error::new();
    match call(&mut e) {
        sys::IP_OK => Ok(()),
        status => Err(Error::new(
            Status::of(status),
            crate::array_text(&e.message),
        )),
    }
}
