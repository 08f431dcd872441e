//! zune-jpeg and fast_image_resize in the comparison of bench.py: arguments CASE
//! DIR, then the protocol of bench/README.md.

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::time::Instant;

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use sha2::{Digest, Sha256};
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A case computes the output of an image, which is valid until the next call.
trait Case {
    fn one(&mut self, i: usize) -> Result<&[u8]>;
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, case, dir, ..] = args.as_slice() else {
        return Err("want CASE DIR".into());
    };
    let mut names: Vec<PathBuf> = std::fs::read_dir(dir)?
        .map(|e| e.map(|e| e.path()))
        .collect::<std::io::Result<_>>()?;
    names.retain(|n| n.extension().is_some_and(|e| e == "jpg"));
    names.sort();
    let images: Vec<Vec<u8>> = names.iter().map(std::fs::read).collect::<std::io::Result<_>>()?;
    let n = images.len();
    let (mut run, version): (Box<dyn Case>, &str) = match case.as_str() {
        "decode" => (Box::new(Decode { images, out: Vec::new() }), "0.5.15"),
        "resize-bilinear" => (Box::new(Resize::new(&images, FilterType::Bilinear)?), "6.1.0"),
        "resize-bicubic" => (Box::new(Resize::new(&images, FilterType::CatmullRom)?), "6.1.0"),
        _ => return Err(format!("no case {case}").into()),
    };
    for i in 0..n {
        run.one(i)?;
    }
    println!("ready {version}");
    for line in std::io::stdin().lock().lines() {
        match line?.as_str() {
            "go" => {
                let (cpu, start) = (cpu_seconds(), Instant::now());
                for i in 0..n {
                    std::hint::black_box(run.one(i)?);
                }
                let wall = start.elapsed().as_secs_f64();
                println!("{n} {wall:.9} {:.9}", cpu_seconds() - cpu);
            }
            "check" => {
                let mut h = Sha256::new();
                for i in 0..n {
                    h.update(run.one(i)?);
                }
                println!("{:x}", h.finalize());
            }
            "quit" => {
                println!("{}", peak_rss()?);
                break;
            }
            other => return Err(format!("{other}: want go, check or quit").into()),
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn decode(image: &[u8], out: &mut Vec<u8>) -> Result<(usize, usize)> {
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut d = JpegDecoder::new_with_options(ZCursor::new(image), options);
    d.decode_headers()?;
    let size = d.output_buffer_size().ok_or("no size")?;
    out.resize(size, 0);
    d.decode_into(out)?;
    let info = d.info().ok_or("no header")?;
    Ok((info.width.into(), info.height.into()))
}

struct Decode {
    images: Vec<Vec<u8>>,
    out: Vec<u8>,
}

impl Case for Decode {
    fn one(&mut self, i: usize) -> Result<&[u8]> {
        decode(&self.images[i], &mut self.out)?;
        Ok(&self.out)
    }
}

struct Resize {
    decoded: Vec<(Vec<u8>, u32, u32)>,
    resizer: Resizer,
    options: ResizeOptions,
    out: Vec<u8>,
}

impl Resize {
    fn new(images: &[Vec<u8>], filter: FilterType) -> Result<Self> {
        let mut decoded = Vec::new();
        for image in images {
            let mut pixels = Vec::new();
            let (w, h) = decode(image, &mut pixels)?;
            decoded.push((pixels, w as u32, h as u32));
        }
        let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(filter));
        Ok(Self { decoded, resizer: Resizer::new(), options, out: Vec::new() })
    }
}

impl Case for Resize {
    fn one(&mut self, i: usize) -> Result<&[u8]> {
        let (pixels, w, h) = &self.decoded[i];
        let (w, h) = (*w, *h);
        // The short edge becomes 256, the other is truncated, as torchvision's Resize does.
        let (nw, nh) = if w <= h { (256, 256 * h / w) } else { (256 * w / h, 256) };
        self.out.resize((nw * nh * 3) as usize, 0);
        let src = ImageRef::new(w, h, pixels, PixelType::U8x3)?;
        let mut dst = Image::from_slice_u8(nw, nh, &mut self.out, PixelType::U8x3)?;
        self.resizer.resize(&src, &mut dst, &self.options)?;
        Ok(&self.out)
    }
}

/// Processor time of the process, user's and system's.
fn cpu_seconds() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: t is a valid timespec to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// The most memory that the process had, in bytes.
fn peak_rss() -> Result<u64> {
    for line in std::fs::read_to_string("/proc/self/status")?.lines() {
        if let Some(rest) = line.strip_prefix("VmHWM:") {
            return Ok(rest.trim().trim_end_matches(" kB").trim().parse::<u64>()? << 10);
        }
    }
    Err("/proc/self/status has no VmHWM".into())
}
