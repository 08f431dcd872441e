//! Compares the bindings with capi/infer_prep.h: the test writes a C program of
//! checks, which cc compiles against the header. It has every constant, the
//! size of every struct, the offset and the type of every member, and the type
//! of every function.

use infer_prep_sys::*;
use std::ffi::c_void;
use std::fmt::Write;
use std::mem::{size_of, MaybeUninit};
use std::os::raw::c_char;
use std::path::Path;
use std::process::Command;
use std::ptr::addr_of;

/// Returns the declaration in C of a name with a type of Rust.
fn declare(rust: &str, name: &str) -> String {
    let rust = rust.trim();
    if let Some(to) = rust.strip_prefix("*const ") {
        return if to.starts_with('*') {
            declare(to, &format!("const *{}", name)) // const char *const *name
        } else {
            format!("const {}", declare(to, &format!("*{}", name)))
        };
    }
    if let Some(to) = rust.strip_prefix("*mut ") {
        return declare(to, &format!("*{}", name));
    }
    if let Some(array) = rust.strip_prefix('[') {
        let (of, n) = array.strip_suffix(']').unwrap().split_once(';').unwrap();
        return declare(of, &format!("({})[{}]", name, n.trim()));
    }
    let c = match rust {
        "i32" => "int32_t",
        "u32" => "uint32_t",
        "i64" => "int64_t",
        "u64" => "uint64_t",
        "f64" => "double",
        "usize" => "size_t",
        "c_void" => "void",
        "c_char" => "char",
        _ => {
            assert!(rust.starts_with("ip_"), "no type of C for {}", rust);
            rust
        }
    };
    format!("{} {}", c, name)
}

/// The C program and the names in it.
#[derive(Default)]
struct Checks {
    text: String,
    names: Vec<String>,
}

impl Checks {
    fn assert(&mut self, condition: String) {
        writeln!(
            self.text,
            "_Static_assert({}, \"{}\");",
            condition, condition
        )
        .unwrap();
    }

    fn constant(&mut self, name: &str, value: i64) {
        self.names.push(name.into());
        self.assert(format!("{} == {}", name, value));
    }

    fn size(&mut self, name: &str, size: usize) {
        self.names.push(name.into());
        self.assert(format!("sizeof({}) == {}", name, size));
    }

    fn member(&mut self, of: &str, name: &str, rust: &str, offset: usize, size: usize) {
        self.assert(format!("offsetof({}, {}) == {}", of, name, offset));
        self.assert(format!("sizeof((({} *)0)->{}) == {}", of, name, size));
        // A pointer to the member must have the type of one to Rust's.
        let pointer = declare(rust, "*p");
        writeln!(
            self.text,
            "static inline void check_{}_{}({} *s) {{ {} = &s->{}; (void)p; }}",
            of, name, of, pointer, name
        )
        .unwrap();
    }

    fn function(&mut self, name: &str, args: &str, ret: &str) {
        self.names.push(name.into());
        let args: Vec<String> = args
            .split(", ")
            .filter(|a| !a.is_empty())
            .map(|a| declare(a.split_once(':').unwrap().1, ""))
            .collect();
        let args = if args.is_empty() {
            "void".into()
        } else {
            args.join(", ")
        };
        writeln!(
            self.text,
            "{} = {};",
            declare(ret, &format!("(*check_{})({})", name, args)),
            name
        )
        .unwrap();
    }
}

macro_rules! constants {
    ($checks:ident: $($name:ident)*) => { $($checks.constant(stringify!($name), $name as i64);)* };
}

macro_rules! layout {
    ($checks:ident: $($of:ident { $($name:ident: $type:ty,)* })*) => {$({
        // A member that is not listed here does not compile.
        let $of { $($name: _,)* } = $of::new();
        assert_eq!($of::new().struct_size as usize, size_of::<$of>());
        $checks.size(stringify!($of), size_of::<$of>());
        let memory = MaybeUninit::<$of>::uninit();
        let base = memory.as_ptr();
        $({
            // SAFETY: the address of a member is taken; nothing is read.
            let p: *const $type = unsafe { addr_of!((*base).$name) };
            $checks.member(stringify!($of), stringify!($name), stringify!($type), p as usize - base as usize, size_of::<$type>());
        })*
    })*};
}

