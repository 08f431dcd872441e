//! zune-jpeg and fast_image_resize on files of raw RGB bytes, for rust_.py:
//!
//!     decode FILE OUT              prints the width and the height
//!     resize FILTER W H NW NH IN OUT

use std::error::Error;

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["decode", file, out] => {
            let data = std::fs::read(file)?;
            let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
            let mut d = JpegDecoder::new_with_options(ZCursor::new(&data), options);
            let pixels = d.decode()?;
            let info = d.info().ok_or("no header")?;
            std::fs::write(out, pixels)?;
            println!("{} {}", info.width, info.height);
        }
        ["resize", filter, w, h, nw, nh, file, out] => {
            let alg = match *filter {
                "nearest" => ResizeAlg::Nearest,
                "box" => ResizeAlg::Convolution(FilterType::Box),
                "bilinear" => ResizeAlg::Convolution(FilterType::Bilinear),
                "hamming" => ResizeAlg::Convolution(FilterType::Hamming),
                "bicubic" => ResizeAlg::Convolution(FilterType::CatmullRom),
                "lanczos" => ResizeAlg::Convolution(FilterType::Lanczos3),
                "interpolation bilinear" => ResizeAlg::Interpolation(FilterType::Bilinear),
                _ => return Err(format!("no filter {filter}").into()),
            };
            let pixels = std::fs::read(file)?;
            let src = ImageRef::new(w.parse()?, h.parse()?, &pixels, PixelType::U8x3)?;
            let mut dst = Image::new(nw.parse()?, nh.parse()?, PixelType::U8x3);
            Resizer::new().resize(&src, &mut dst, &ResizeOptions::new().resize_alg(alg))?;
            std::fs::write(out, dst.buffer())?;
        }
        _ => return Err("want decode FILE OUT, or resize FILTER W H NW NH IN OUT".into()),
    }
    Ok(())
}
