//! Both programs print the means of the channels, which the test computes, too.

use infer_prep::{Graph, Input, Options};
use std::process::Command;

const PHOTO: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/images/jpeg_large.jpg"
);

fn want() -> String {
    let graph = Graph::open_name("preset:imagenet", &Options::new()).unwrap();
    let file = std::fs::read(PHOTO).unwrap();
    let outputs = graph.run(&[Input::encoded(&file)]).unwrap();
    let x = outputs.get(0).unwrap();
    let means: Vec<String> = x
        .as_slice::<f32>()
        .unwrap()
        .chunks(224 * 224)
        .map(|c| c.iter().map(|&v| f64::from(v)).sum::<f64>() / c.len() as f64)
        .map(|mean| format!("{:.4}", mean))
        .collect();
    means.join(" ") + "\n"
}

fn run(program: &str) -> String {
    let out = Command::new(program).arg(PHOTO).output().unwrap();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn candle() {
    assert_eq!(run(env!("CARGO_BIN_EXE_candle")), want().repeat(2));
}

#[test]
fn ort() {
    assert!(
        std::env::var_os("ORT_DYLIB_PATH").is_some(),
        "ORT_DYLIB_PATH: the library of ONNX Runtime"
    );
    assert_eq!(run(env!("CARGO_BIN_EXE_ort")), want());
}
