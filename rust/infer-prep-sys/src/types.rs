//! The constants and structs of the header, in its order.

use std::ffi::c_void;
use std::mem::size_of;
use std::os::raw::c_char;

/// The API version that these bindings are for.
pub const IP_API_VERSION: u32 = 1;
/// The largest number of axes of a tensor.
pub const IP_MAX_RANK: usize = 8;
/// A size that depends on the image.
pub const IP_UNKNOWN: i64 = -1;

/// The kind of an error, `IP_OK` or another.
pub type ip_status = i32;

macro_rules! constants {
    ($type:ty: $($(#[$doc:meta])* $name:ident = $value:literal;)*) => {
        $($(#[$doc])* pub const $name: $type = $value;)*
    };
}

constants! { ip_status:
    /// No error.
    IP_OK = 0;
    /// A bug in the library.
    IP_INTERNAL = 1;
    /// The data breaks its format's rules, or is of no known format.
    IP_FORMAT = 2;
    /// Valid, but this build does not read it or the graph refuses it.
    IP_UNSUPPORTED = 3;
    /// More pixels, bytes or scans than the limits allow.
    IP_LIMIT = 4;
    /// An invalid graph or configuration.
    IP_GRAPH = 5;
    /// An op that this build does not have.
    IP_UNKNOWN_OP = 6;
    /// An invalid parameter or option; a key that is missing or unknown.
    IP_PARAM = 7;
    /// An argument or an input that does not fit.
    IP_INPUT = 8;
    /// The caller's memory is too small; the bytes needed are set.
    IP_CAPACITY = 9;
    /// The process is a fork of the one that loaded the library.
    IP_FORKED = 10;
    /// NULL, a closed handle, or none of this kind.
    IP_HANDLE = 11;
    /// A file or folder that is missing or unreadable.
    IP_IO = 12;
}

constants! { i32:
    /// An element of 8 bits without sign.
    IP_UINT8 = 1;
    /// An element of 8 bits.
    IP_INT8 = 2;
    /// An element of 16 bits without sign.
    IP_UINT16 = 3;
    /// An element of 16 bits.
    IP_INT16 = 4;
    /// An element of 32 bits.
    IP_INT32 = 5;
    /// An element of 64 bits.
    IP_INT64 = 6;
    /// IEEE 754 binary16.
    IP_FLOAT16 = 7;
    /// The upper half of a binary32.
    IP_BFLOAT16 = 8;
    /// IEEE 754 binary32.
    IP_FLOAT32 = 9;
    /// IEEE 754 binary64.
    IP_FLOAT64 = 10;
    /// One byte, 0 or 1.
    IP_BOOL = 11;
    /// A byte string of any length, such as an encoded image.
    IP_BYTES = 12;

    /// Not an image.
    IP_NO_LAYOUT = 0;
    /// Height, width, channels.
    IP_HWC = 1;
    /// Channels, height, width.
    IP_CHW = 2;

    /// The list of a graph's inputs.
    IP_INPUTS = 0;
    /// The list of a graph's outputs: the model's inputs, then side outputs.
    IP_OUTPUTS = 1;

    /// A new first axis; all tensors have one shape.
    IP_STACK = 0;
    /// Every axis is padded at its end to the largest, then as `IP_STACK`.
    IP_PAD = 1;
    /// Joined along the first axis.
    IP_CONCAT = 2;
    /// Batches of one image only.
    IP_SINGLE = 3;
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        #[repr(C)]
        pub struct $name {
            _opaque: [u8; 0],
            // Neither Send, Sync nor Unpin: users decide that.
            _marker: std::marker::PhantomData<(*mut u8, std::marker::PhantomPinned)>,
        })*
    };
}

handles! {
    /// An open graph. Its pointers are numbers: never read through them.
    ip_graph;
    /// The outputs of a run. Its pointers are numbers: never read through them.
    ip_result;
    /// Open tokens. Its pointers are numbers: never read through them.
    ip_tokens;
    /// An open video processor. Its pointers are numbers: never read through
    /// them.
    ip_video;
}

macro_rules! structs {
    ($($(#[$doc:meta])* struct $name:ident { $($(#[$mdoc:meta])* $member:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            pub struct $name {
                /// The size of the struct in bytes. The caller sets it.
                pub struct_size: u32,
                $($(#[$mdoc])* pub $member: $type,)*
            }

            impl $name {
                /// Returns a struct with its size set and all other members 0.
                pub const fn new() -> Self {
                    Self { struct_size: size_of::<Self>() as u32, $($member: <$type as Zero>::ZERO,)* }
                }
            }

            impl Default for $name {
                fn default() -> Self {
                    Self::new()
                }
            }
        )*
    };
}

/// The value of a member of 0 or NULL.
trait Zero {
    const ZERO: Self;
}

macro_rules! zero {
    ($($type:ty = $value:expr;)*) => {
        $(impl Zero for $type { const ZERO: Self = $value; })*
    };
}

zero! {
    i32 = 0;
    i64 = 0;
    u64 = 0;
    f64 = 0.0;
    *mut c_void = std::ptr::null_mut();
}

impl<T> Zero for *const T {
    const ZERO: Self = std::ptr::null();
}

impl<const N: usize> Zero for [i64; N] {
    const ZERO: Self = [0; N];
}

impl<const N: usize> Zero for [c_char; N] {
    const ZERO: Self = [0; N];
}

structs! {
    /// An error.
    struct ip_error {
        /// Of the last call that was given the object.
        status: ip_status,
        /// Ends with 0; empty after `IP_OK`; a cut one ends with `...`.
        message: [c_char; 1016],
    }

    /// How to open a graph. A member of 0 or NULL has its default. The caller
    /// sets all members.
    struct ip_options {
        /// Runs at once, further ones wait; default: the processors.
        jobs: i32,
        /// Width x height of an image as stored; default 100,000,000; -1 no limit.
        max_pixels: i64,
        /// Memory of a run, and estimated of all runs; default 1 GiB; -1 no limit.
        max_bytes: i64,
        /// Scans of a progressive JPEG; default 500; -1 no limit.
        max_scans: i32,
        /// The number of `ignored_keys`.
        ignored: i32,
        /// `graph`, `bundle`, `preset` or an importer's name; default: by the content.
        format: *const c_char,
        /// One of the importer's backends, such as `pil`.
        backend: *const c_char,
        /// One of the importer's ways of reading image files, such as `torchcodec`.
        decoder: *const c_char,
        /// Keys of the file to ignore although the importer does not know them.
        ignored_keys: *const *const c_char,
    }

    /// A column of a graph.
    struct ip_column {
        /// The type of the elements, `IP_UINT8` or another.
        dtype: i32,
        /// The order of the axes, `IP_NO_LAYOUT` or another.
        layout: i32,
        /// The number of axes.
        rank: i32,
        /// Of the first rank axes; `IP_UNKNOWN` if it depends on the image.
        shape: [i64; IP_MAX_RANK],
        /// Of the elements; `IP_UNKNOWN` if a size is or the dtype is `IP_BYTES`.
        bytes: i64,
        /// The value that `IP_PAD` pads with.
        fill: f64,
        /// `IP_STACK` or another.
        batch: i32,
        /// 1 for a side output, else 0.
        side: i32,
        /// At most 64 bytes, then 0.
        name: [c_char; 72],
    }

    /// An input of a run. The caller sets all members. The library reads it
    /// during the call only.
    struct ip_input {
        /// The type of the elements; `IP_BYTES` for an encoded image.
        dtype: i32,
        /// The order of the axes.
        layout: i32,
        /// The number of axes.
        rank: i32,
        /// Of the first rank axes.
        shape: [i64; IP_MAX_RANK],
        /// Bytes from an element to the next of an axis; all 0: dense.
        strides: [i64; IP_MAX_RANK],
        /// `IP_BYTES`: the length; others: readable bytes from data on, 0: not checked.
        bytes: u64,
        /// The first element, of index 0 on every axis.
        data: *const c_void,
    }

    /// An output of a run.
    struct ip_tensor {
        /// The type of the elements.
        dtype: i32,
        /// The order of the axes.
        layout: i32,
        /// The number of axes.
        rank: i32,
        /// Of the first rank axes.
        shape: [i64; IP_MAX_RANK],
        /// Of the elements, which are dense, in row-major order, little-endian.
        bytes: u64,
        /// The bytes at data. The caller sets it for `ip_run_into` and `ip_run_batch`.
        capacity: u64,
        /// Set as `capacity`; `ip_result_tensor` sets it, to NULL without elements.
        data: *mut c_void,
    }

    /// The content of an image's header.
    struct ip_image_info {
        /// Bits of a sample, as stored.
        depth: i32,
        /// EXIF, 1 to 8.
        orientation: i32,
        /// 1 if the file has transparency.
        has_alpha: i32,
        /// In pixels, as stored.
        width: i64,
        /// In pixels, as stored.
        height: i64,
        /// Of an animation; 2 if there are more and the header has no count.
        frames: i64,
        /// Such as `jpeg`.
        format: [c_char; 16],
        /// Pillow's name of the kind of pixels, such as `RGB`.
        mode: [c_char; 16],
    }

    /// The files of a Hugging Face processor. The caller sets all members. A
    /// file that the model lacks is NULL.
    struct ip_token_files {
        /// The number of tokens.
        pairs: i32,
        /// `processor_config.json`.
        processor: *const c_char,
        /// `preprocessor_config.json`.
        preprocessor: *const c_char,
        /// `tokenizer_config.json`.
        tokenizer: *const c_char,
        /// Keyword arguments of the call as a JSON object.
        call: *const c_char,
        /// Attribute and string in turn; 2 x pairs texts.
        tokens: *const *const c_char,
    }

    /// The tokens of an image.
    struct ip_image_tokens {
        /// Without meaning.
        unused: i32,
        /// The reference's `_get_num_multimodal_tokens`; `IP_UNKNOWN` if it fails.
        tokens: i64,
        /// The number of the same tokens in the text.
        text_tokens: i64,
        /// The first byte of the text that replaces the image's placeholder.
        text_at: u64,
        /// The length of that text in bytes.
        text_bytes: u64,
    }

    /// The frames of a video. The caller sets all members.
    struct ip_clip {
        /// Without meaning.
        unused: i32,
        /// Frames of the video, 1 to 1,048,576.
        count: i64,
        /// Frames a second, 0 if unknown.
        fps: f64,
        /// In seconds, 0 if unknown.
        duration: f64,
        /// `count` inputs; that of a frame which is not chosen may be `ip_input::new()`.
        frames: *const ip_input,
    }
}

/// Runs image i of a batch. See [`ip_parallel`].
pub type ip_body = Option<unsafe extern "C" fn(context: *mut c_void, i: usize)>;

/// A host's parallel loop: it calls `body(context, i)` for every i from 0 to n-1
/// once, on any threads in any order, and returns when all calls have.
pub type ip_parallel =
    Option<unsafe extern "C" fn(host: *mut c_void, n: usize, body: ip_body, context: *mut c_void)>;
