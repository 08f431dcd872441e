import { init } from '/wasm/dist/index.js';

/** decode decodes an image with a graph of its own: decode, by hand. */
export async function decode({ image, build, simd }) {
  const text = (s) => [...new TextEncoder().encode(s)];
  const graph = Uint8Array.from([
    0x96, 1, 0xa0, 0x91, 0x94, 0xa5, ...text('image'), 12, 0, 0x90,
    0x91, 0x95, 0xa6, ...text('decode'), 1, 0x91, 0xa5, ...text('image'), 0x91, 0xa6, ...text('pixels'),
    0x97, 0, 0, 0, 0, 0, 0, 0, 0x91, 0xa6, ...text('pixels'), 0x90,
  ]);
  const prep = await init({ build, simd });
  const r = await (await prep.graph(graph)).run(await (await fetch(image)).blob());
  prep.dispose();
  return { dims: r.dims, digest: await digest(r.data) };
}

/** digest returns the SHA-256 of an array's bytes, in hexadecimal. */
export async function digest(array) {
  const sum = await crypto.subtle.digest('SHA-256', array);
  return [...new Uint8Array(sum)].map((b) => b.toString(16).padStart(2, '0')).join('');
}
