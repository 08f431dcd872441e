use crate::error::check;
use crate::{address, array_text, Error};
use infer_prep_sys as sys;

/// The content of an image's header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageInfo {
    /// The format, such as `jpeg`.
    pub format: String,
    /// Pillow's name of the kind of pixels, such as `RGB`, `L` or `P`.
    pub mode: String,
    /// The width in pixels, as stored.
    pub width: u64,
    /// The height in pixels, as stored.
    pub height: u64,
    /// The bits of a sample, as stored.
    pub depth: u32,
    /// The EXIF orientation, 1 to 8.
    pub orientation: u32,
    /// Whether the file has transparency.
    pub has_alpha: bool,
    /// The frames of an animation; 2 if there are more and the header has no
    /// count.
    pub frames: u64,
}

/// Reads the header of an encoded image. It has no limits.
///
/// # Errors
///
/// [`Status::Format`](crate::Status::Format),
/// [`Status::Unsupported`](crate::Status::Unsupported) and
/// [`Status::Library`](crate::Status::Library).
pub fn probe(image: &[u8]) -> Result<ImageInfo, Error> {
    let api = sys::api()?;
    let mut info = sys::ip_image_info::new();
    // SAFETY: the pointers are valid for the call; that of an empty image is
    // NULL.
    check(|e| unsafe { (api.ip_probe)(address(image).cast(), image.len(), &mut info, e) })?;
    Ok(ImageInfo {
        format: array_text(&info.format),
        mode: array_text(&info.mode),
        width: info.width.max(0) as u64,
        height: info.height.max(0) as u64,
        depth: info.depth.max(0) as u32,
        orientation: info.orientation.max(0) as u32,
        has_alpha: info.has_alpha != 0,
        frames: info.frames.max(0) as u64,
    })
}
