// The kernels. Images are dense elements of 1, 2 or 4 bytes in words of 32 bits,
// little-endian; an invocation makes one word of the output, so that no two write the same.

struct Params {
    words: u32,   // of the output
    stride: u32,  // invocations in a row of the dispatch
    total: u32,   // elements of the output
    per: u32,     // elements in a word of the output
    bits: u32,    // of an element
    mask: u32,    // of an element
    chw: u32,     // 1 if the output is CHW
    w: u32,       // of the output
    h: u32,       // of the output; vertical: its first row
    ch: u32,
    sw: u32,      // of the input
    sh: u32,
    schw: u32,    // 1 if the input is CHW
    first: u32,   // the word where the output begins
    base: u32,    // vertical: the image's row that the input begins with
    k: u32,       // weights of an output
}

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;
@group(0) @binding(3) var<storage, read> table: array<u32>;

fn byteAt(i: u32) -> u32 {
    return (src[i >> 2u] >> ((i & 3u) * 8u)) & 255u;
}

// A fixed-point sum of 22 fractional bits as a byte. The shift of an i32 keeps the sign.
fn clip8(s: i32) -> u32 {
    return u32(clamp(s >> 22u, 0, 255));
}

// table: start and length of each output column, then their weights.
@compute @workgroup_size(64)
fn horizontal(@builtin(global_invocation_id) id: vec3<u32>) {
    let word = id.y * p.stride + id.x;
    if (word >= p.words) {
        return;
    }
    var out: u32 = 0u;
    for (var b: u32 = 0u; b < 4u; b = b + 1u) {
        let e = word * 4u + b;
        if (e < p.total) {
            let c = e % p.ch;
            let x = (e / p.ch) % p.w;
            let y = e / (p.ch * p.w);
            let n = table[x * 2u + 1u];
            let weights = p.w * 2u + x * p.k;
            var at = (y * p.sw + table[x * 2u]) * p.ch + c;
            var sum: i32 = 2097152; // a half
            for (var j: u32 = 0u; j < n; j = j + 1u) {
                sum = sum + i32(byteAt(at)) * bitcast<i32>(table[weights + j]);
                at = at + p.ch;
            }
            out = out | (clip8(sum) << (b * 8u));
        }
    }
    dst[p.first + word] = out;
}

// table: as horizontal's, of all sh output rows.
@compute @workgroup_size(64)
fn vertical(@builtin(global_invocation_id) id: vec3<u32>) {
    let word = id.y * p.stride + id.x;
    if (word >= p.words) {
        return;
    }
    let row = p.sw * p.ch;
    var out: u32 = 0u;
    for (var b: u32 = 0u; b < 4u; b = b + 1u) {
        let e = word * 4u + b;
        if (e < p.total) {
            let y = p.h + e / row;
            let n = table[y * 2u + 1u];
            let weights = p.sh * 2u + y * p.k;
            var at = (table[y * 2u] - p.base) * row + e % row;
            var sum: i32 = 2097152; // a half
            for (var j: u32 = 0u; j < n; j = j + 1u) {
                sum = sum + i32(byteAt(at)) * bitcast<i32>(table[weights + j]);
                at = at + row;
            }
            out = out | (clip8(sum) << (b * 8u));
        }
    }
    dst[p.first + word] = out;
}

// The element at row y, column x and channel c of the input.
fn elementAt(y: u32, x: u32, c: u32) -> u32 {
    var i = (y * p.sw + x) * p.ch + c;
    if (p.schw == 1u) {
        i = (c * p.sh + y) * p.sw + x;
    }
    return (src[i / p.per] >> ((i % p.per) * p.bits)) & p.mask;
}

// table: the input's column for each output column, its row for each row, either -1
// for none, and then each channel's fill.
@compute @workgroup_size(64)
fn pick(@builtin(global_invocation_id) id: vec3<u32>) {
    let word = id.y * p.stride + id.x;
    if (word >= p.words) {
        return;
    }
    var out: u32 = 0u;
    for (var b: u32 = 0u; b < p.per; b = b + 1u) {
        let e = word * p.per + b;
        if (e < p.total) {
            var c = e % p.ch;
            var x = (e / p.ch) % p.w;
            var y = e / (p.ch * p.w);
            if (p.chw == 1u) {
                x = e % p.w;
                y = (e / p.w) % p.h;
                c = e / (p.w * p.h);
            }
            let sx = table[x];
            let sy = table[p.w + y];
            var v: u32 = 0u;
            if (sx == 0xffffffffu || sy == 0xffffffffu) {
                v = table[p.w + p.h + c];
            } else {
                v = elementAt(sy, sx, c);
            }
            out = out | (v << (b * p.bits));
        }
    }
    dst[p.first + word] = out;
}

// table: 256 entries a channel. The input is bytes.
@compute @workgroup_size(64)
fn lookup(@builtin(global_invocation_id) id: vec3<u32>) {
    let word = id.y * p.stride + id.x;
    if (word >= p.words) {
        return;
    }
    var out: u32 = 0u;
    for (var b: u32 = 0u; b < p.per; b = b + 1u) {
        let e = word * p.per + b;
        if (e < p.total) {
            var c = e % p.ch;
            var x = (e / p.ch) % p.w;
            var y = e / (p.ch * p.w);
            if (p.chw == 1u) {
                x = e % p.w;
                y = (e / p.w) % p.h;
                c = e / (p.w * p.h);
            }
            var i = (y * p.w + x) * p.ch + c;
            if (p.schw == 1u) {
                i = (c * p.h + y) * p.w + x;
            }
            out = out | (table[c * 256u + byteAt(i)] << (b * p.bits));
        }
    }
    dst[p.first + word] = out;
}
