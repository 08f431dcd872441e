import { init } from '/wasm/dist/index.js';
import { microphone } from '/wasm/dist/microphone.js';
import { digest } from '/wasm/browser/smoke.mjs';

/**
 * listen renders samples of 16 bits through the worklet, in the place of a
 * microphone's, and returns digests: of a graph's output on the samples, and of
 * the streams that got the worklet's blocks.
 */
export async function listen({ config, samples, blocks }) {
  const prep = await init({ module: '/wasm/dist/infer-prep-full-simd.wasm' });
  const graph = await prep.fromHF(config);
  const data = Int16Array.from(samples), samplingRate = 16_000;
  const whole = await graph.run({ data, samplingRate });
  const result = { whole: await digest(whole.data), streams: {} };
  const buffer = new AudioBuffer({ length: data.length, sampleRate: samplingRate });
  buffer.copyToChannel(Float32Array.from(data, (v) => v / 32768), 0);
  result.audioBuffer = await digest((await graph.run(buffer)).data);
  for (const blockSize of blocks) {
    const context = new OfflineAudioContext(1, data.length, samplingRate);
    const source = new AudioBufferSourceNode(context, { buffer });
    const stream = await graph.stream({ samplingRate });
    const sizes = new Set();
    const m = await microphone(source, (b) => {
      sizes.add(b.length);
      stream.push(b);
    }, { blockSize });
    source.start();
    await context.startRendering();
    await m.stop();
    const parts = Object.values(stream.end());
    result.streams[blockSize] = { digest: await digest(parts[0].data), sizes: [...sizes] };
  }
  // The time of 30 s, as a fraction of them.
  const long = new Int16Array(480_000).map((_, i) => data[i % data.length]);
  const best = async (f) => {
    let least = Infinity;
    for (let i = 0; i < 3; i++) {
      const start = performance.now();
      await f();
      least = Math.min(least, performance.now() - start);
    }
    return least / 30_000;
  };
  result.factor = await best(() => graph.run({ data: long, samplingRate }));
  result.streamed = await best(async () => {
    const stream = await graph.stream({ samplingRate });
    for (let at = 0; at < long.length; at += 1024) stream.push(long.subarray(at, at + 1024));
    stream.end();
  });
  prep.dispose();
  return result;
}
