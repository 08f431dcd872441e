//! An image before a model in candle: candle PHOTO prints the means of the
//! image's channels.

use candle_core::{Device, Tensor};
use infer_prep::{Graph, Input, Options};

/// A tiny model: a convolution of 16 x 16 pixels with a weight of 1/256 for its
/// own channel, and the mean over all places.
fn model(images: &Tensor) -> candle_core::Result<Tensor> {
    let weight = Tensor::eye(3, images.dtype(), images.device())?;
    let weight = (weight.reshape((3, 3, 1, 1))?.repeat((1, 1, 16, 16))? / 256.0)?;
    let places = images.conv2d(&weight, 0, 16, 1, 1)?;
    places.mean((2, 3))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let photo = std::env::args().nth(1).ok_or("usage: candle PHOTO")?;
    let graph = Graph::open_name("preset:imagenet", &Options::new())?;
    let file = std::fs::read(photo)?;
    let outputs = graph.run(&[Input::encoded(&file)])?;
    // A batch of two images, each by the graph's rule.
    let batch = graph.collate(&[&outputs, &outputs])?;
    let images = batch.get(0)?;
    let tensor = Tensor::from_slice(images.as_slice::<f32>()?, images.shape(), &Device::Cpu)?;
    for means in model(&tensor)?.to_vec2::<f32>()? {
        println!("{:.4} {:.4} {:.4}", means[0], means[1], means[2]);
    }
    Ok(())
}
