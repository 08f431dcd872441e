//! Literal cases of every function.

use infer_prep::*;
use infer_prep_tests::{fails, gray, large, path, read};

fn imagenet() -> Graph {
    Graph::open_name("preset:imagenet", &Options::new()).unwrap()
}

#[test]
fn library() {
    assert_eq!(version().unwrap(), env_version());
    let json = capabilities().unwrap();
    for name in ["\"jpeg\"", "\"resize\"", "\"hf\"", "\"imagenet\""] {
        assert!(json.contains(name), "{} in {}", name, json);
    }
}

/// The crates have the library's version.
fn env_version() -> String {
    let text = std::fs::read_to_string(path("rust/infer-prep/Cargo.toml")).unwrap();
    let line = text.lines().find(|l| l.starts_with("version = ")).unwrap();
    line.split('"').nth(1).unwrap().into()
}

#[test]
fn columns() {
    let g = imagenet();
    let c = &g.outputs()[0];
    assert_eq!(
        (c.name.as_str(), c.dtype, c.layout, c.batch, c.side),
        ("image", DType::F32, Layout::Chw, Batch::Stack, false)
    );
    assert_eq!(
        (&c.shape[..], c.bytes),
        (&[Some(3), Some(224), Some(224)][..], Some(602_112))
    );
    assert_eq!(
        (g.inputs()[0].dtype, g.inputs()[0].bytes),
        (DType::Bytes, None)
    );
    assert_eq!((g.inputs().len(), g.outputs().len()), (1, 1));

    let d = Graph::open_name("preset:decode", &Options::new()).unwrap();
    assert_eq!(d.outputs()[0].shape, [None, None, Some(3)]);
    let c = &d.sizes(310, 420).unwrap()[0];
    assert_eq!(
        (&c.shape[..], c.bytes),
        (&[Some(310), Some(420), Some(3)][..], Some(390_600))
    );
    fails!(Input, "0 x 420 pixels", d.sizes(0, 420));
    assert!(d.sizes(usize::MAX, 420).is_err());

    let y = Graph::open_name("preset:yolo", &Options::new()).unwrap();
    assert!(y.outputs().len() > 1 && y.outputs()[1].side);
}

#[test]
fn runs() {
    let (g, file) = (imagenet(), large());
    let outputs = g.run(&[Input::encoded(&file)]).unwrap();
    let x = outputs.named("image").unwrap();
    assert_eq!(
        (x.name(), x.dtype(), x.layout(), x.shape()),
        ("image", DType::F32, Layout::Chw, &[3, 224, 224][..])
    );
    let v = x.as_slice::<f32>().unwrap();
    assert_eq!(
        format!("{} {} {}", v[0], v[1], v[2]),
        "-1.0561693 -0.88492167 -0.6622999"
    );
    assert_eq!(x.bytes().len(), 602_112);
    assert_eq!(x.view::<f32>().unwrap()[[0, 0, 2]], v[2]);
    assert_eq!(x.view::<f32>().unwrap().shape(), [3, 224, 224]);
    fails!(Input, "F32 as a slice of u8", x.as_slice::<u8>());
    fails!(Input, "output 1 of 1", outputs.get(1));
    fails!(
        Input,
        "no output \"x\": want one of [\"image\"]",
        outputs.named("x")
    );
    fails!(Input, "0 inputs, the graph has 1", g.run(&[]));
    fails!(Format, "jpeg", g.run(&[Input::encoded(&file[..1000])]));
    fails!(Format, "empty input", g.run(&[Input::encoded(&[])]));
}

