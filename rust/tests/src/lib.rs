//! Helpers of the tests. The tests need a library: `INFER_PREP_LIB`, or feature
//! `static` and `INFER_PREP_DIR`.

use std::path::PathBuf;

/// Returns the path of a file below the repository's root.
pub fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(name)
}

/// Returns the content of a file below the repository's root.
pub fn read(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap_or_else(|e| panic!("{}: {}", name, e))
}

/// A photo of 420 x 310 pixels.
pub fn large() -> Vec<u8> {
    read("testdata/images/jpeg_large.jpg")
}

/// A gray image of a few pixels.
pub fn gray() -> Vec<u8> {
    read("testdata/images/jpeg_gray.jpg")
}

/// Checks that a call fails with a status and a message that has a text.
#[macro_export]
macro_rules! fails {
    ($status:ident, $text:expr, $call:expr) => {{
        let e = infer_prep::Error::from($call.map(|_| ()).expect_err($text));
        assert_eq!(e.status(), infer_prep::Status::$status, "{}", e);
        assert!(
            e.message().contains($text),
            "want {:?} in {:?}",
            $text,
            e.message()
        );
    }};
}
