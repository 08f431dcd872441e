use crate::column::axes;
use crate::error::check;
use crate::{Column, DType, Element, Error, Layout, Status};
use infer_prep_sys as sys;
use std::fmt;
use std::mem::{align_of, size_of, size_of_val};
use std::ptr::NonNull;
use std::sync::Arc;

/// The description of a tensor of a run.
#[derive(Clone, Debug)]
struct Desc {
    dtype: DType,
    layout: Layout,
    shape: [usize; sys::IP_MAX_RANK],
    rank: usize,
}

impl Desc {
    fn of(t: &sys::ip_tensor) -> Result<Desc, Error> {
        let list = axes(&t.shape, t.rank)?;
        let mut shape = [0; sys::IP_MAX_RANK];
        for (to, &size) in shape.iter_mut().zip(list) {
            // The library says -1 of a size that it does not know before a run.
            *to = usize::try_from(size).unwrap_or(0);
        }
        Ok(Desc {
            dtype: DType::of(t.dtype)?,
            layout: Layout::of(t.layout)?,
            shape,
            rank: list.len(),
        })
    }

    fn shape(&self) -> &[usize] {
        &self.shape[..self.rank]
    }
}

/// The outputs of a run, in the library's memory. Dropping it returns the
/// memory, which the graph uses again. It may outlive the graph or the video
/// processor.
pub struct Outputs {
    api: &'static sys::Api,
    handle: NonNull<sys::ip_result>,
    columns: Arc<[Column]>,
    tensors: Vec<(Desc, *const u8, usize)>,
}

// SAFETY: any thread may call the library's functions with any handle, and
// nothing changes the memory of the outputs before they are freed.
unsafe impl Send for Outputs {}
// SAFETY: as above.
unsafe impl Sync for Outputs {}

impl Outputs {
    /// Returns the outputs of a handle, which it closes when dropped. columns are
    /// those of the graph; None asks the library.
    pub(crate) fn of(
        api: &'static sys::Api,
        handle: *mut sys::ip_result,
        columns: Option<&Arc<[Column]>>,
    ) -> Result<Outputs, Error> {
        let handle = NonNull::new(handle).ok_or_else(|| {
            Error::new(
                Status::Internal,
                "infer_prep: run: the library returned no result",
            )
        })?;
        let mut to = Outputs {
            api,
            handle,
            columns: Arc::new([]),
            tensors: Vec::new(),
        };
        to.columns = match columns {
            Some(columns) => columns.clone(),
            None => to.described()?.into(),
        };
        to.tensors.reserve_exact(to.columns.len());
        for i in 0..to.columns.len() {
            let mut t = sys::ip_tensor::new();
            // SAFETY: the handle is open and the pointers are valid for the call.
            check(|e| unsafe { (api.ip_result_tensor)(handle.as_ptr(), i as i32, &mut t, e) })?;
            let bytes = if t.data.is_null() {
                0
            } else {
                t.bytes as usize
            };
            to.tensors.push((Desc::of(&t)?, t.data.cast::<u8>(), bytes));
        }
        Ok(to)
    }

    /// Returns the columns of a result.
    fn described(&self) -> Result<Vec<Column>, Error> {
        // SAFETY: the handle is open.
        let n = unsafe { (self.api.ip_result_count)(self.handle()) };
        let describe = |i| {
            let mut c = sys::ip_column::new();
            // SAFETY: the handle is open and the pointers are valid for the call.
            check(|e| unsafe { (self.api.ip_result_describe)(self.handle(), i, &mut c, e) })?;
            Column::of(&c)
        };
        (0..n).map(describe).collect()
    }

    pub(crate) fn handle(&self) -> *const sys::ip_result {
        self.handle.as_ptr()
    }