#[test]
fn buffers() {
    let (g, file) = (imagenet(), large());
    let image = [Input::encoded(&file)];
    let outputs = g.run(&image).unwrap();
    let want = outputs.get(0).unwrap();

    let mut none: [f32; 0] = [];
    let mut ask = [Buffer::new(&mut none)];
    fails!(
        Capacity,
        "602112 bytes, its memory has 0",
        g.run_into(&image, &mut ask)
    );
    assert_eq!(
        (
            ask[0].needed(),
            ask[0].dtype(),
            ask[0].layout(),
            ask[0].shape()
        ),
        (
            602_112,
            Some(DType::F32),
            Some(Layout::Chw),
            Some(&[3, 224, 224][..])
        )
    );

    let mut floats = vec![0f32; 150_528 + 1];
    floats[150_528] = 7.0;
    let mut to = [Buffer::new(&mut floats)];
    g.run_into(&image, &mut to).unwrap();
    assert_eq!(
        (to[0].needed(), to[0].shape()),
        (602_112, Some(&[3, 224, 224][..]))
    );
    fails!(
        Format,
        "jpeg",
        g.run_into(&[Input::encoded(&file[..99])], &mut to)
    );
    assert_eq!(
        (to[0].needed(), to[0].dtype(), to[0].shape()),
        (0, None, None)
    );
    assert_eq!(&floats[..150_528], want.as_slice::<f32>().unwrap());
    assert_eq!(floats[150_528], 7.0);

    // Bytes take any dtype, aligned or not.
    let mut bytes = vec![0u8; 602_112 + 1];
    g.run_into(&image, &mut [Buffer::new(&mut bytes[1..])])
        .unwrap();
    assert_eq!(&bytes[1..], want.bytes());
    fails!(
        Capacity,
        "its memory has 602111",
        g.run_into(&image, &mut [Buffer::new(&mut bytes[2..])])
    );
    let mut wrong = vec![0i32; 150_528];
    fails!(
        Input,
        "output \"image\": F32 into a slice of i32",
        g.run_into(&image, &mut [Buffer::new(&mut wrong)])
    );
    let (mut a, mut b) = ([0f32; 4], [0f32; 4]);
    fails!(
        Input,
        "memory for 2 outputs, the graph has 1",
        g.run_into(&image, &mut [Buffer::new(&mut a), Buffer::new(&mut b)])
    );
    g.run_into(&image, &mut []).unwrap();
}

#[test]
fn pixels() {
    let (g, file) = (imagenet(), large());
    let want = g.run(&[Input::encoded(&file)]).unwrap();
    let want = want.get(0).unwrap().bytes();
    let d = Graph::open_name("preset:decode", &Options::new()).unwrap();
    let decoded = d.run(&[Input::encoded(&file)]).unwrap();
    let p = decoded.get(0).unwrap().as_slice::<u8>().unwrap();
    let (h, w) = (310, 420);
    let size = (h, w, 3);

    let mut planes = vec![0; p.len()];
    let mut bottom_up = vec![0; 2000 * h];
    for i in 0..h * w {
        for c in 0..3 {
            planes[c * h * w + i] = p[3 * i + c];
        }
    }
    for y in 0..h {
        bottom_up[(h - 1 - y) * 2000..][..3 * w].copy_from_slice(&p[y * 3 * w..][..3 * w]);
    }
    let bgr: Vec<u8> = p.chunks(3).flat_map(|c| [c[2], c[1], c[0]]).collect();
    let planes_bgr: Vec<u8> = planes.chunks(h * w).rev().flatten().copied().collect();
    let n = (h * w) as isize;
    for (name, input) in [
        ("HWC", Input::pixels(p, Layout::Hwc, h, w, 3)),
        ("CHW", Input::pixels(&planes, Layout::Chw, h, w, 3)),
        (
            "CHW as HWC",
            Input::pixels_with_strides(&planes, 0, Layout::Hwc, size, (420, 1, n)),
        ),
        (
            "HWC as CHW",
            Input::pixels_with_strides(p, 0, Layout::Chw, size, (1260, 3, 1)),
        ),
        (
            "bottom up",
            Input::pixels_with_strides(&bottom_up, 309 * 2000, Layout::Hwc, size, (-2000, 3, 1)),
        ),
        (
            "BGR",
            Input::pixels_with_strides(&bgr, 2, Layout::Hwc, size, (1260, 3, -1)),
        ),
        (
            "planes of BGR",
            Input::pixels_with_strides(&planes_bgr, 2 * h * w, Layout::Chw, size, (420, 1, -n)),
        ),
    ] {
        assert!(
            g.run(&[input.unwrap()]).unwrap().get(0).unwrap().bytes() == want,
            "{}",
            name
        );
    }

    fails!(
        Input,
        "390599 elements, shape [310, 420, 3]",
        Input::pixels(&p[1..], Layout::Hwc, h, w, 3)
    );
    fails!(
        Input,
        "layout None",
        Input::pixels(p, Layout::None, h, w, 3)
    );
    fails!(
        Input,
        "elements, shape",
        Input::pixels(p, Layout::Hwc, usize::MAX, usize::MAX, 2)
    );
    let strided =
        |first, size, strides| Input::pixels_with_strides(p, first, Layout::Hwc, size, strides);
    fails!(
        Input,
        "from byte 1 lead outside of 390600 bytes",
        strided(1, size, (1260, 3, 1))
    );
    fails!(Input, "lead outside", strided(0, size, (-1260, 3, 1)));
    fails!(
        Input,
        "lead outside",
        strided(usize::MAX, size, (1260, 3, 1))
    );
    fails!(
        Input,
        "lead outside",
        strided(
            0,
            (usize::MAX, usize::MAX, usize::MAX),
            (isize::MAX, isize::MAX, isize::MAX)
        )
    );
    fails!(
        Input,
        "lead outside",
        strided(
            0,
            (usize::MAX, usize::MAX, usize::MAX),
            (isize::MIN, isize::MIN, isize::MIN)
        )
    );
    fails!(
        Input,
        "lead outside",
        strided(390_600, (1, 1, 1), (3, 3, 1))
    );
    fails!(
        Input,
        "sizes of 1 or more",
        strided(0, (0, 420, 3), (1260, 3, 1))
    );
    fails!(Input, "want one that is not 0", strided(0, size, (0, 0, 0)));
    assert!(strided(390_599, (1, 1, 1), (0, 0, 0)).is_ok());
    fails!(
        Input,
        "want an encoded image, or uint8",
        g.run(&[Input::pixels(&p[..25], Layout::Hwc, 1, 5, 5).unwrap()])
    );
    fails!(
        Input,
        "infer_prep: run",
        g.run(&[Input::pixels(&[], Layout::Hwc, 0, 5, 3).unwrap()])
    );
    let far = Input::pixels_with_strides(p, 0, Layout::Hwc, (usize::MAX, 1, 1), (0, 0, 1)).unwrap();
    fails!(Input, "a size of -1", g.run(&[far]));
}

