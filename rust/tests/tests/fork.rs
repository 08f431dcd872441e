//! A child that fork() made gets errors, and a program that it starts runs.
#![cfg(all(unix, not(feature = "wasm2c")))] // where it works

use infer_prep::{capabilities, probe, Buffer, Error, Graph, Input, Options, Status, Tokens};
use infer_prep_tests::large;
use std::os::raw::c_int;

extern "C" {
    fn fork() -> c_int;
    fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

#[test]
fn forked() {
    let file = large();
    let g = Graph::open_name("preset:imagenet", &Options::new()).unwrap();
    let outputs = g.run(&[Input::encoded(&file)]).unwrap();
    // SAFETY: the child allocates, which glibc allows after fork, and ends with
    // _exit.
    let child = unsafe { fork() };
    assert!(child >= 0);
    if child == 0 {
        let image = [Input::encoded(&file)];
        let mut memory = vec![0u8; 602_112];
        let batch = g.run_batch(&image, &mut [Buffer::new(&mut memory)], 1);
        let kinds = [
            g.run(&[Input::encoded(&file)]).err(),
            Graph::open(b"{}", &Options::new()).err(),
            Graph::open_name("preset:clip", &Options::new()).err(),
            g.sizes(5, 5).err(),
            g.collate(&[&outputs]).err(),
            g.run_into(&image, &mut [Buffer::new(&mut memory)]).err(),
            batch.err().filter(|e| e.each.is_empty()).map(Error::from),
            probe(&file).err(),
            capabilities().err(),
            Tokens::open("x").err(),
        ];
        let all = kinds
            .iter()
            .all(|e| matches!(e, Some(e) if e.status() == Status::Forked));
        drop((g, outputs));
        // SAFETY: it does not return.
        unsafe { _exit(if all { 0 } else { 1 }) };
    }
    let mut status = 1;
    // SAFETY: the pointer is valid for the call.
    assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    assert!(
        g.run(&[Input::encoded(&file)])
            .unwrap()
            .get(0)
            .unwrap()
            .bytes()
            == outputs.get(0).unwrap().bytes()
    );
    assert!(std::process::Command::new("true")
        .status()
        .unwrap()
        .success());
}
