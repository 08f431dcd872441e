//! Links the static library for feature `static`, and compiles the library in
//! plain C for feature `wasm2c`.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-env-changed=INFER_PREP_DIR");
    println!("cargo:rerun-if-env-changed=INFER_PREP_C_SRC");
    let set = |name: &str| env::var_os(name).is_some();
    // docs.rs builds the documentation without the library.
    if !set("CARGO_FEATURE_STATIC") || set("DOCS_RS") {
        return;
    }
    if set("CARGO_FEATURE_WASM2C") {
        compile();
    } else {
        link();
    }
    if env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("unix") {
        println!("cargo:rustc-link-lib=pthread");
    }
}

/// Returns the folder that an environment variable names.
fn folder(name: &str, from: &str) -> PathBuf {
    match env::var_os(name) {
        Some(dir) => PathBuf::from(dir),
        None => fail(&format!("{} is not set: want {}", name, from)),
    }
}

fn link() {
    let lib = folder("INFER_PREP_DIR", "the folder that capi/build.sh wrote").join("lib");
    let file = lib.join("libinfer_prep.a");
    if !file.is_file() {
        fail(&format!(
            "{} is missing: INFER_PREP_DIR must be the folder that capi/build.sh wrote",
            file.display()
        ));
    }
    println!("cargo:rerun-if-changed={}", file.display());
    println!("cargo:rustc-link-search=native={}", lib.display());
    // Without -bundle every .rlib would hold a copy of the library.
    println!("cargo:rustc-link-lib=static:-bundle=infer_prep");
}

#[cfg(not(feature = "wasm2c"))]
fn compile() {}

/// Compiles the sources with the options of their Makefile.
#[cfg(feature = "wasm2c")]
fn compile() {
    let dir = folder(
        "INFER_PREP_C_SRC",
        "the folder that capi/wasm2c/build.sh wrote, or that of a release",
    );
    let mut files = Vec::new();
    match std::fs::read_dir(dir.join("src")) {
        Ok(l) => files.extend(l.flatten().map(|f| f.path())),
        Err(e) => fail(&format!("INFER_PREP_C_SRC: {}: {}", dir.display(), e)),
    }
    files.retain(|f| f.extension().map_or(false, |e| e == "c"));
    files.sort();
    if files.is_empty() {
        fail(&format!(
            "INFER_PREP_C_SRC: {} has no file src/*.c",
            dir.display()
        ));
    }
    let simd = |f: &PathBuf| {
        f.file_name()
            .map_or(false, |n| n.to_string_lossy().starts_with("ip_simd_"))
    };
    let (fast, other): (Vec<_>, Vec<_>) = files.into_iter().partition(simd);
    let build = || {
        let mut b = cc::Build::new();
        b.include(dir.join("include")).include(dir.join("src"));
        // A fused product and sum would change numbers.
        b.flag_if_supported("-ffp-contract=off").warnings(false);
        b
    };
    let mut b = build();
    b.opt_level(2).files(fast);
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64") {
        b.flag_if_supported("-msse4.1");
    }
    let mut objects = b.compile_intermediates();
    // As many compilers as cargo allows; cc's feature for that needs a newer Rust.
    let jobs = env::var("NUM_JOBS").ok().and_then(|n| n.parse().ok());
    let parts = other.chunks((other.len() / jobs.unwrap_or(1).max(1)).max(1));
    let build = &build;
    std::thread::scope(|s| {
        let running: Vec<_> = parts
            .map(|part| s.spawn(move || build().opt_level(1).files(part).compile_intermediates()))
            .collect();
        for r in running {
            objects.extend(r.join().expect("a compiler failed"));
        }
    });
    build().objects(objects).compile("infer_prep");
    println!("cargo:rerun-if-changed={}", dir.display());
    println!("cargo:rustc-link-lib=m");
}

fn fail(message: &str) -> ! {
    eprintln!("infer-prep-sys: {}", message);
    std::process::exit(1)
}