/// Random strides are errors, or the pixels that indexing gives.
#[test]
fn strides() {
    let d = Graph::open_name("preset:decode", &Options::new()).unwrap();
    let memory: Vec<u8> = (0..200).collect();
    let mut state = 1u64;
    let mut pick = |n: i64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as i64 % n
    };
    let (mut read, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let (first, h, w) = (pick(220), 1 + pick(5), 1 + pick(5));
        let (row, pixel, channel) = (pick(61) - 30, pick(41) - 20, pick(21) - 10);
        let layout = if pick(2) == 0 {
            Layout::Hwc
        } else {
            Layout::Chw
        };
        let places = (0..h).flat_map(|y| (0..w).flat_map(move |x| (0..3).map(move |c| (y, x, c))));
        let want: Option<Vec<u8>> = places
            .map(|(y, x, c)| usize::try_from(first + y * row + x * pixel + c * channel).ok())
            .map(|at| memory.get(at?).copied())
            .collect();
        let size = (h as usize, w as usize, 3);
        let strides = (row as isize, pixel as isize, channel as isize);
        let input = Input::pixels_with_strides(&memory, first as usize, layout, size, strides);
        match (input, want) {
            (Ok(input), Some(want)) => {
                assert_eq!(d.run(&[input]).unwrap().get(0).unwrap().bytes(), want);
                read += 1;
            }
            (Err(e), None) => {
                assert_eq!(e.status(), Status::Input);
                refused += 1;
            }
            (Err(_), Some(_)) if strides == (0, 0, 0) => {}
            (got, want) => panic!("{:?} from {}: {:?}, want {:?}", strides, first, got, want),
        }
    }
    assert!(
        read > 1000 && refused > 1000,
        "{} read, {} refused",
        read,
        refused
    );
}

/// A graph that takes dense elements must not read pixels' strides of 0, or
/// those of axes with one element, as dense ones.
#[test]
fn dense() {
    let text = br#"{"infer_prep_graph":1,"inputs":[{"name":"a","dtype":"uint8","layout":"HWC","shape":[100,100,1]}],"steps":[],"outputs":["a"]}"#;
    let g = Graph::open(text, &Options::new()).unwrap();
    let memory = vec![7u8; 10_000];
    let input = Input::pixels(&memory, Layout::Hwc, 100, 100, 1).unwrap();
    assert_eq!(g.run(&[input]).unwrap().get(0).unwrap().bytes(), memory);
    for strides in [(0, 0, -1), (0, 0, 1), (0, 1, -1)] {
        let input =
            Input::pixels_with_strides(&memory[..100], 0, Layout::Hwc, (100, 100, 1), strides)
                .unwrap();
        fails!(Input, "100 bytes, ", g.run(&[input]));
    }
    let input =
        Input::pixels_with_strides(&memory, 9_900, Layout::Hwc, (100, 100, 1), (-100, 1, 1))
            .unwrap();
    fails!(Unsupported, "stride -100", g.run(&[input]));
}

