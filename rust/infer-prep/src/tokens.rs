use crate::error::check;
use crate::options::{pointer, pointers, texts};
use crate::{address, address_mut, c_text, count, Error, Status};
use infer_prep_sys as sys;
use std::fmt;
use std::ptr::{self, NonNull};

/// The content of the files of a Hugging Face processor. One that the model
/// lacks is `None`.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenFiles<'a> {
    /// `processor_config.json`.
    pub processor: Option<&'a str>,
    /// `preprocessor_config.json`.
    pub preprocessor: Option<&'a str>,
    /// `tokenizer_config.json`.
    pub tokenizer: Option<&'a str>,
    /// Keyword arguments of the call as a JSON object, such as
    /// `{"do_pan_and_scan": true}`.
    pub call: Option<&'a str>,
    /// Tokens by their attribute, such as `("image_token", "<image>")`.
    pub tokens: &'a [(&'a str, &'a str)],
}

/// The tokens of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageTokens {
    /// The number that `_get_num_multimodal_tokens` returns; `None` if it fails.
    pub tokens: Option<u64>,
    /// The number of the same tokens in the text; `None` if it has no meaning.
    pub text_tokens: Option<u64>,
    /// The text that replaces the image's placeholder in the prompt.
    pub text: String,
}

/// The tokens that a Hugging Face processor (transformers 5.23.0) puts in place
/// of images. Several threads may use it at once.
pub struct Tokens {
    api: &'static sys::Api,
    handle: NonNull<sys::ip_tokens>,
}

// SAFETY: any thread may call the library's functions with any handle, several
// at once with the same tokens.
unsafe impl Send for Tokens {}
// SAFETY: as above.
unsafe impl Sync for Tokens {}

impl Tokens {
    /// Reads the files of a model's folder.
    ///
    /// # Errors
    ///
    /// [`Status::Io`], [`Status::Graph`], [`Status::Unsupported`] (the class),
    /// [`Status::Param`] and [`Status::Library`].
    pub fn open(folder: &str) -> Result<Tokens, Error> {
        let api = sys::api()?;
        let folder = c_text("tokens: folder", folder)?;
        let mut handle = ptr::null_mut();
        // SAFETY: the pointers are valid for the call.
        check(|e| unsafe { (api.ip_tokens_open)(folder.as_ptr(), &mut handle, e) })?;
        Tokens::of(api, handle)
    }

    /// Takes the content of the files in place of a folder.
    ///
    /// # Errors
    ///
    /// Those of [`Tokens::open`].
    pub fn open_files(files: &TokenFiles<'_>) -> Result<Tokens, Error> {
        let api = sys::api()?;
        let optional = |s: Option<&str>| s.map(|s| c_text("tokens: file", s)).transpose();
        let processor = optional(files.processor)?;
        let preprocessor = optional(files.preprocessor)?;
        let tokenizer = optional(files.tokenizer)?;
        let call = optional(files.call)?;
        let pairs = texts(
            "tokens: token",
            files.tokens.iter().flat_map(|t| [t.0, t.1]),
        )?;
        let tokens = pointers(&pairs);
        let mut raw = sys::ip_token_files::new();
        raw.processor = pointer(&processor);
        raw.preprocessor = pointer(&preprocessor);
        raw.tokenizer = pointer(&tokenizer);
        raw.call = pointer(&call);
        raw.pairs = count("tokens", files.tokens.len())?;
        raw.tokens = address(&tokens);
        let mut handle = ptr::null_mut();
        // SAFETY: the pointers are valid for the call.
        check(|e| unsafe { (api.ip_tokens_open_files)(&raw, &mut handle, e) })?;
        Tokens::of(api, handle)
    }

    fn of(api: &'static sys::Api, handle: *mut sys::ip_tokens) -> Result<Tokens, Error> {
        match NonNull::new(handle) {
            Some(handle) => Ok(Tokens { api, handle }),
            None => Err(Error::new(
                Status::Internal,
                "infer_prep: tokens: the library returned none",
            )),
        }
    }

    /// Computes the tokens of the images of one prompt, at most 256, by height
    /// and width of each as decoded.
    ///
    /// # Errors
    ///
    /// [`Status::Input`], also for an image that the reference refuses.
    pub fn images(&self, sizes: &[(usize, usize)]) -> Result<Vec<ImageTokens>, Error> {
        let n = count("images", sizes.len())?;
        // One that does not fit is too large in any case.
        let sides: Vec<i64> = sizes
            .iter()
            .flat_map(|s| [s.0, s.1])
            .map(|n| i64::try_from(n).unwrap_or(i64::MAX))
            .collect();
        let mut images = vec![sys::ip_image_tokens::new(); sizes.len()];
        let mut bytes = 0;
        let mut call = |text: &mut Vec<u8>| {
            // SAFETY: the handle is open; sides has 2 x n numbers, images n
            // structs and text its length of bytes.
            check(|e| unsafe {
                (self.api.ip_tokens_images)(
                    self.handle.as_ptr(),
                    address(&sides),
                    n,
                    address_mut(&mut images),
                    address_mut(text).cast(),
                    text.len() as u64,
                    &mut bytes,
                    e,
                )
            })
            .map(|()| bytes)
        };
        let mut text = Vec::new();
        let needed = call(&mut text)?;
        text.resize(needed as usize, 0);
        if needed > 0 {
            call(&mut text)?;
        }
        images.iter().map(|i| image(i, &text)).collect()
    }
}

fn image(i: &sys::ip_image_tokens, text: &[u8]) -> Result<ImageTokens, Error> {
    let part = (i.text_at as usize)
        .checked_add(i.text_bytes as usize)
        .and_then(|end| text.get(i.text_at as usize..end))
        .and_then(|part| std::str::from_utf8(part).ok())
        .ok_or_else(|| {
            Error::new(
                Status::Internal,
                "infer_prep: tokens: the library's text does not fit",
            )
        })?;
    Ok(ImageTokens {
        tokens: u64::try_from(i.tokens).ok(),
        text_tokens: u64::try_from(i.text_tokens).ok(),
        text: part.into(),
    })
}

impl Drop for Tokens {
    fn drop(&mut self) {
        // SAFETY: the handle is open and nobody else has it. In a fork the call
        // does nothing but return IP_FORKED.
        unsafe { (self.api.ip_tokens_free)(self.handle.as_ptr()) };
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}
