use crate::DType;

mod sealed {
    pub trait Sealed {}
}

/// A type of Rust whose slices hold elements. All bit patterns of it are valid.
///
/// | type | dtypes |
/// |---|---|
/// | `u8` | U8, Bool, Bytes |
/// | `i8` | I8 |
/// | `u16` | U16, F16, BF16 (their bits) |
/// | `i16` | I16 |
/// | `i32` | I32 |
/// | `i64` | I64 |
/// | `f32` | F32 |
/// | `f64` | F64 |
///
/// Only these types implement it.
pub trait Element: sealed::Sealed + Copy + Send + Sync + 'static {
    /// Reports whether the type holds elements of a dtype.
    fn holds(dtype: DType) -> bool;
}

macro_rules! elements {
    ($($type:ty: $($dtype:ident)|+;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            fn holds(dtype: DType) -> bool {
                matches!(dtype, $(DType::$dtype)|+)
            }
        }
    )*};
}

elements! {
    u8: U8 | Bool | Bytes;
    i8: I8;
    u16: U16 | F16 | BF16;
    i16: I16;
    i32: I32;
    i64: I64;
    f32: F32;
    f64: F64;
}
