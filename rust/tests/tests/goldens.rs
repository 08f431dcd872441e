//! All goldens of the references: the cases that tools/goldencases wrote into
//! the folder `INFER_PREP_CASES`. Without it the test fails. `INFER_PREP_EVERY`
//! is the distance between the graphs that it takes, 1 by default.

use infer_prep::{DType, Element, Graph, Input, Layout, Options, Output, Outputs, Status};
use infer_prep_tests::read;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

#[derive(Deserialize)]
struct Cases {
    graphs: Vec<(usize, usize)>,
    inputs: Vec<Tensor>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Tensor {
    path: Option<String>,
    at: (usize, usize),
    #[serde(rename = "type")]
    dtype: Option<String>,
    layout: Option<String>,
    dims: Option<Vec<usize>>,
}

#[derive(Deserialize)]
struct Case {
    kind: String,
    name: String,
    graph: usize,
    #[serde(rename = "in")]
    inputs: Vec<usize>,
    #[serde(rename = "out", default)]
    outputs: Vec<Want>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Want {
    name: String,
    #[serde(rename = "type")]
    dtype: String,
    layout: Option<String>,
    dims: Option<Vec<usize>>,
    sha256: String,
    want: Option<(usize, usize)>,
    #[serde(default)]
    tolerance: f64,
}

fn dtype(name: &str) -> DType {
    match name {
        "uint8" => DType::U8,
        "int8" => DType::I8,
        "uint16" => DType::U16,
        "int16" => DType::I16,
        "int32" => DType::I32,
        "int64" => DType::I64,
        "float16" => DType::F16,
        "bfloat16" => DType::BF16,
        "float32" => DType::F32,
        "float64" => DType::F64,
        "bool" => DType::Bool,
        _ => panic!("dtype {}", name),
    }
}

fn layout(name: &str) -> Layout {
    match name {
        "none" => Layout::None,
        "HWC" => Layout::Hwc,
        "CHW" => Layout::Chw,
        _ => panic!("layout {}", name),
    }
}

/// The elements of an input, aligned.
enum Elements {
    File(Vec<u8>),
    U8(Vec<u8>),
    I8(Vec<i8>),
    U16(Vec<u16>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

macro_rules! elements {
    ($type:ty, $bytes:expr) => {
        $bytes
            .chunks_exact(std::mem::size_of::<$type>())
            .map(|b| <$type>::from_le_bytes(b.try_into().unwrap()))
            .collect()
    };
}

impl Elements {
    fn of(t: &Tensor, blob: &[u8]) -> Elements {
        if let Some(path) = &t.path {
            return Elements::File(read(path));
        }
        let b = &blob[t.at.0..t.at.0 + t.at.1];
        let name = match t.dtype.as_deref() {
            None | Some("") => return Elements::File(b.to_vec()),
            Some(name) => name,
        };
        match dtype(name) {
            DType::I8 => Elements::I8(elements!(i8, b)),
            DType::U16 | DType::F16 | DType::BF16 => Elements::U16(elements!(u16, b)),
            DType::I16 => Elements::I16(elements!(i16, b)),
            DType::I32 => Elements::I32(elements!(i32, b)),
            DType::I64 => Elements::I64(elements!(i64, b)),
            DType::F32 => Elements::F32(elements!(f32, b)),
            DType::F64 => Elements::F64(elements!(f64, b)),
            _ => Elements::U8(b.to_vec()),
        }
    }

    fn input<'a>(&'a self, t: &Tensor) -> Input<'a> {
        fn of<'a, T: Element>(t: &Tensor, data: &'a [T]) -> Input<'a> {
            let (name, order) = (
                t.dtype.as_deref().unwrap(),
                t.layout.as_deref().unwrap_or("none"),
            );
            Input::tensor(
                dtype(name),
                layout(order),
                t.dims.as_deref().unwrap_or(&[]),
                data,
            )
            .unwrap()
        }
        match self {
            Elements::File(b) => Input::encoded(b),
            Elements::U8(v) => of(t, v),
            Elements::I8(v) => of(t, v),
            Elements::U16(v) => of(t, v),
            Elements::I16(v) => of(t, v),
            Elements::I32(v) => of(t, v),
            Elements::I64(v) => of(t, v),
            Elements::F32(v) => of(t, v),
            Elements::F64(v) => of(t, v),
        }
    }
}

/// Returns the difference of an output from its golden.
fn difference(got: Output<'_>, want: &Want, blob: &[u8]) -> Option<String> {
    let dims = want.dims.as_deref().unwrap_or(&[]);
    // Some goldens say nothing of the layout.
    let order = want.layout.as_deref().filter(|s| !s.is_empty()).map(layout);
    if got.name() != want.name
        || got.dtype() != dtype(&want.dtype)
        || got.shape() != dims
        || order.is_some_and(|l| l != got.layout())
    {
        return Some(format!(
            "{:?}, want {} {} {:?} {:?}",
            got, want.name, want.dtype, dims, want.layout
        ));
    }
    if !aligned(&got) {
        return Some(format!("{}: not a slice of its type", want.name));
    }
    if hex(got.bytes()) == want.sha256 {
        return None;
    }
    // A golden with a tolerance has its reason in the Go tests.
    let near = want.want.is_some_and(|(at, n)| {
        let bytes = &blob[at..at + n];
        let close = |a: f64, b: f64| (a - b).abs() <= want.tolerance || a.is_nan() && b.is_nan();
        if let Ok(v) = got.as_slice::<f64>() {
            let to: Vec<f64> = elements!(f64, bytes);
            return v.len() == to.len() && v.iter().zip(&to).all(|(a, b)| close(*a, *b));
        }
        let to: Vec<f32> = elements!(f32, bytes);
        got.as_slice::<f32>().is_ok_and(|v| {
            v.len() == to.len()
                && v.iter()
                    .zip(&to)
                    .all(|(a, b)| close(f64::from(*a), f64::from(*b)))
        })
    });
    if near {
        None
    } else {
        Some(format!("{}: other bytes than the reference's", want.name))
    }
}

