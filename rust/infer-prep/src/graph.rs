use crate::error::check;
use crate::input::raw;
use crate::{
    address, address_mut, c_text, count, Buffer, Column, Error, Input, Options, Outputs, Status,
};
use infer_prep_sys as sys;
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// An open graph: the preprocessing of a model.
///
/// Several threads may run it at once; a run takes place on its caller's
/// thread.
pub struct Graph {
    pub(crate) api: &'static sys::Api,
    pub(crate) handle: NonNull<sys::ip_graph>,
    inputs: Vec<Column>,
    pub(crate) outputs: Arc<[Column]>,
}

// SAFETY: any thread may call the library's functions with any handle, several
// at once with one graph.
unsafe impl Send for Graph {}
// SAFETY: as above.
unsafe impl Sync for Graph {}

impl Graph {
    /// Opens the content of a file: a graph in JSON or msgp, a bundle, or a file
    /// of an importer, such as `preprocessor_config.json`.
    ///
    /// # Errors
    ///
    /// [`Status::Format`], [`Status::Unsupported`] (also for a graph with random
    /// ops, which are for training), [`Status::Limit`], [`Status::Graph`],
    /// [`Status::UnknownOp`], [`Status::Param`], [`Status::Input`] and
    /// [`Status::Library`].
    pub fn open(file: &[u8], options: &Options) -> Result<Graph, Error> {
        let api = sys::api()?;
        Graph::opened(api, options, |options, graph, e| {
            // SAFETY: the pointers are valid for the call, and an empty file's is
            // NULL.
            unsafe { (api.ip_graph_open)(address(file).cast(), file.len(), options, graph, e) }
        })
    }

    /// Opens a file, a model's folder, or a preset, such as `preset:imagenet`.
    ///
    /// # Errors
    ///
    /// Those of [`Graph::open`], and [`Status::Io`].
    pub fn open_name(name: &str, options: &Options) -> Result<Graph, Error> {
        let api = sys::api()?;
        let name = c_text("open: name", name)?;
        Graph::opened(api, options, |options, graph, e| {
            // SAFETY: the pointers are valid for the call.
            unsafe { (api.ip_graph_open_name)(name.as_ptr(), options, graph, e) }
        })
    }

    fn opened(
        api: &'static sys::Api,
        options: &Options,
        open: impl FnOnce(
            *const sys::ip_options,
            *mut *mut sys::ip_graph,
            *mut sys::ip_error,
        ) -> sys::ip_status,
    ) -> Result<Graph, Error> {
        let mut handle = ptr::null_mut();
        options.with(|options| check(|e| open(options, &mut handle, e)))?;
        let handle = NonNull::new(handle).ok_or_else(|| {
            Error::new(
                Status::Internal,
                "infer_prep: open: the library returned no graph",
            )
        })?;
        // It closes the handle if the next calls fail.
        let mut graph = Graph {
            api,
            handle,
            inputs: Vec::new(),
            outputs: Arc::new([]),
        };
        graph.inputs = graph.columns(sys::IP_INPUTS)?;
        graph.outputs = graph.columns(sys::IP_OUTPUTS)?.into();
        Ok(graph)
    }

    fn columns(&self, list: i32) -> Result<Vec<Column>, Error> {
        // SAFETY: the handle is open.
        let n = unsafe { (self.api.ip_graph_count)(self.handle.as_ptr(), list) };
        (0..n)
            .map(|i| {
                let mut c = sys::ip_column::new();
                // SAFETY: the handle is open and the pointers are valid for the call.
                check(|e| unsafe {
                    (self.api.ip_graph_describe)(self.handle.as_ptr(), list, i, &mut c, e)
                })?;
                Column::of(&c)
            })
            .collect()
    }

    /// Returns the graph's inputs.
    pub fn inputs(&self) -> &[Column] {
        &self.inputs
    }

    /// Returns the graph's outputs: the model's inputs, then side outputs.
    pub fn outputs(&self) -> &[Column] {
        &self.outputs
    }

    /// Describes the outputs for an image of a height and a width in pixels, as
    /// decoded. It needs no pixels. A size that depends on more than that stays
    /// `None`.
    ///
    /// # Errors
    ///
    /// [`Status::Input`] and [`Status::Limit`].
    pub fn sizes(&self, height: usize, width: usize) -> Result<Vec<Column>, Error> {
        let mut columns = vec![sys::ip_column::new(); self.outputs.len()];
        let n = count("outputs", columns.len())?;
        // One that does not fit is too large in any case.
        let side = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        // SAFETY: the handle is open, and columns has n structs.
        check(|e| unsafe {
            (self.api.ip_graph_sizes)(
                self.handle.as_ptr(),
                side(height),
                side(width),
                address_mut(&mut columns),
                n,
                e,
            )
        })?;
        columns.iter().map(Column::of).collect()
    }