#[test]
fn tensors() {
    let text = br#"{"infer_prep_graph":1,"inputs":[{"name":"a","dtype":"float32","layout":"none","shape":[2]},
        {"name":"b","dtype":"bytes","layout":"none","shape":[]}],"steps":[],"outputs":["a","b"]}"#;
    let g = Graph::open(text, &Options::new()).unwrap();
    let values = [1.5f32, -2.0];
    let a = Input::tensor(DType::F32, Layout::None, &[2], &values).unwrap();
    let o = g.run(&[a, Input::encoded(b"text")]).unwrap();
    assert_eq!(o.get(0).unwrap().as_slice::<f32>().unwrap(), values);
    assert_eq!(
        (o.get(1).unwrap().bytes(), o.get(1).unwrap().dtype()),
        (&b"text"[..], DType::Bytes)
    );
    // An output without elements is an empty slice.
    let o = g.run(&[a, Input::encoded(b"")]).unwrap();
    assert_eq!(
        (
            o.get(1).unwrap().bytes(),
            o.get(1).unwrap().as_slice::<u8>().unwrap()
        ),
        (&[][..], &[][..])
    );
    assert_eq!(
        o.iter().map(|x| x.name().to_string()).collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(o.len(), 2);

    fails!(
        Input,
        "a slice of f32 as F64",
        Input::tensor(DType::F64, Layout::None, &[2], &values)
    );
    fails!(
        Input,
        "a slice of u8 as Bytes",
        Input::tensor(DType::Bytes, Layout::None, &[4], b"text")
    );
    fails!(
        Input,
        "at most 8 axes",
        Input::tensor(DType::F32, Layout::None, &[1; 9], &values)
    );
    fails!(
        Input,
        "2 elements, shape [3]",
        Input::tensor(DType::F32, Layout::None, &[3], &values)
    );
    let empty = Input::tensor::<f32>(DType::F32, Layout::None, &[0], &[]).unwrap();
    assert!(g.run(&[empty, Input::encoded(b"")]).is_err());
}

#[test]
fn opening() {
    let file = large();
    let clip = br#"{"image_processor_type": "CLIPImageProcessor", "color": 1}"#;
    fails!(Param, "color", Graph::open(clip, &Options::new()));
    let g = Graph::open(clip, &Options::new().ignore("color")).unwrap();
    assert_eq!(g.outputs()[0].name, "pixel_values");
    let pil = Graph::open(clip, &Options::new().ignore("color").backend("pil").jobs(1)).unwrap();
    assert!(pil.run(&[Input::encoded(&file)]).is_ok());
    let small = Graph::open_name("preset:imagenet", &Options::new().max_pixels(1000)).unwrap();
    fails!(Limit, "420x310", small.run(&[Input::encoded(&file)]));
    fails!(
        Limit,
        "need 602112 bytes, the limit is 1000",
        Graph::open_name("preset:imagenet", &Options::new().max_bytes(1000))
    );

    fails!(
        Param,
        "a preset has no backends",
        Graph::open_name("preset:imagenet", &Options::new().backend("pil"))
    );
    fails!(
        Param,
        "nothing",
        Graph::open(b"{}", &Options::new().format("nothing"))
    );
    fails!(
        Unsupported,
        "class",
        Graph::open(b"{}", &Options::new().format("hf"))
    );
    fails!(
        Param,
        "decoder",
        Graph::open(clip, &Options::new().ignore("color").decoder("nothing"))
    );
    fails!(
        Format,
        "unknown format",
        Graph::open(b"nothing", &Options::new())
    );
    fails!(Format, "unknown format", Graph::open(b"", &Options::new()));
    fails!(
        Io,
        "o such file",
        Graph::open_name("/nonexistent/x.json", &Options::new())
    );
    fails!(
        Param,
        "did you mean",
        Graph::open_name("preset:imagenett", &Options::new())
    );
    fails!(
        Input,
        "without the byte 0",
        Graph::open_name("a\0b", &Options::new())
    );
    fails!(
        Input,
        "without the byte 0",
        Graph::open(b"{}", &Options::new().format("a\0b"))
    );
    fails!(
        Graph,
        "",
        Graph::open(b"{", &Options::new().format("graph"))
    );
    let op = br#"{"infer_prep_graph":1,"inputs":[{"name":"image","dtype":"bytes","layout":"none","shape":[]}],
        "steps":[{"op":"reszie","version":1,"in":["image"],"out":["image"],"params":{}}],"outputs":["image"]}"#;
    fails!(UnknownOp, "reszie", Graph::open(op, &Options::new()));
    let e = Graph::open(op, &Options::new()).unwrap_err();
    assert_eq!(e.to_string(), e.message());
    assert!(std::error::Error::source(&e).is_none());
}

