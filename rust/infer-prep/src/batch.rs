use crate::error::check;
use crate::input::raw;
use crate::{address_mut, count, Buffer, Error, Graph, Input, Status};
use infer_prep_sys as sys;
use std::ffi::c_void;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The error of a batch.
#[derive(Clone, Debug)]
pub struct BatchError {
    /// The error of the first image that failed, or of the arguments.
    pub error: Error,
    /// The outcome of each image; empty if nothing ran.
    pub each: Vec<Result<(), Status>>,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.each.iter().position(|r| r.is_err()) {
            Some(i) => write!(f, "image {}: {}", i, self.error),
            None => self.error.fmt(f),
        }
    }
}

impl std::error::Error for BatchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<Error> for BatchError {
    fn from(error: Error) -> BatchError {
        BatchError {
            error,
            each: Vec::new(),
        }
    }
}

impl From<BatchError> for Error {
    /// Returns the first error.
    fn from(e: BatchError) -> Error {
        e.error
    }
}

impl Graph {
    /// Runs the graph on the images of a batch, on up to `threads` threads, of
    /// which one is the caller's. 0 and 1 are the caller's alone.
    ///
    /// `inputs` has the inputs of the first image, then those of the second, and
    /// so on; for most graphs that is one for each image. `outputs` has buffers
    /// in the same order: for each image one for each of the graph's first
    /// outputs, of as many as the caller wants. It forms no batch: for one that
    /// stacks, let the buffers lie one after another in memory.
    ///
    /// # Errors
    ///
    /// If an image fails, the others are run nevertheless. The errors are those of
    /// [`Graph::run_into`]; [`Status::Input`] also if `inputs` or `outputs` do not
    /// divide by the number of images.
    pub fn run_batch(
        &self,
        inputs: &[Input<'_>],
        outputs: &mut [Buffer<'_>],
        threads: usize,
    ) -> Result<(), BatchError> {
        let nin = self.inputs().len();
        let n = inputs.len().checked_div(nin).unwrap_or(0);
        if n * nin != inputs.len()
            || n == 0 && !outputs.is_empty()
            || n > 0 && outputs.len() % n != 0
        {
            return Err(BatchError::from(Error::new(
                Status::Input,
                format!(
                    "infer_prep: run_batch: {} inputs of a graph with {}, {} outputs: want the same number for each image",
                    inputs.len(), nin, outputs.len()
                ),
            )));
        }
        if n == 0 {
            return Ok(());
        }
        let nout = outputs.len() / n;
        let mut tensors = self.tensors(outputs, nout)?;
        let mut each = vec![NOT_RUN; n];
        let mut host = Host {
            threads: threads.clamp(1, n),
        };
        let (nin, nout_) = (count("inputs", nin)?, count("outputs", nout)?);
        // SAFETY: the graph is open; inputs and tensors have n times nin and nout
        // structs, whose memory is borrowed for the call; each has n elements.
        // parallel calls the body once for each image and gets host, which lives
        // longer than the call.
        let done = check(|e| unsafe {
            (self.api.ip_run_batch)(
                self.handle.as_ptr(),
                raw(inputs),
                nin,
                address_mut(&mut tensors),
                nout_,
                n,
                each.as_mut_ptr(),
                if host.threads > 1 {
                    Some(parallel)
                } else {
                    None
                },
                (&mut host as *mut Host).cast(),
                e,
            )
        });
        for (i, buffer) in outputs.iter_mut().enumerate() {
            if matches!(each[i / nout], sys::IP_OK | sys::IP_CAPACITY) {
                buffer.describe(&tensors[i])?;
            }
        }
        done.map_err(|error| {
            let each = each.iter().filter(|&&s| s != NOT_RUN).map(|&s| match s {
                sys::IP_OK => Ok(()),
                _ => Err(Status::of(s)),
            });
            BatchError {
                error,
                each: each.collect(),
            }
        })
    }
}

/// The status of an image before the library sets it.
const NOT_RUN: sys::ip_status = -1;

/// The host's part of a batch.
struct Host {
    threads: usize,
}

/// The library's part of a batch.
struct Job {
    n: usize,
    next: AtomicUsize, // image
    body: unsafe extern "C" fn(*mut c_void, usize),
    context: *mut c_void,
}

// SAFETY: the library lets any thread call body with context.
unsafe impl Sync for Job {}

impl Job {
    /// Runs images until none is left.
    fn work(&self) {
        loop {
            let i = self.next.fetch_add(1, Ordering::Relaxed);
            if i >= self.n {
                return;
            }
            // SAFETY: the library passed both to parallel, which has not returned.
            unsafe { (self.body)(self.context, i) };
        }
    }
}

/// Is the host's loop of [`sys::ip_parallel`]. It never panics, which would end
/// the process: the body is the library's, and a thread that cannot be started
/// is left out.
unsafe extern "C" fn parallel(
    host: *mut c_void,
    n: usize,
    body: sys::ip_body,
    context: *mut c_void,
) {
    let body = match body {
        Some(body) => body,
        None => return,
    };
    // SAFETY: run_batch passes a Host.
    let threads = unsafe { (*host.cast::<Host>()).threads };
    let job = Job {
        n,
        next: AtomicUsize::new(0),
        body,
        context,
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            if thread::Builder::new()
                .spawn_scoped(scope, || job.work())
                .is_err()
            {
                break;
            }
        }
        job.work();
    });
}
