//! Where feature dlopen looks for the library, and its errors. Each case runs in
//! a process of its own, as a loaded library stays.
#![cfg(all(unix, not(feature = "static")))]

use infer_prep_sys::{api, LoadError};
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Loads the library and prints the outcome, as a child of the other tests.
#[test]
#[ignore = "the child of the other tests"]
fn child() {
    match api() {
        Ok(_) => println!("loaded"),
        Err(e) => {
            let kind = match &e {
                LoadError::Missing { tried } => format!("missing, tried {}", tried.len()),
                LoadError::Function { name, .. } => format!("lacks {}", name),
                LoadError::Version { found, want, .. } => format!("version {} for {}", found, want),
                _ => "another error".into(),
            };
            let safe = infer_prep::Error::from(e.clone());
            assert_eq!(safe.status(), infer_prep::Status::Library);
            assert!(std::error::Error::source(&safe).unwrap().is::<LoadError>());
            println!("{}: {}", kind, safe);
            // The next call tries again.
            env::set_var("INFER_PREP_LIB", env::var_os("GOOD").unwrap());
            api().unwrap();
            println!("then loaded");
        }
    }
}

/// Returns the child's lines. lib is INFER_PREP_LIB, path LD_LIBRARY_PATH.
fn run(program: &Path, lib: Option<&Path>, path: Option<&Path>) -> String {
    let mut c = Command::new(program);
    c.args(["--exact", "child", "--ignored", "--nocapture"]);
    c.env_remove("INFER_PREP_LIB")
        .env_remove("LD_LIBRARY_PATH")
        .env("GOOD", good());
    if let Some(lib) = lib {
        c.env("INFER_PREP_LIB", lib);
    }
    if let Some(path) = path {
        c.env("LD_LIBRARY_PATH", path);
    }
    let out = c.stderr(Stdio::inherit()).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success(), "{}", text);
    text
}

fn good() -> PathBuf {
    env::var_os("INFER_PREP_LIB")
        .expect("INFER_PREP_LIB")
        .into()
}

fn temp(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Compiles a library of C.
fn library(dir: &Path, source: &str) -> PathBuf {
    let (from, to) = (dir.join("lib.c"), dir.join("libinfer_prep.so.1"));
    std::fs::write(&from, source).unwrap();
    let cc = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&to)
        .arg(&from)
        .status()
        .unwrap();
    assert!(cc.success());
    to
}

#[test]
fn places() {
    let me = env::current_exe().unwrap();
    assert!(run(&me, Some(&good()), None).contains("\nloaded"));
    let none = run(&me, None, None);
    assert!(none.contains("missing, tried 1: infer_prep: load: no library: want its path in INFER_PREP_LIB; libinfer_prep.so.1: "), "{}", none);
    assert!(none.contains("then loaded"));
    assert!(run(&me, Some(Path::new("")), None).contains("missing, tried 1"));
    let wrong = run(&me, Some(Path::new("/nonexistent/lib.so")), good().parent());
    assert!(
        wrong.contains("missing, tried 1") && wrong.contains("/nonexistent/lib.so: "),
        "{}",
        wrong
    );

    let dir = temp("places");
    std::os::unix::fs::symlink(good(), dir.join("libinfer_prep.so.1")).unwrap();
    assert!(run(&me, None, Some(&dir)).contains("\nloaded"));
    let beside = dir.join("program");
    std::fs::copy(&me, &beside).unwrap();
    assert!(run(&beside, None, None).contains("\nloaded"));
}

#[test]
fn others() {
    let me = env::current_exe().unwrap();
    let dir = temp("others");
    let no = library(&dir, "int nothing;\n");
    let text = run(&me, Some(&no), None);
    assert!(
        text.contains("lacks ip_api_version: infer_prep: load: ") && text.contains("then loaded"),
        "{}",
        text
    );

    let source = include_str!("../../infer-prep-sys/src/functions.rs");
    let list = source
        .split_once("\nfunctions! {")
        .unwrap()
        .1
        .split_once("\n}")
        .unwrap()
        .0;
    let mut c = String::from("int ip_api_version(void) { return 2; }\n");
    for line in list.lines().filter_map(|l| l.trim().strip_prefix("fn ")) {
        let name = line.split('(').next().unwrap();
        if name != "ip_api_version" {
            c.push_str(&format!("int {}(void) {{ return 0; }}\n", name));
        }
    }
    let dir = temp("version");
    let text = run(&me, Some(&library(&dir, &c)), None);
    assert!(
        text.contains("version 2 for 1: infer_prep: load: ")
            && text.contains("API version 2, want 1"),
        "{}",
        text
    );
    let dir = temp("lacks");
    let text = run(
        &me,
        Some(&library(
            &dir,
            &c.replace("int ip_tokens_free(void) { return 0; }\n", ""),
        )),
        None,
    );
    assert!(text.contains("lacks ip_tokens_free"), "{}", text);
}
