// Runs the cases of tools/goldencases. It knows neither node nor
// browsers: the caller passes how to read files and to hash bytes.

const arrays = {
  uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  float16: Uint16Array, bfloat16: Uint16Array, float32: Float32Array, float64: Float64Array, bool: Uint8Array,
};

/** huge reports whether a case has more than 4 million elements. 50 have, and take two thirds of the time. */
const huge = (c) => (c.out ?? []).reduce((n, { dims }) => n + dims.reduce((a, b) => a * b, 1), 0) > 4e6;

/**
 * goldens runs one in every so many cases, and the huge ones if all is set. It
 * compares every tensor by its SHA-256, and opens each graph once.
 *
 * @returns the numbers of cases and tensors that were equal, the differences,
 *   the huge cases, and those that need the full build, by what they need
 */
export async function goldens({ prep, read, digest, all, every = 1 }) {
  const start = performance.now();
  const [file, blob] = await Promise.all([
    read('/cases/cases.json').then((b) => JSON.parse(new TextDecoder().decode(b))), read('/cases/cases.bin'),
  ]);
  const slice = ([at, size]) => blob.slice(at, at + size);
  const images = new Map();
  const input = async (i) => {
    const { path, at, type, layout, dims } = file.inputs[i];
    if (path) {
      if (!images.has(path)) images.set(path, await read(`/${path}`));
      return images.get(path);
    }
    const bytes = slice(at);
    return type ? { data: new arrays[type](bytes.buffer), dims, type, layout } : bytes;
  };
  const result = { cases: 0, tensors: 0, bytes: 0, refused: 0, huge: 0, kinds: {}, left: {}, differences: [], ms: 0, memory: 0 };
  const byGraph = new Map();
  for (const [i, c] of file.cases.entries()) {
    if (!all && huge(c)) {
      result.huge++;
      continue;
    }
    if (i % every !== 0 && !huge(c)) continue;
    if (!byGraph.has(c.graph)) byGraph.set(c.graph, []);
    byGraph.get(c.graph).push(c);
  }
  const leave = (why) => { result.left[why] = (result.left[why] ?? 0) + 1; };
  const absent = (e) => e.code === 'unsupported' && /([^:]+) is not in the small build/.exec(e.message)?.[1].trim();
  const differ = (c, text) => { result.differences.push(`${c.kind}: ${c.name}: ${text}`); };
  for (const [g, cases] of byGraph) {
    let graph;
    try {
      graph = await prep.graph(slice(file.graphs[g]));
    } catch (e) {
      for (const c of cases) {
        if (e.code === 'unknown-op') leave(`op ${/unknown op "([^"]*)"/.exec(e.message)?.[1] ?? e.message}`);
        else if (absent(e)) leave(absent(e));
        else differ(c, `${e.code}: ${e.message}`);
      }
      continue;
    }
    for (const c of cases) {
      let out;
      try {
        const values = await Promise.all(c.in.map(input));
        out = (await graph.run(Object.fromEntries(graph.inputs.map((column, i) => [column.name, values[i]])), { batch: false })).outputs;
      } catch (e) {
        if (absent(e)) {
          leave(absent(e));
        } else if (c.error && e.code === c.error && e.name === 'InferPrepError') {
          result.cases++;
          result.refused++;
          result.kinds[c.kind] = (result.kinds[c.kind] ?? 0) + 1;
        } else {
          differ(c, `${e.code}: ${e.message}${c.error ? `, want an error of code ${c.error}` : ''}`);
        }
        continue;
      }
      const wrong = c.error ? `no error, want one of code ${c.error}` : await compare(c.out, out, digest, slice, result);
      if (wrong) {
        differ(c, wrong);
      } else {
        result.cases++;
        result.kinds[c.kind] = (result.kinds[c.kind] ?? 0) + 1;
      }
    }
    graph.dispose();
  }
  result.ms = performance.now() - start;
  result.memory = prep.memoryBytes;
  const { length } = result.differences;
  if (length > 20) result.differences = [...result.differences.slice(0, 20), `and ${length - 20} more`];
  return result;
}

async function compare(want, got, digest, slice, result) {
  const names = Object.keys(got);
  if (names.join() !== want.map((w) => w.name).join()) return `outputs ${names}, want ${want.map((w) => w.name)}`;
  for (const w of want) {
    const t = got[w.name];
    const described = (d) => `${d.type} [${d.dims}] ${w.layout ? d.layout : ''}`;
    if (described(t) !== described(w)) return `${w.name}: ${described(t)}, want ${described(w)}`;
    if (await digest(t.data) !== w.sha256 && !near(t, w, slice)) return `${w.name}: other bytes than the reference`;
    result.tensors++;
    result.bytes += t.data.byteLength;
  }
  return '';
}

/** near reports whether a tensor is within a golden's tolerance. Any two NaNs are equal: the sign of inf - inf is the processor's. */
function near(t, w, slice) {
  if (!w.want) return false;
  const want = new arrays[w.type](slice(w.want).buffer);
  return t.data.every((v, i) => Object.is(v, want[i]) || Math.abs(v - want[i]) <= (w.tolerance ?? -1));
}

/** summary describes a result in one line. */
export function summary(r) {
  const left = Object.values(r.left).reduce((a, b) => a + b, 0);
  return `${r.cases} goldens equal (${r.tensors} tensors, ${(r.bytes / 1e6).toFixed(0)} MB; ${r.refused} files refused), ${r.differences.length} differ, ` +
    `${left} left to the full build, ${r.huge} huge ones not run, ${(r.ms / 1000).toFixed(1)} s, ${(r.memory / 2 ** 20).toFixed(0)} MiB of wasm memory`;
}