#[test]
fn batches() {
    let (g, file) = (imagenet(), large());
    let one = g.run(&[Input::encoded(&file)]).unwrap();
    let one = one.get(0).unwrap().as_slice::<f32>().unwrap();
    for threads in [0, 1, 4, 64] {
        let mut memory = vec![0f32; 12 * one.len()];
        let mut inputs = vec![Input::encoded(&file); 12];
        let mut buffers: Vec<Buffer> = memory.chunks_mut(one.len()).map(Buffer::new).collect();
        g.run_batch(&inputs, &mut buffers, threads).unwrap();
        assert!(buffers.iter().all(|b| b.needed() == 602_112));
        drop(buffers);
        assert!(
            memory.chunks(one.len()).all(|m| m == one),
            "{} threads",
            threads
        );

        inputs[9] = Input::encoded(&file[..1000]);
        inputs[5] = Input::encoded(&[]);
        memory.fill(0.0);
        let mut buffers: Vec<Buffer> = memory.chunks_mut(one.len()).map(Buffer::new).collect();
        let mut short = [0f32; 3];
        buffers[7] = Buffer::new(&mut short);
        let e = g.run_batch(&inputs, &mut buffers, threads).unwrap_err();
        let want: Vec<Result<(), Status>> = (0..12)
            .map(|i| match i {
                5 | 9 => Err(Status::Format),
                7 => Err(Status::Capacity),
                _ => Ok(()),
            })
            .collect();
        assert_eq!(e.each, want);
        assert!(
            e.error.message().contains("empty input") && e.to_string().starts_with("image 5: "),
            "{}",
            e
        );
        assert_eq!(
            (
                buffers[7].needed(),
                buffers[5].needed(),
                buffers[11].needed()
            ),
            (602_112, 0, 602_112)
        );
        drop(buffers);
        assert_eq!(&memory[11 * one.len()..], one);
    }
    g.run_batch(&[], &mut [], 4).unwrap();
    g.run_batch(&[Input::encoded(&file)], &mut [], 4).unwrap();
    let (mut a, mut b, mut c) = ([0f32; 1], [0f32; 1], [0f32; 1]);
    let mut three = [
        Buffer::new(&mut a),
        Buffer::new(&mut b),
        Buffer::new(&mut c),
    ];
    fails!(
        Input,
        "2 inputs of a graph with 1, 3 outputs",
        g.run_batch(&[Input::encoded(&file); 2], &mut three, 1)
    );
    fails!(Input, "0 inputs", g.run_batch(&[], &mut three, 1));
    fails!(
        Input,
        "memory for 3 outputs",
        g.run_batch(&[Input::encoded(&file)], &mut three, 1)
    );
}

#[test]
fn images() {
    let file = large();
    let i = probe(&file).unwrap();
    assert_eq!(
        (i.format.as_str(), i.mode.as_str(), i.width, i.height),
        ("jpeg", "RGB", 420, 310)
    );
    assert_eq!(
        (i.depth, i.orientation, i.frames, i.has_alpha),
        (8, 1, 1, false)
    );
    fails!(Format, "unknown format", probe(b"nothing"));
    fails!(Format, "", probe(b""));
    fails!(Format, "jpeg", probe(&file[..20]));
}

