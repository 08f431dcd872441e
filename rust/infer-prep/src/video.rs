use crate::error::check;
use crate::input::raw;
use crate::{address, address_mut, c_text, count, Error, Input, Options, Outputs, Status};
use infer_prep_sys as sys;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// A video of frames. It borrows them.
///
/// A frame is an encoded image or pixels, as an input of a graph that takes an
/// encoded image. The frames that a run reads have one size; the others may be
/// [`Input::unread`].
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Clip<'a> {
    raw: sys::ip_clip,
    frames: PhantomData<&'a [Input<'a>]>,
}

// SAFETY: a Clip is a shared borrow of inputs, which are Sync.
unsafe impl Send for Clip<'_> {}
// SAFETY: as above.
unsafe impl Sync for Clip<'_> {}

impl<'a> Clip<'a> {
    /// Returns a video of frames, 1 to 1,048,576, of unknown rate and duration.
    pub fn new(frames: &'a [Input<'a>]) -> Clip<'a> {
        let mut raw_ = sys::ip_clip::new();
        raw_.count = frames.len() as i64;
        raw_.frames = raw(frames);
        Clip {
            raw: raw_,
            frames: PhantomData,
        }
    }

    /// Returns a video of a number of frames, for [`Video::sample`] only.
    pub fn of_length(frames: usize) -> Clip<'a> {
        let mut raw = sys::ip_clip::new();
        raw.count = i64::try_from(frames).unwrap_or(i64::MAX);
        Clip {
            raw,
            frames: PhantomData,
        }
    }

    /// Sets the frames a second. 0 is unknown.
    pub fn fps(mut self, fps: f64) -> Clip<'a> {
        self.raw.fps = fps;
        self
    }

    /// Sets the duration in seconds. 0 is unknown.
    pub fn duration(mut self, seconds: f64) -> Clip<'a> {
        self.raw.duration = seconds;
        self
    }
}

/// A Hugging Face video processor (transformers 5.23.0). Several threads may use
/// it at once.
pub struct Video {
    api: &'static sys::Api,
    handle: NonNull<sys::ip_video>,
}

// SAFETY: any thread may call the library's functions with any handle, several
// at once with one video processor.
unsafe impl Send for Video {}
// SAFETY: as above.
unsafe impl Sync for Video {}

impl Video {
    /// Opens the content of a `video_preprocessor_config.json`. Of the options
    /// [`Options::max_bytes`] limits, separately, the memory of one frame and the
    /// values of all frames of a video. Those for graphs must have their defaults.
    ///
    /// # Errors
    ///
    /// [`Status::Graph`], [`Status::Unsupported`], [`Status::Param`],
    /// [`Status::Input`] and [`Status::Library`].
    pub fn open(file: &[u8], options: &Options) -> Result<Video, Error> {
        let api = sys::api()?;
        Video::opened(api, options, |options, video, e| {
            // SAFETY: the pointers are valid for the call, and an empty file's is
            // NULL.
            unsafe { (api.ip_video_open)(address(file).cast(), file.len(), options, video, e) }
        })
    }

    /// Opens a file, or a model's folder, in which it chooses the file as
    /// `AutoVideoProcessor` does.
    ///
    /// # Errors
    ///
    /// Those of [`Video::open`], and [`Status::Io`].
    pub fn open_name(name: &str, options: &Options) -> Result<Video, Error> {
        let api = sys::api()?;
        let name = c_text("video: name", name)?;
        Video::opened(api, options, |options, video, e| {
            // SAFETY: the pointers are valid for the call.
            unsafe { (api.ip_video_open_name)(name.as_ptr(), options, video, e) }
        })
    }

    fn opened(
        api: &'static sys::Api,
        options: &Options,
        open: impl FnOnce(
            *const sys::ip_options,
            *mut *mut sys::ip_video,
            *mut sys::ip_error,
        ) -> sys::ip_status,
    ) -> Result<Video, Error> {
        let mut handle = ptr::null_mut();
        options.with(|options| check(|e| open(options, &mut handle, e)))?;
        match NonNull::new(handle) {
            Some(handle) => Ok(Video { api, handle }),
            None => Err(Error::new(
                Status::Internal,
                "infer_prep: video: the library returned none",
            )),
        }
    }

    /// Returns the numbers of the frames that a run reads of a video, in their
    /// order. Numbers may occur more than once. It reads no frame.
    ///
    /// # Errors
    ///
    /// [`Status::Input`], also for a video that the reference refuses, and if it
    /// needs the rate or the duration, which the message names.
    pub fn sample(&self, clip: &Clip<'_>) -> Result<Vec<usize>, Error> {
        let mut n = 0;
        let mut numbers: Vec<i64> = Vec::new();
        let mut call = |numbers: &mut Vec<i64>| {
            // SAFETY: the handle is open; numbers has room for its length.
            let done = check(|e| unsafe {
                (self.api.ip_video_sample)(
                    self.handle.as_ptr(),
                    &clip.raw,
                    address_mut(numbers),
                    numbers.len() as u64,
                    &mut n,
                    e,
                )
            });
            (done, n)
        };
        match call(&mut numbers) {
            (Err(e), needed) if e.status() == Status::Capacity => {
                numbers.resize(needed as usize, 0);
                call(&mut numbers).0?;
            }
            (done, _) => done?,
        }
        Ok(numbers.iter().map(|&k| k as usize).collect())
    }

    /// Runs the processor on the videos of a call and returns the batch of its
    /// outputs, with the names and axes of the reference's `return_tensors`.
    ///
    /// # Errors
    ///
    /// Those of [`Video::sample`], and for images [`Status::Format`],
    /// [`Status::Unsupported`] and [`Status::Limit`].
    pub fn run(&self, clips: &[Clip<'_>]) -> Result<Outputs, Error> {
        let n = count("clips", clips.len())?;
        let mut handle = ptr::null_mut();
        // SAFETY: the handle is open; clips has n structs, whose frames are borrowed
        // for the call. Clip is transparent.
        check(|e| unsafe {
            (self.api.ip_video_run)(
                self.handle.as_ptr(),
                address(clips).cast(),
                n,
                &mut handle,
                e,
            )
        })?;
        Outputs::of(self.api, handle, None)
    }
}

impl Drop for Video {
    fn drop(&mut self) {
        // SAFETY: the handle is open and nobody else has it. Results stay valid.
        // In a fork the call does nothing but return IP_FORKED.
        unsafe { (self.api.ip_video_free)(self.handle.as_ptr()) };
    }
}

impl fmt::Debug for Video {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Video").finish_non_exhaustive()
    }
}
