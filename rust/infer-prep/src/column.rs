use crate::error::{Error, Status};
use infer_prep_sys as sys;

/// Declares an enum of the library's numbers.
macro_rules! numbers {
    ($(#[$doc:meta])* $name:ident, $what:literal { $($(#[$vdoc:meta])* $variant:ident = $number:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$vdoc])* $variant,)*
        }

        impl $name {
            /// Returns the variant of a number of the library.
            pub(crate) fn of(number: i32) -> Result<$name, Error> {
                match number {
                    $(sys::$number => Ok($name::$variant),)*
                    _ => Err(Error::new(
                        Status::Unsupported,
                        format!(concat!("infer_prep: the library's ", $what, " {} is of a later version than this crate"), number),
                    )),
                }
            }

            #[allow(dead_code)] // of Batch, which is never an argument
            pub(crate) fn number(self) -> i32 {
                match self {
                    $($name::$variant => sys::$number,)*
                }
            }
        }
    };
}

numbers! {
    /// The type of a tensor's elements.
    DType, "dtype" {
        /// 8 bits without sign.
        U8 = IP_UINT8,
        /// 8 bits.
        I8 = IP_INT8,
        /// 16 bits without sign.
        U16 = IP_UINT16,
        /// 16 bits.
        I16 = IP_INT16,
        /// 32 bits.
        I32 = IP_INT32,
        /// 64 bits.
        I64 = IP_INT64,
        /// IEEE 754 binary16.
        F16 = IP_FLOAT16,
        /// The upper half of an [`F32`](DType::F32).
        BF16 = IP_BFLOAT16,
        /// IEEE 754 binary32.
        F32 = IP_FLOAT32,
        /// IEEE 754 binary64.
        F64 = IP_FLOAT64,
        /// One byte, 0 or 1.
        Bool = IP_BOOL,
        /// A byte string of any length, such as an encoded image.
        Bytes = IP_BYTES,
    }
}

numbers! {
    /// The order of an image's axes.
    Layout, "layout" {
        /// Not an image.
        None = IP_NO_LAYOUT,
        /// Height, width, channels.
        Hwc = IP_HWC,
        /// Channels, height, width.
        Chw = IP_CHW,
    }
}

numbers! {
    /// The way in which the tensors of several images become a batch.
    Batch, "batch rule" {
        /// A new first axis; all tensors have one shape.
        Stack = IP_STACK,
        /// Every axis is padded at its end to the largest, then as
        /// [`Stack`](Batch::Stack).
        Pad = IP_PAD,
        /// Joined along the first axis.
        Concat = IP_CONCAT,
        /// Batches of one image only.
        Single = IP_SINGLE,
    }
}

/// A column of a graph: an input or an output.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Column {
    /// The name, unique among the graph's inputs or outputs.
    pub name: String,
    /// The type of the elements.
    pub dtype: DType,
    /// The order of the axes.
    pub layout: Layout,
    /// The size of each axis, `None` if it depends on the image.
    pub shape: Vec<Option<usize>>,
    /// The bytes of the elements, `None` if they depend on the image.
    pub bytes: Option<usize>,
    /// The rule that makes a batch of several images.
    pub batch: Batch,
    /// The value that [`Batch::Pad`] pads with.
    pub fill: f64,
    /// Whether it is a side output, such as the scale of a letterbox, and not an
    /// input of the model.
    pub side: bool,
}

impl Column {
    pub(crate) fn of(c: &sys::ip_column) -> Result<Column, Error> {
        Ok(Column {
            name: crate::array_text(&c.name),
            dtype: DType::of(c.dtype)?,
            layout: Layout::of(c.layout)?,
            shape: axes(&c.shape, c.rank)?.iter().map(|&n| known(n)).collect(),
            bytes: known(c.bytes),
            batch: Batch::of(c.batch)?,
            fill: c.fill,
            side: c.side != 0,
        })
    }
}

/// Returns the sizes of the axes that a shape has.
pub(crate) fn axes(shape: &[i64; sys::IP_MAX_RANK], rank: i32) -> Result<&[i64], Error> {
    usize::try_from(rank)
        .ok()
        .and_then(|rank| shape.get(..rank))
        .ok_or_else(|| {
            Error::new(
                Status::Internal,
                format!("infer_prep: the library returned rank {}", rank),
            )
        })
}

/// Returns a size, `None` for `IP_UNKNOWN`.
fn known(n: i64) -> Option<usize> {
    usize::try_from(n).ok()
}