#[test]
fn header() {
    let mut checks = Checks::default();
    constants! { checks:
        IP_API_VERSION IP_MAX_RANK IP_UNKNOWN
        IP_OK IP_INTERNAL IP_FORMAT IP_UNSUPPORTED IP_LIMIT IP_GRAPH IP_UNKNOWN_OP IP_PARAM IP_INPUT IP_CAPACITY IP_FORKED IP_HANDLE IP_IO
        IP_UINT8 IP_INT8 IP_UINT16 IP_INT16 IP_INT32 IP_INT64 IP_FLOAT16 IP_BFLOAT16 IP_FLOAT32 IP_FLOAT64 IP_BOOL IP_BYTES
        IP_NO_LAYOUT IP_HWC IP_CHW IP_INPUTS IP_OUTPUTS IP_STACK IP_PAD IP_CONCAT IP_SINGLE
    }
    layout! { checks:
        ip_error { struct_size: u32, status: ip_status, message: [c_char; 1016], }
        ip_options {
            struct_size: u32, jobs: i32, max_pixels: i64, max_bytes: i64, max_scans: i32, ignored: i32,
            format: *const c_char, backend: *const c_char, decoder: *const c_char, ignored_keys: *const *const c_char,
        }
        ip_column {
            struct_size: u32, dtype: i32, layout: i32, rank: i32, shape: [i64; IP_MAX_RANK], bytes: i64,
            fill: f64, batch: i32, side: i32, name: [c_char; 72],
        }
        ip_input {
            struct_size: u32, dtype: i32, layout: i32, rank: i32, shape: [i64; IP_MAX_RANK], strides: [i64; IP_MAX_RANK],
            bytes: u64, data: *const c_void,
        }
        ip_tensor {
            struct_size: u32, dtype: i32, layout: i32, rank: i32, shape: [i64; IP_MAX_RANK], bytes: u64, capacity: u64,
            data: *mut c_void,
        }
        ip_image_info {
            struct_size: u32, depth: i32, orientation: i32, has_alpha: i32, width: i64, height: i64, frames: i64,
            format: [c_char; 16], mode: [c_char; 16],
        }
        ip_token_files {
            struct_size: u32, pairs: i32, processor: *const c_char, preprocessor: *const c_char, tokenizer: *const c_char,
            call: *const c_char, tokens: *const *const c_char,
        }
        ip_image_tokens { struct_size: u32, unused: i32, tokens: i64, text_tokens: i64, text_at: u64, text_bytes: u64, }
        ip_clip { struct_size: u32, unused: i32, count: i64, fps: f64, duration: f64, frames: *const ip_input, }
    }
    // ip_body and ip_parallel are types of functions.
    checks.names.push("ip_body".into());
    checks.names.push("ip_parallel".into());
    checks.text.push_str(
        "static void body(void *context, size_t i) { (void)context, (void)i; }\n\
         static void loop(void *host, size_t n, ip_body body, void *context) { (void)host, (void)n, (void)body, (void)context; }\n\
         ip_body check_ip_body = body;\nip_parallel check_ip_parallel = loop;\n",
    );
    let source = include_str!("../../infer-prep-sys/src/functions.rs");
    let list = source
        .split_once("\nfunctions! {")
        .unwrap()
        .1
        .split_once("\n}")
        .unwrap()
        .0;
    for line in list.lines().filter_map(|l| l.trim().strip_prefix("fn ")) {
        let (name, rest) = line.split_once('(').unwrap();
        let (args, ret) = rest.split_once(") -> ").unwrap();
        checks.function(name, args, ret.strip_suffix(';').unwrap());
    }

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../capi");
    let header = std::fs::read_to_string(folder.join("infer_prep.h")).unwrap();
    missing(&header, &checks.names);

    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("check.c");
    std::fs::write(&file, format!("#include \"infer_prep.h\"\n{}", checks.text)).unwrap();
    let out = Command::new("cc")
        .args([
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-pedantic",
            "-Werror",
            "-fsyntax-only",
            "-I",
        ])
        .arg(&folder)
        .arg(&file)
        .output()
        .expect("cc, a C compiler");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{}\n{}", said, checks.text);
}

/// Fails if the header has a name of its own that the program lacks.
fn missing(header: &str, have: &[String]) {
    // Macros and functions of the header's own, which Rust has otherwise.
    let own = |n: &str| {
        n.ends_with("_INIT")
            || [
                "IP_API",
                "IP_VERSION",
                "IP_BUILD",
                "ip_status",
                "ip_graph",
                "ip_result",
                "ip_tokens",
                "ip_video",
                "ip_encoded",
                "ip_pixels",
                "ip_samples",
                "IP_SAMPLES_HEADER",
            ]
            .contains(&n)
    };
    let mut code = header.to_string();
    while let Some(at) = code.find("/*") {
        let end = at + code[at..].find("*/").unwrap() + 2;
        code.replace_range(at..end, " ");
    }
    let words = code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let mut count = 0;
    for word in words.filter(|w| (w.starts_with("ip_") || w.starts_with("IP_")) && !own(w)) {
        assert!(have.iter().any(|h| h == word), "the bindings lack {}", word);
        count += 1;
    }
    assert!(count > 100, "{} names in the header", count);
}