    /// Returns the number of outputs, which is at least 1.
    #[allow(clippy::len_without_is_empty)] // a graph has an output
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Returns output i, counted from 0.
    ///
    /// # Errors
    ///
    /// [`Status::Input`] if there is none.
    pub fn get(&self, i: usize) -> Result<Output<'_>, Error> {
        let (desc, data, bytes) = self.tensors.get(i).ok_or_else(|| {
            Error::new(
                Status::Input,
                format!(
                    "infer_prep: outputs: output {} of {}",
                    i,
                    self.tensors.len()
                ),
            )
        })?;
        let bytes: &[u8] = if *bytes == 0 {
            &[]
        } else {
            // SAFETY: the library lends the bytes until the handle is freed, which
            // takes the Outputs, and nothing writes to them.
            unsafe { std::slice::from_raw_parts(*data, *bytes) }
        };
        Ok(Output {
            name: &self.columns[i].name,
            desc,
            bytes,
        })
    }

    /// Returns the output of a name.
    ///
    /// # Errors
    ///
    /// [`Status::Input`] if there is none.
    pub fn named(&self, name: &str) -> Result<Output<'_>, Error> {
        match self.columns.iter().position(|c| c.name == name) {
            Some(i) => self.get(i),
            None => {
                let have: Vec<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
                Err(Error::new(
                    Status::Input,
                    format!(
                        "infer_prep: outputs: no output {:?}: want one of {:?}",
                        name, have
                    ),
                ))
            }
        }
    }

    /// Returns all outputs, in the graph's order.
    pub fn iter(&self) -> impl Iterator<Item = Output<'_>> + '_ {
        (0..self.len()).filter_map(move |i| self.get(i).ok())
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        // SAFETY: the handle is open and nobody else has it. In a fork the call
        // does nothing but return IP_FORKED.
        unsafe { (self.api.ip_result_free)(self.handle.as_ptr()) };
    }
}

impl fmt::Debug for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// An output of a run. It borrows the [`Outputs`].
#[derive(Clone, Copy)]
pub struct Output<'a> {
    name: &'a str,
    desc: &'a Desc,
    bytes: &'a [u8],
}

impl<'a> Output<'a> {
    /// Returns the name of the graph's column.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Returns the type of the elements.
    pub fn dtype(&self) -> DType {
        self.desc.dtype
    }

    /// Returns the order of the axes.
    pub fn layout(&self) -> Layout {
        self.desc.layout
    }

    /// Returns the size of each axis. A byte string has one axis.
    pub fn shape(&self) -> &'a [usize] {
        self.desc.shape()
    }

    /// Returns the elements' bytes: dense, in row-major order, little-endian.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the elements in row-major order.
    ///
    /// # Errors
    ///
    /// [`Status::Input`] if `T` does not hold elements of the output's dtype.
    pub fn as_slice<T: Element>(&self) -> Result<&'a [T], Error> {
        if !T::holds(self.desc.dtype) {
            return Err(mismatch::<T>(self.name, self.desc.dtype));
        }
        if self.bytes.is_empty() {
            return Ok(&[]);
        }
        let at = self.bytes.as_ptr();
        if at as usize % align_of::<T>() != 0 {
            return Err(Error::new(
                Status::Internal,
                format!(
                    "infer_prep: output {:?} is at {:p}, which is not aligned",
                    self.name, at
                ),
            ));
        }
        // SAFETY: the bytes live for 'a, are aligned, and have any bit pattern,
        // which is valid for an Element.
        Ok(unsafe { std::slice::from_raw_parts(at.cast(), self.bytes.len() / size_of::<T>()) })
    }

    /// Returns the elements as an array of the output's shape. Needs feature
    /// `ndarray`.
    ///
    /// # Errors
    ///
    /// [`Status::Input`] if `T` does not hold elements of the output's dtype.
    #[cfg(feature = "ndarray")]
    pub fn view<T: Element>(&self) -> Result<ndarray::ArrayViewD<'a, T>, Error> {
        ndarray::ArrayViewD::from_shape(self.shape(), self.as_slice()?).map_err(|e| {
            Error::new(
                Status::Internal,
                format!("infer_prep: output {:?}: {}", self.name, e),
            )
        })
    }
}

