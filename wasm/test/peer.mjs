// Go's results, from tools/tspeer.
import { spawnSync } from 'node:child_process';

const root = new URL('../../', import.meta.url);

function peer(what, input) {
  const r = spawnSync('go', ['run', './tools/tspeer', what], { cwd: root, input, maxBuffer: 2 ** 30 });
  if (r.status !== 0) throw new Error(`tspeer ${what}: ${r.error ?? r.stderr}`);
  return r.stdout;
}

/** graphs returns the known graphs: [name, JSON, msgpack]. */
export function graphs() {
  const out = peer('graphs'), frames = [];
  for (let at = 0; at < out.length;) {
    const n = out.readUInt32LE(at);
    frames.push(out.subarray(at + 4, at + 4 + n));
    at += 4 + n;
  }
  const all = [];
  for (let i = 0; i < frames.length; i += 3) all.push([frames[i].toString(), frames[i + 1].toString(), frames[i + 2]]);
  return all;
}

/** verdicts returns what Go's reader says of each file: "ok", "open" if it refuses it, "compile" if its graph exceeds the limits, or "digest" and the corrupt sections. */
export function verdicts(files) {
  const frames = files.flatMap((f) => {
    const n = Buffer.alloc(4);
    n.writeUInt32LE(f.length);
    return [n, f];
  });
  return peer('bundles', Buffer.concat(frames)).toString().trimEnd().split('\n');
}