    /// Runs the graph and returns all outputs in the library's memory.
    ///
    /// # Errors
    ///
    /// [`Status::Input`], and for images [`Status::Format`],
    /// [`Status::Unsupported`] and [`Status::Limit`].
    pub fn run(&self, inputs: &[Input<'_>]) -> Result<Outputs, Error> {
        let mut handle = ptr::null_mut();
        let nin = count("inputs", inputs.len())?;
        // SAFETY: the graph is open; inputs has nin structs, whose memory is
        // borrowed for the call.
        check(|e| unsafe {
            (self.api.ip_run)(self.handle.as_ptr(), raw(inputs), nin, &mut handle, e)
        })?;
        Outputs::of(self.api, handle, Some(&self.outputs))
    }

    /// Runs the graph and writes its first outputs to the caller's memory, one
    /// for each buffer.
    ///
    /// After an error of [`Status::Capacity`] every buffer says the bytes that it
    /// needs. After another error the content of the memory is undefined.
    ///
    /// # Errors
    ///
    /// Those of [`Graph::run`], and [`Status::Capacity`]. [`Status::Input`] also
    /// if a buffer's type does not hold elements of the output's dtype.
    pub fn run_into(&self, inputs: &[Input<'_>], outputs: &mut [Buffer<'_>]) -> Result<(), Error> {
        let mut tensors = self.tensors(outputs, outputs.len())?;
        let (nin, nout) = (
            count("inputs", inputs.len())?,
            count("outputs", tensors.len())?,
        );
        // SAFETY: the graph is open; inputs has nin structs, whose memory is
        // borrowed for the call; tensors has nout structs, whose memory the
        // buffers borrow mutably.
        let done = check(|e| unsafe {
            (self.api.ip_run_into)(
                self.handle.as_ptr(),
                raw(inputs),
                nin,
                address_mut(&mut tensors),
                nout,
                e,
            )
        });
        if !matches!(&done, Err(e) if e.status() != Status::Capacity) {
            for (buffer, tensor) in outputs.iter_mut().zip(&tensors) {
                buffer.describe(tensor)?;
            }
        }
        done
    }

    /// Joins the outputs of several runs of this graph into a batch, each output
    /// by its [`Column::batch`] rule. The outputs stay valid.
    ///
    /// # Errors
    ///
    /// [`Status::Input`] for outputs of another graph, for shapes that a rule does
    /// not admit, for outputs of [`DType::Bytes`](crate::DType::Bytes) and for no
    /// outputs at all; [`Status::Limit`] if the batch exceeds
    /// [`Options::max_bytes`].
    pub fn collate(&self, outputs: &[&Outputs]) -> Result<Outputs, Error> {
        let handles: Vec<_> = outputs.iter().map(|o| o.handle()).collect();
        let mut batch = ptr::null_mut();
        // SAFETY: the graph and the results, which are borrowed for the call, are
        // open.
        check(|e| unsafe {
            (self.api.ip_collate)(
                self.handle.as_ptr(),
                address(&handles),
                handles.len(),
                &mut batch,
                e,
            )
        })?;
        Outputs::of(self.api, batch, Some(&self.outputs))
    }

    /// Returns the structs of buffers for the library: nout outputs, again and
    /// again.
    pub(crate) fn tensors(
        &self,
        buffers: &mut [Buffer<'_>],
        nout: usize,
    ) -> Result<Vec<sys::ip_tensor>, Error> {
        if nout > self.outputs.len() {
            return Err(Error::new(
                Status::Input,
                format!(
                    "infer_prep: run: memory for {} outputs, the graph has {}",
                    nout,
                    self.outputs.len()
                ),
            ));
        }
        buffers
            .iter_mut()
            .zip(self.outputs[..nout].iter().cycle())
            .map(|(b, c)| b.raw(c))
            .collect()
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: the handle is open and nobody else has it. Results stay valid.
        // In a fork the call does nothing but return IP_FORKED.
        unsafe { (self.api.ip_graph_free)(self.handle.as_ptr()) };
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("inputs", &self.inputs)
            .field("outputs", &self.outputs)
            .finish_non_exhaustive()
    }
}