impl fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("name", &self.name)
            .field("dtype", &self.dtype())
            .field("layout", &self.layout())
            .field("shape", &self.shape())
            .finish_non_exhaustive()
    }
}

fn mismatch<T>(name: &str, dtype: DType) -> Error {
    Error::new(
        Status::Input,
        format!(
            "infer_prep: output {:?}: {:?} as a slice of {}",
            name,
            dtype,
            std::any::type_name::<T>()
        ),
    )
}

/// The caller's memory for an output. A run that succeeds writes the elements
/// to its start and describes them.
pub struct Buffer<'a> {
    bytes: &'a mut [u8],
    accepts: fn(DType) -> bool,
    type_name: &'static str,
    desc: Option<Desc>,
    needed: usize,
}

impl<'a> Buffer<'a> {
    /// Returns a buffer of a slice. Memory aligned to 8 bytes avoids a copy. A
    /// slice of u8 takes the bytes of any dtype. An empty one asks for the size:
    /// a run then fails with [`Status::Capacity`] and sets
    /// [`needed`](Buffer::needed).
    pub fn new<T: Element>(memory: &'a mut [T]) -> Buffer<'a> {
        let n = size_of_val(memory);
        // SAFETY: the bytes are those of the slice, which stays borrowed for 'a.
        // An Element has neither padding nor invalid bit patterns.
        let bytes = unsafe { std::slice::from_raw_parts_mut(memory.as_mut_ptr().cast::<u8>(), n) };
        let any: fn(DType) -> bool = |_| true;
        // One byte without sign stands for any element.
        let accepts = if T::holds(DType::Bytes) {
            any
        } else {
            T::holds
        };
        Buffer {
            bytes,
            accepts,
            type_name: std::any::type_name::<T>(),
            desc: None,
            needed: 0,
        }
    }

    /// Returns the bytes of the elements after a run that succeeded or failed
    /// with [`Status::Capacity`], else 0.
    pub fn needed(&self) -> usize {
        self.needed
    }

    /// Returns the output's dtype. `None` unless [`needed`](Buffer::needed) has a
    /// meaning.
    pub fn dtype(&self) -> Option<DType> {
        self.desc.as_ref().map(|d| d.dtype)
    }

    /// Returns the order of the output's axes, as [`dtype`](Buffer::dtype) does.
    pub fn layout(&self) -> Option<Layout> {
        self.desc.as_ref().map(|d| d.layout)
    }

    /// Returns the size of each axis of the output, as [`dtype`](Buffer::dtype)
    /// does.
    pub fn shape(&self) -> Option<&[usize]> {
        self.desc.as_ref().map(|d| d.shape())
    }

    /// Returns the struct for the library.
    pub(crate) fn raw(&mut self, column: &Column) -> Result<sys::ip_tensor, Error> {
        self.desc = None;
        self.needed = 0;
        if !(self.accepts)(column.dtype) {
            return Err(Error::new(
                Status::Input,
                format!(
                    "infer_prep: output {:?}: {:?} into a slice of {}",
                    column.name, column.dtype, self.type_name
                ),
            ));
        }
        let mut t = sys::ip_tensor::new();
        t.capacity = self.bytes.len() as u64;
        t.data = crate::address_mut(self.bytes).cast();
        Ok(t)
    }

    /// Takes over the library's description.
    pub(crate) fn describe(&mut self, t: &sys::ip_tensor) -> Result<(), Error> {
        self.desc = Some(Desc::of(t)?);
        self.needed = t.bytes as usize;
        Ok(())
    }
}

impl fmt::Debug for Buffer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("capacity", &self.bytes.len())
            .field("needed", &self.needed)
            .field("dtype", &self.dtype())
            .field("shape", &self.shape())
            .finish_non_exhaustive()
    }
}
