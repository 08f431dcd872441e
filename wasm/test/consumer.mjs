// A page of a package user, which the tests bundle.
import { createPool, init } from 'infer-prep';

async function digest(array) {
  const sum = await crypto.subtle.digest('SHA-256', array);
  return [...new Uint8Array(sum)].map((b) => b.toString(16).padStart(2, '0')).join('');
}

/** decode decodes an image on this thread, and in Workers. */
export async function decode(graph, image, options) {
  const digests = [];
  for (const prep of [await init(options), await createPool({ workers: 2, ...options })]) {
    const { dims, data } = await (await prep.graph(graph)).run(image);
    digests.push(`${dims} ${await digest(data)}`);
    prep.dispose();
  }
  return digests;
}