/// Reports whether the output is a slice of its dtype's type: its memory must be
/// aligned.
fn aligned(x: &Output<'_>) -> bool {
    match x.dtype() {
        DType::I8 => x.as_slice::<i8>().is_ok(),
        DType::U16 | DType::F16 | DType::BF16 => x.as_slice::<u16>().is_ok(),
        DType::I16 => x.as_slice::<i16>().is_ok(),
        DType::I32 => x.as_slice::<i32>().is_ok(),
        DType::I64 => x.as_slice::<i64>().is_ok(),
        DType::F32 => x.as_slice::<f32>().is_ok(),
        DType::F64 => x.as_slice::<f64>().is_ok(),
        _ => x.as_slice::<u8>().is_ok(),
    }
}

fn hex(b: &[u8]) -> String {
    Sha256::digest(b)
        .iter()
        .map(|b| format!("{:02x}", b))
        .collect()
}

fn status(code: &str) -> Status {
    match code {
        "format" => Status::Format,
        "unsupported" => Status::Unsupported,
        "limit" => Status::Limit,
        "input" => Status::Input,
        _ => panic!("error {}", code),
    }
}

fn problem(c: &Case, run: Result<Outputs, infer_prep::Error>, blob: &[u8]) -> Option<String> {
    match (run, c.error.as_deref().filter(|e| !e.is_empty())) {
        (Err(e), Some(code)) if e.status() == status(code) => None,
        (Err(e), code) => Some(format!("{:?}: {}, want {:?}", e.status(), e, code)),
        (Ok(_), Some(code)) => Some(format!("no error, want {}", code)),
        (Ok(outputs), None) if outputs.len() != c.outputs.len() => {
            Some(format!("{:?}, want {} outputs", outputs, c.outputs.len()))
        }
        (Ok(outputs), None) => outputs
            .iter()
            .zip(&c.outputs)
            .find_map(|(got, want)| difference(got, want, blob)),
    }
}

#[test]
fn goldens() {
    let dir = std::env::var_os("INFER_PREP_CASES")
        .expect("INFER_PREP_CASES: the folder of go run ./tools/goldencases -out");
    let dir = PathBuf::from(dir);
    let file: Cases =
        serde_json::from_slice(&std::fs::read(dir.join("cases.json")).unwrap()).unwrap();
    let blob = std::fs::read(dir.join("cases.bin")).unwrap();
    let mut by_graph: BTreeMap<usize, Vec<&Case>> = BTreeMap::new();
    for c in &file.cases {
        by_graph.entry(c.graph).or_default().push(c);
    }
    let every = std::env::var("INFER_PREP_EVERY").map_or(1, |n| n.parse().unwrap());
    let graphs: Vec<_> = by_graph.into_iter().step_by(every).collect();
    let runs: usize = graphs.iter().map(|g| g.1.len()).sum();
    let (next, tensors) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let differences = Mutex::new(Vec::new());
    let work = || loop {
        let (graph, cases) = match graphs.get(next.fetch_add(1, Ordering::Relaxed)) {
            Some(g) => g,
            None => return,
        };
        let (at, n) = file.graphs[*graph];
        let graph = match Graph::open(&blob[at..at + n], &Options::new()) {
            Ok(g) => g,
            Err(e) => {
                differences
                    .lock()
                    .unwrap()
                    .push(format!("{}: open: {}", cases[0].name, e));
                continue;
            }
        };
        for c in cases {
            let elements: Vec<Elements> = c
                .inputs
                .iter()
                .map(|&i| Elements::of(&file.inputs[i], &blob))
                .collect();
            let inputs: Vec<Input> = elements
                .iter()
                .zip(&c.inputs)
                .map(|(e, &i)| e.input(&file.inputs[i]))
                .collect();
            match problem(c, graph.run(&inputs), &blob) {
                Some(p) => differences
                    .lock()
                    .unwrap()
                    .push(format!("{}: {}: {}", c.kind, c.name, p)),
                None => drop(tensors.fetch_add(c.outputs.len(), Ordering::Relaxed)),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(work);
        }
    });
    let differences = differences.into_inner().unwrap();
    println!(
        "{} goldens, {} tensors equal, {} differ",
        runs,
        tensors.into_inner(),
        differences.len()
    );
    assert!(
        differences.is_empty(),
        "{}",
        differences[..differences.len().min(20)].join("\n")
    );
    assert!(runs > 30_000 / every * 9 / 10, "{} goldens", runs);
}