#[test]
fn tokens() {
    let files = TokenFiles {
        preprocessor: Some(
            r#"{"image_processor_type": "Qwen2VLImageProcessor", "processor_class": "Qwen2VLProcessor",
            "min_pixels": 3136, "max_pixels": 12845056, "patch_size": 14, "merge_size": 2}"#,
        ),
        tokens: &[("image_token", "<|image_pad|>")],
        ..TokenFiles::default()
    };
    let t = Tokens::open_files(&files).unwrap();
    let l = t.images(&[(56, 56), (1080, 1920)]).unwrap();
    assert_eq!(
        (l[0].tokens, l[1].tokens, l[1].text_tokens),
        (Some(4), Some(2691), Some(2691))
    );
    assert_eq!(
        (&l[0].text, &l[1].text),
        (&"<|image_pad|>".repeat(4), &"<|image_pad|>".repeat(2691))
    );
    assert_eq!(t.images(&[]).unwrap(), []);
    fails!(Input, "", t.images(&[(0, 5)]));
    fails!(Input, "", t.images(&[(56, 56); 257]));
    fails!(Io, "o such file", Tokens::open("/nonexistent"));
    fails!(
        Input,
        "without the byte 0",
        Tokens::open_files(&TokenFiles {
            call: Some("\0"),
            ..files
        })
    );
    assert!(Tokens::open_files(&TokenFiles::default()).is_err());
}

#[test]
fn collating() {
    let (g, file) = (imagenet(), large());
    let (a, b) = (
        g.run(&[Input::encoded(&file)]).unwrap(),
        g.run(&[Input::encoded(&gray())]).unwrap(),
    );
    let batch = g.collate(&[&a, &b, &a]).unwrap();
    let x = batch.named("image").unwrap();
    assert_eq!((x.shape(), x.dtype()), (&[3, 3, 224, 224][..], DType::F32));
    let parts: Vec<&[u8]> = [&a, &b, &a]
        .iter()
        .map(|o| o.get(0).unwrap().bytes())
        .collect();
    assert!(x.bytes() == parts.concat());
    drop((a, b));
    assert_eq!(batch.get(0).unwrap().bytes().len(), 3 * 602_112);

    fails!(Input, "no samples", g.collate(&[]));
    let other = imagenet();
    let o = other.run(&[Input::encoded(&file)]).unwrap();
    fails!(Input, "result 0: ", g.collate(&[&o]));
}

#[test]
fn videos() {
    let v = Video::open(
        br#"{"video_processor_type": "VideoMAEVideoProcessor"}"#,
        &Options::new(),
    )
    .unwrap();
    let files: Vec<Vec<u8>> = (0..3)
        .map(|i| read(&format!("importer/hf/video/testdata/small/{}.png", i)))
        .collect();
    let frames: Vec<Input> = files.iter().map(|f| Input::encoded(f)).collect();
    let clip = Clip::new(&frames).fps(24.0).duration(0.125);
    assert_eq!(v.sample(&clip).unwrap(), [0, 1, 2]);
    assert_eq!(v.sample(&Clip::of_length(1000)).unwrap().len(), 1000);
    let o = v.run(&[clip, clip]).unwrap();
    let one = v.run(&[clip]).unwrap();
    drop(v);
    let x = o.named("pixel_values").unwrap();
    assert_eq!(
        (x.shape(), x.dtype()),
        (&[2, 3, 3, 224, 224][..], DType::F32)
    );
    let (first, second) = x.bytes().split_at(x.bytes().len() / 2);
    assert!(first == second && first == one.get(0).unwrap().bytes());

    let v = Video::open(
        br#"{"video_processor_type": "VideoMAEVideoProcessor"}"#,
        &Options::new(),
    )
    .unwrap();
    fails!(Input, "clip 1: ", v.run(&[clip, clip.fps(-1.0)]));
    fails!(Input, "no clips", v.run(&[]));
    fails!(Input, "frames is NULL", v.run(&[Clip::of_length(3)]));
    fails!(Input, "0 frames", v.run(&[Clip::new(&[])]));
    fails!(
        Input,
        "frames, want 1 to",
        v.sample(&Clip::of_length(usize::MAX))
    );
    fails!(
        Input,
        "the frame is chosen",
        v.run(&[Clip::new(&[Input::unread(); 3])])
    );
    fails!(Input, "", imagenet().run(&[Input::unread()]));
    fails!(Graph, "", Video::open(b"{", &Options::new()));
    fails!(Io, "", Video::open_name("/nonexistent", &Options::new()));
    fails!(
        Unsupported,
        "backend",
        Video::open(b"{}", &Options::new().backend("pil"))
    );
}
