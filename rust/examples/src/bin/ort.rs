//! An image before a model in ONNX Runtime: ort PHOTO prints the means of the
//! image's channels. `ORT_DYLIB_PATH` names the library of ONNX Runtime.

use infer_prep::{Buffer, Graph, Input, Options};
use ort::memory::Allocator;
use ort::session::Session;
use ort::value::Tensor;

/// Returns a tiny model: GlobalAveragePool of (1, 3, 224, 224).
fn model() -> Vec<u8> {
    /// A field of protobuf that has a length.
    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let mut b = vec![number << 3 | 2];
        assert!(content.len() < 1 << 14);
        if content.len() >= 1 << 7 {
            b.push(content.len() as u8 | 0x80);
            b.push((content.len() >> 7) as u8);
        } else {
            b.push(content.len() as u8);
        }
        b.extend(content);
        b
    }
    fn value(name: &str, dims: [u8; 4]) -> Vec<u8> {
        // TensorShapeProto: dim { dim_value }, small or of two bytes.
        let dim = |d: u8| field(1, &if d < 128 { vec![8, d] } else { vec![8, d, 1] });
        let shape: Vec<u8> = dims.iter().flat_map(|&d| dim(d)).collect();
        // TypeProto: tensor_type { elem_type FLOAT, shape }.
        let tensor = [vec![8, 1], field(2, &shape)].concat();
        [field(1, name.as_bytes()), field(2, &field(1, &tensor))].concat()
    }
    let node = [
        field(1, b"x"),
        field(2, b"y"),
        field(4, b"GlobalAveragePool"),
    ]
    .concat();
    let graph = [
        field(1, &node),
        field(2, b"means"),
        field(11, &value("x", [1, 3, 224, 224])),
        field(12, &value("y", [1, 3, 1, 1])),
    ];
    // ModelProto: ir_version 8, graph, opset_import { version 13 }.
    [vec![8, 8], field(7, &graph.concat()), field(8, &[16, 13])].concat()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let photo = std::env::args().nth(1).ok_or("usage: ort PHOTO")?;
    let graph = Graph::open_name("preset:imagenet", &Options::new())?;
    let environment = ort::init().build()?;
    let mut session = Session::builder(&environment)?.commit_from_memory(&model())?;
    // The graph writes to the memory of ONNX Runtime's tensor.
    let mut image = Tensor::<f32>::new(&Allocator::default(), [1usize, 3, 224, 224])?;
    let file = std::fs::read(photo)?;
    graph.run_into(
        &[Input::encoded(&file)],
        &mut [Buffer::new(image.extract_tensor_mut().1)],
    )?;
    let outputs = session.run(ort::inputs![image])?;
    let (_, means) = outputs[0].try_extract_tensor::<f32>()?;
    println!("{:.4} {:.4} {:.4}", means[0], means[1], means[2]);
    Ok(())
}
