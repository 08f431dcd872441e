//! Links the static library for feature `static`.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-env-changed=INFER_PREP_DIR");
    let set = |name: &str| env::var_os(name).is_some();
    // docs.rs builds the documentation without the library.
    if !set("CARGO_FEATURE_STATIC") || set("DOCS_RS") {
        return;
    }
    let dir = match env::var_os("INFER_PREP_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => fail("INFER_PREP_DIR is not set: want the folder that capi/build.sh wrote"),
    };
    let lib = dir.join("lib");
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
    if env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("unix") {
        println!("cargo:rustc-link-lib=pthread");
    }
}

fn fail(message: &str) -> ! {
    eprintln!("infer-prep-sys: feature static: {}", message);
    std::process::exit(1)
}
