// Images are dense elements of 1, 2 or 4 bytes in little-endian words of 32 bits. An
// invocation computes one word of the output, so that no two write the same word.

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
    first: u32,   // the first word of the output
    base: u32,    // vertical: the image's row at the start of the input
    k: u32,       // weights for each output element
}

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;
@group(0) @binding(3) var<storage, read> table: array<u32>;

fn byteAt(i: u32) -> u32 {
    return (src[i >> 2u] >> ((i & 3u) * 8u)) & 255u;
}

// The position of an element of the output.
struct Place {
    y: u32,
    x: u32,
    c: u32,
}

fn at(e: u32) -> Place {
    if (p.chw == 1u) {
        let row = e / p.w;
        return Place(row % p.h, e % p.w, row / p.h);
    }
    let pixel = e / p.ch;
    return Place(pixel / p.w, pixel % p.w, e % p.ch);
}

fn next(i: Place) -> Place {
    var n = i;
    if (p.chw == 1u) {
        n.x = n.x + 1u;
        if (n.x == p.w) {
            n.x = 0u;
            n.y = n.y + 1u;
            if (n.y == p.h) {
                n.y = 0u;
                n.c = n.c + 1u;
            }
        }
        return n;
    }
    n.c = n.c + 1u;
    if (n.c == p.ch) {
        n.c = 0u;
        n.x = n.x + 1u;
        if (n.x == p.w) {
            n.x = 0u;
            n.y = n.y + 1u;
        }
    }
    return n;
}

// Converts a fixed-point sum with 22 fractional bits to a byte. Shifting an i32 keeps the sign.
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
    var i = at(word * 4u);
    for (var b: u32 = 0u; b < 4u; b = b + 1u) {
        if (word * 4u + b < p.total) {
            let x = i.x;
            let n = table[x * 2u + 1u];
            let weights = p.w * 2u + x * p.k;
            var index = (i.y * p.sw + table[x * 2u]) * p.ch + i.c;
            var sum: i32 = 2097152; // one half
            for (var j: u32 = 0u; j < n; j = j + 1u) {
                sum = sum + i32(byteAt(index)) * bitcast<i32>(table[weights + j]);
                index = index + p.ch;
            }
            out = out | (clip8(sum) << (b * 8u));
        }
        i = next(i);
    }
    dst[p.first + word] = out;
}

// table: as in horizontal, for all sh output rows.
@compute @workgroup_size(64)
fn vertical(@builtin(global_invocation_id) id: vec3<u32>) {
    let word = id.y * p.stride + id.x;
    if (word >= p.words) {
        return;
    }
    let row = p.sw * p.ch;
    var out: u32 = 0u;
    var y = p.h + word * 4u / row;
    var column = word * 4u % row;
    for (var b: u32 = 0u; b < 4u; b = b + 1u) {
        if (word * 4u + b < p.total) {
            let n = table[y * 2u + 1u];
            let weights = p.sh * 2u + y * p.k;
            var index = (table[y * 2u] - p.base) * row + column;
            var sum: i32 = 2097152; // one half
            for (var j: u32 = 0u; j < n; j = j + 1u) {
                sum = sum + i32(byteAt(index)) * bitcast<i32>(table[weights + j]);
                index = index + row;
            }
            out = out | (clip8(sum) << (b * 8u));
        }
        column = column + 1u;
        if (column == row) {
            column = 0u;
            y = y + 1u;
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

// table: the source column of each output column, the source row of each output row (-1
// for the fill), then each channel's fill.
@compute @workgroup_size(64)
fn pick(@builtin(global_invocation_id) id: vec3<u32>) {
    let word = id.y * p.stride + id.x;
    if (word >= p.words) {
        return;
    }
    var out: u32 = 0u;
    var i = at(word * p.per);
    for (var b: u32 = 0u; b < p.per; b = b + 1u) {
        if (word * p.per + b < p.total) {
            let sx = table[i.x];
            let sy = table[p.w + i.y];
            var v: u32 = 0u;
            if (sx == 0xffffffffu || sy == 0xffffffffu) {
                v = table[p.w + p.h + i.c];
            } else {
                v = elementAt(sy, sx, i.c);
            }
            out = out | (v << (b * p.bits));
        }
        i = next(i);
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
    var i = at(word * p.per);
    for (var b: u32 = 0u; b < p.per; b = b + 1u) {
        if (word * p.per + b < p.total) {
            var index = (i.y * p.w + i.x) * p.ch + i.c;
            if (p.schw == 1u) {
                index = (i.c * p.h + i.y) * p.w + i.x;
            }
            out = out | (table[i.c * 256u + byteAt(index)] << (b * p.bits));
        }
        i = next(i);
    }
    dst[p.first + word] = out;
}
