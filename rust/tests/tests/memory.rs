//! Threads, lifetimes and memory.

use infer_prep::{Buffer, Clip, Graph, Input, Layout, Options, Outputs, Tokens, Video};
use infer_prep_tests::{gray, large};
use std::sync::Mutex;

/// Two tests measure the memory of the process, so the tests run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Returns the resident memory in KB.
fn resident() -> i64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<i64>().unwrap() * 4
}

/// Returns a graph of an output of float32 (3, 32, 32).
fn tiny() -> Graph {
    let file = br#"{"image_processor_type": "ViTImageProcessor", "do_normalize": true, "do_rescale": true, "do_resize": true,
        "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5], "resample": 2, "rescale_factor": 0.00392156862745098,
        "size": {"height": 32, "width": 32}}"#;
    Graph::open(file, &Options::new()).unwrap()
}

#[test]
fn shared() {
    fn is<T: Send + Sync + 'static>() {}
    is::<Graph>();
    is::<Outputs>();
    is::<Tokens>();
    is::<Video>();
    is::<Clip<'static>>();
    is::<Input<'static>>();
    is::<Buffer<'static>>();
    is::<infer_prep::Error>();
}

/// 8 threads make 16,000 calls. Memory stays flat.
#[test]
fn threads() {
    let _alone = ALONE.lock();
    let (g, file) = (tiny(), gray());
    let input = [Input::encoded(&file)];
    let want = g.run(&input).unwrap();
    let want = want.get(0).unwrap().as_slice::<f32>().unwrap();
    assert_eq!(want.len(), 3 * 32 * 32);
    let mut before = 0;
    for part in 0..5 {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut memory = vec![0f32; want.len()];
                    for i in 0..400 {
                        if i % 2 == 0 {
                            let outputs = g.run(&input).unwrap();
                            assert!(outputs.get(0).unwrap().as_slice::<f32>().unwrap() == want);
                        } else {
                            g.run_into(&input, &mut [Buffer::new(&mut memory)]).unwrap();
                            assert!(memory == want);
                        }
                    }
                });
            }
        });
        if part == 0 {
            before = resident();
        }
    }
    println!(
        "16,000 calls in 8 threads: {} KB after a fifth, {} KB at the end",
        before,
        resident()
    );
    assert!(resident() < before + 8000);
}

/// Outputs live on in other threads after their graph. Memory stays flat.
#[test]
fn order() {
    let _alone = ALONE.lock();
    let file = large();
    let input = [Input::encoded(&file)];
    let clip = || Graph::open_name("preset:clip", &Options::new()).unwrap();
    let want = clip().run(&input).unwrap().get(0).unwrap().bytes().to_vec();
    let mut before = 0;
    for i in 0..500 {
        let g = clip();
        let (a, b) = (g.run(&input).unwrap(), g.run(&input).unwrap());
        drop(g);
        let b = std::thread::spawn(move || {
            assert!(a.get(0).unwrap().bytes() == b.get(0).unwrap().bytes());
            b
        });
        let b = b.join().unwrap();
        // Another graph writes to memory of its own.
        drop(tiny().run(&input).unwrap());
        assert!(b.get(0).unwrap().bytes() == want);
        if i == 100 {
            before = resident();
        }
    }
    println!(
        "500 times opened and closed: {} KB after a fifth, {} KB at the end",
        before,
        resident()
    );
    assert!(resident() < before + 8000);
}

/// A panic of the host unwinds through objects of the library.
#[test]
fn panics() {
    let _alone = ALONE.lock();
    let r = std::panic::catch_unwind(|| {
        let g = tiny();
        let _outputs = g.run(&[Input::encoded(&gray())]).unwrap();
        panic!("the host");
    });
    assert!(r.is_err());
    assert!(tiny().run(&[Input::encoded(&gray())]).is_ok());
}

/// Go's runtime ends the process if it meets a small number in a pointer while
/// it moves a stack. The first call of a thread grows one. Rust's addresses of
/// empty slices are such numbers.
#[test]
fn empty() {
    let _alone = ALONE.lock();
    let (g, file) = (tiny(), gray());
    let calls: [fn(&Graph, &[u8]); 10] = [
        |g, file| g.run_into(&[Input::encoded(file)], &mut []).unwrap(),
        |g, file| g.run_batch(&[Input::encoded(file)], &mut [], 1).unwrap(),
        |g, _| drop(g.run(&[]).unwrap_err()),
        |g, _| drop(g.run(&[Input::encoded(&[])]).unwrap_err()),
        |g, _| {
            drop(
                g.run(&[Input::pixels(&[], Layout::Hwc, 0, 0, 3).unwrap()])
                    .unwrap_err(),
            )
        },
        |g, file| {
            let mut none: [f32; 0] = [];
            g.run_into(&[Input::encoded(file)], &mut [Buffer::new(&mut none)])
                .unwrap_err();
        },
        |g, _| drop(g.collate(&[]).unwrap_err()),
        |_, _| drop(Graph::open(&[], &Options::new()).unwrap_err()),
        |_, _| drop(infer_prep::probe(&[]).unwrap_err()),
        |_, _| {
            let video = Video::open(
                br#"{"video_processor_type": "VideoMAEVideoProcessor"}"#,
                &Options::new(),
            )
            .unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| video.run(&[]).unwrap_err());
                scope.spawn(|| video.run(&[Clip::new(&[])]).unwrap_err());
                scope.spawn(|| video.sample(&Clip::new(&[])).unwrap_err());
            });
        },
    ];
    for _ in 0..20 {
        for call in calls {
            std::thread::scope(|scope| {
                scope.spawn(|| call(&g, &file));
            });
        }
    }
}
