use crate::{address, DType, Element, Error, Layout, Status};
use infer_prep_sys as sys;
use std::fmt;
use std::marker::PhantomData;

/// An input of a run. It borrows the memory that the run reads.
///
/// A graph that takes an encoded image also takes pixels: u8 in
/// [`Layout::Hwc`] or [`Layout::Chw`] with 1 (gray), 2 (gray, alpha), 3 (RGB) or
/// 4 (RGBA) channels. It treats them as it treats a file of them. Other inputs
/// must be as [`Graph::inputs`](crate::Graph::inputs) says.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Input<'a> {
    raw: sys::ip_input,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: an Input is a shared borrow of plain memory, as a slice is.
unsafe impl Send for Input<'_> {}
// SAFETY: as above.
unsafe impl Sync for Input<'_> {}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input")
            .field("dtype", &self.raw.dtype)
            .field("layout", &self.raw.layout)
            .field("shape", &&self.raw.shape[..self.raw.rank as usize])
            .finish_non_exhaustive()
    }
}

/// Memory for the address of no elements: not NULL, which the library refuses.
static NOTHING: u64 = 0;

fn wrong<T>(message: String) -> Result<T, Error> {
    Err(Error::new(
        Status::Input,
        format!("infer_prep: input: {}", message),
    ))
}

impl<'a> Input<'a> {
    /// Returns the input of an encoded image, or of another byte string.
    pub fn encoded(image: &'a [u8]) -> Input<'a> {
        let mut raw = sys::ip_input::new();
        raw.dtype = sys::IP_BYTES;
        raw.bytes = image.len() as u64;
        raw.data = address(image).cast();
        Input {
            raw,
            memory: PhantomData,
        }
    }

    /// Returns the input of a frame that a [`Video`](crate::Video) does not
    /// choose. A run that reads it fails with [`Status::Input`].
    pub fn unread() -> Input<'a> {
        Input {
            raw: sys::ip_input::new(),
            memory: PhantomData,
        }
    }

    /// Returns the input of dense pixels.
    ///
    /// # Errors
    ///
    /// [`Status::Input`] if the layout is [`Layout::None`] or `data` does not
    /// have exactly height x width x channels bytes.
    pub fn pixels(
        data: &'a [u8],
        layout: Layout,
        height: usize,
        width: usize,
        channels: usize,
    ) -> Result<Input<'a>, Error> {
        Input::tensor(
            DType::U8,
            layout,
            &shape(layout, height, width, channels)?,
            data,
        )
    }

    /// Returns the input of pixels with strides.
    ///
    /// `data[first]` is the sample of index 0 on every axis. `strides` are the
    /// distances in bytes between rows, between the pixels of a row, and between
    /// the channels of a pixel, whatever the layout. They may be negative: pixels
    /// stored bottom up have a negative distance of rows. `layout` tells how the
    /// graph sees the axes.
    ///
    /// # Errors
    ///
    /// [`Status::Input`] if the layout is [`Layout::None`], a sample lies outside
    /// of `data`, or all strides are 0 and there are several samples.
    pub fn pixels_with_strides(
        data: &'a [u8],
        first: usize,
        layout: Layout,
        (height, width, channels): (usize, usize, usize),
        (row, pixel, channel): (isize, isize, isize),
    ) -> Result<Input<'a>, Error> {
        let shape = shape(layout, height, width, channels)?;
        let strides = if layout == Layout::Chw {
            [channel, row, pixel]
        } else {
            [row, pixel, channel]
        };
        let (mut low, mut high) = (0i128, 0i128);
        for (&n, &stride) in shape.iter().zip(&strides) {
            if n == 0 {
                return wrong(format!(
                    "pixels: shape {:?}: want sizes of 1 or more",
                    shape
                ));
            }
            // At most 2^127: both factors have less than 64 bits.
            let far = (n as i128 - 1) * stride as i128;
            low = low.saturating_add(far.min(0));
            high = high.saturating_add(far.max(0));
        }
        let first_ = first as i128;
        if first_.saturating_add(low) < 0 || first_.saturating_add(high) >= data.len() as i128 {
            return wrong(format!(
                "pixels: shape {:?}, strides {:?} from byte {} lead outside of {} bytes",
                shape,
                strides,
                first,
                data.len()
            ));
        }
        // The library takes strides of 0 for dense pixels.
        if strides == [0; 3] && shape != [1; 3] {
            return wrong(format!(
                "pixels: strides {:?} of shape {:?}: want one that is not 0",
                strides, shape
            ));
        }
        let mut raw = sys::ip_input::new();
        raw.dtype = sys::IP_UINT8;
        raw.layout = layout.number();
        raw.rank = 3;
        for i in 0..3 {
            raw.shape[i] = shape[i] as i64;
            raw.strides[i] = strides[i] as i64;
        }
        // 0 switches the library's check off, which refuses memory before the
        // first sample.
        raw.bytes = if low < 0 {
            0
        } else {
            (data.len() - first) as u64
        };
        raw.data = data[first..].as_ptr().cast();
        Ok(Input {
            raw,
            memory: PhantomData,
        })
    }

    /// Returns the input of a dense tensor in row-major order.
    ///
    /// # Errors
    ///
    /// [`Status::Input`] if `T` does not hold elements of the dtype, the dtype is
    /// [`DType::Bytes`], the shape has more than 8 axes, or the shape's product
    /// is not the length of `data`.
    pub fn tensor<T: Element>(
        dtype: DType,
        layout: Layout,
        shape: &[usize],
        data: &'a [T],
    ) -> Result<Input<'a>, Error> {
        if dtype == DType::Bytes || !T::holds(dtype) {
            return wrong(format!(
                "a slice of {} as {:?}",
                std::any::type_name::<T>(),
                dtype
            ));
        }
        if shape.len() > sys::IP_MAX_RANK {
            return wrong(format!(
                "shape {:?}: want at most {} axes",
                shape,
                sys::IP_MAX_RANK
            ));
        }
        let elements = shape
            .iter()
            .try_fold(1usize, |n, &size| n.checked_mul(size));
        if elements != Some(data.len()) {
            return wrong(format!(
                "{} elements, shape {:?} has others",
                data.len(),
                shape
            ));
        }
        let mut raw = sys::ip_input::new();
        raw.dtype = dtype.number();
        raw.layout = layout.number();
        raw.rank = shape.len() as i32;
        for (to, &size) in raw.shape.iter_mut().zip(shape) {
            *to = size as i64;
        }
        raw.bytes = std::mem::size_of_val(data) as u64;
        raw.data = if data.is_empty() {
            (&NOTHING as *const u64).cast()
        } else {
            data.as_ptr().cast()
        };
        Ok(Input {
            raw,
            memory: PhantomData,
        })
    }
}

/// Returns the shape of an image.
fn shape(
    layout: Layout,
    height: usize,
    width: usize,
    channels: usize,
) -> Result<[usize; 3], Error> {
    match layout {
        Layout::Hwc => Ok([height, width, channels]),
        Layout::Chw => Ok([channels, height, width]),
        Layout::None => wrong("pixels: layout None: want Hwc or Chw".into()),
    }
}

/// Returns the address of inputs for the library.
pub(crate) fn raw(inputs: &[Input<'_>]) -> *const sys::ip_input {
    address(inputs).cast() // Input is transparent
}
