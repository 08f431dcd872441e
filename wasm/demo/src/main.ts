// The demo page; see index.html for its parts.
import { init, InferPrepError, type Bundle, type Graph, type InferPrep, type Result, type Tensor, type Trace } from 'infer-prep';
import { encode, type GraphDefinition } from 'infer-prep/graph';
import * as presets from 'infer-prep/presets';
import { compare, draw, geometry, normalised, type Geometry } from './canvas-way.js';
import { captioned, colours, figure, figures, heat, index, number as valueOf, planes, shape, type Shape } from './picture.js';
import type { Classifier } from './model.js';

// The caller knows index.html.
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
const get = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const number = (v: number, digits = 4): string => (Number.isInteger(v) ? String(v) : Number(v.toPrecision(digits)).toString());
const sizes = (t: Pick<Tensor, 'dims'>): string => (t.dims.length ? t.dims.join(' × ') : 'scalar');
const text = (t: Tensor): string => `${t.type}${t.layout === 'none' ? '' : ` ${t.layout}`}, ${sizes(t)}`;

/** Opened is an open graph, with its bundle if it came in one. */
interface Opened {
  graph: Graph;
  bundle?: Bundle;
}

/** Choice is a graph that can be chosen. */
interface Choice {
  name: string;
  load(): Promise<Opened>;
}

/** Shown is the image on the page. */
interface Shown {
  name: string;
  image: Blob | ImageData;
}

let prep: Promise<InferPrep> | undefined;
let choices: Choice[] = [];
let graph: Graph | undefined, classifier: Classifier | undefined;
let shown: Shown | undefined;
let result: Result | undefined;
let turn = 0; // the newest run; older ones stop
let chosen = 0; // the index of graph in choices
let verified = 0; // the golden samples of its bundle

const engine = (): Promise<InferPrep> => (prep ??= init({ build: 'full' }));

function status(message: string): void { get('status').textContent = message; }

function fail(e: unknown): void {
  const box = get('error');
  box.textContent = e instanceof InferPrepError ? `${e.message} (${e.code})` : e instanceof Error ? e.message : String(e);
  box.hidden = false;
  status('The last action failed.');
}

/** acting calls f, and shows its error. */
async function acting(f: () => Promise<void>): Promise<void> {
  get('error').hidden = true;
  try {
    await f();
  } catch (e) {
    fail(e);
  }
}

const fetched = async (path: string): Promise<Blob> => {
  const r = await fetch(path);
  if (!r.ok) throw new Error(`${path}: HTTP status ${r.status}`);
  return r.blob();
};

/** choose makes graph i the current one. If that fails, the earlier one stays. */
async function choose(i: number): Promise<void> {
  const mine = ++turn;
  status(`Opening ${choices[i]!.name} …`);
  let opened: Opened | undefined, model: Classifier | undefined;
  try {
    opened = await choices[i]!.load();
    if (opened.bundle) {
      await opened.bundle.verify();
      model = await (await import('./model.js')).Classifier.open(opened.bundle);
    }
  } catch (e) {
    opened?.graph.dispose();
    if (mine !== turn) return;
    get<HTMLSelectElement>('graph').value = String(chosen);
    throw e;
  }
  if (mine !== turn) {
    opened.graph.dispose();
    await model?.close();
    return;
  }
  graph?.dispose();
  const old = classifier;
  graph = opened.graph;
  classifier = model;
  chosen = i;
  verified = opened.bundle?.goldens.length ?? 0;
  await old?.close();
  await run();
}

/** file adds the graph of a file. */
async function file(f: File): Promise<void> {
  const bytes = new Uint8Array(await f.arrayBuffer());
  const p = await engine();
  const first = String.fromCharCode(...bytes.subarray(0, 8));
  const load = async (): Promise<Opened> => {
    if (first === 'IPbundle') {
      const bundle = await p.open(bytes);
      return { graph: bundle.graph, bundle };
    }
    if (!/^\s*\{/.test(first)) return { graph: await p.graph(bytes) };
    return { graph: await p.graph(encode(JSON.parse(new TextDecoder().decode(bytes)) as GraphDefinition)) };
  };
  (await load()).graph.dispose(); // a file that is neither is refused here
  choices.push({ name: f.name, load });
  const option = new Option(f.name, String(choices.length - 1));
  get<HTMLSelectElement>('graph').append(option);
  option.selected = true;
  await choose(choices.length - 1);
}

/** show makes an image the current one. */
async function show(s: Shown): Promise<void> {
  const image = get<HTMLImageElement>('input-image'), frame = get<HTMLCanvasElement>('input-frame');
  URL.revokeObjectURL(image.src);
  image.hidden = !(s.image instanceof Blob);
  frame.hidden = s.image instanceof Blob;
  if (s.image instanceof Blob) {
    image.src = URL.createObjectURL(s.image);
    image.alt = `The input, ${s.name}`;
    image.onerror = () => { image.hidden = true; }; // formats that the browser lacks; the run says what is wrong
  } else {
    frame.width = s.image.width;
    frame.height = s.image.height;
    frame.setAttribute('role', 'img');
    frame.setAttribute('aria-label', `The input, ${s.name}`);
    frame.getContext('2d')!.putImageData(s.image, 0, 0);
  }
  get('input-caption').textContent = s.image instanceof Blob ? `${s.name}, ${(s.image.size / 1024).toFixed(0)} KiB` : `${s.name}, ${s.image.width} × ${s.image.height}`;
  shown = s;
  await run();
}

/** run computes everything and shows it. */
async function run(): Promise<void> {
  if (!graph || !shown) return;
  const mine = ++turn;
  const g = graph, { image, name } = shown;
  status(`Running on ${name} …`);
  try {
    const steps = await g.trace(image);
    const out = await g.run(image);
    const way = geometry(steps);
    const scores = await classifier?.run(out);
    const compared = way && await compare(image, way);
    const digests = await digestsOf(out);
    const times = await measure(g, image, way, out);
    if (mine !== turn) return;
    result = out;
    digest = digests;
    showSteps(steps);
    showCanvas(way, compared);
    showLabels(scores);
    showOutputs(out);
    showTimes(times);
    status(`${name}: ${Object.entries(out.outputs).map(([n, t]) => `${n} ${text(t)}`).join('; ')}`);
  } catch (e) {
    if (mine !== turn) return;
    for (const id of sections) get(id).hidden = true;
    throw e;
  }
}

const sections = ['labels', 'steps', 'canvas-way', 'tensor', 'timing'];
let digest: Record<string, string> = {};

/** digestsOf returns the SHA-256 of the outputs' bytes. */
async function digestsOf(out: Result): Promise<Record<string, string>> {
  const list = Object.entries(out.outputs).map(async ([name, t]) => {
    const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', t.data));
    return [name, Array.from(sum, (b) => b.toString(16).padStart(2, '0')).join('')] as const;
  });
  return Object.fromEntries(await Promise.all(list));
}

/** measure returns the parts' median times. */
async function measure(g: Graph, image: Blob | ImageData, way: Geometry | undefined, out: Result): Promise<[string, number][]> {
  const median = async (f: () => Promise<unknown>): Promise<number> => {
    const all: number[] = [];
    for (let i = 0; i < 5; i++) {
      const start = performance.now();
      await f();
      all.push(performance.now() - start);
    }
    return all.sort((a, b) => a - b)[2]!;
  };
  const list: [string, number][] = [['infer-prep: decode to tensor', await median(() => g.run(image))]];
  if (way) list.push(['The canvas way: decode, draw, read back, normalise', await median(async () => normalised(await draw(image, way)))]);
  const c = classifier;
  if (c) list.push(['Inference by onnxruntime-web', await median(() => c.run(out))]);
  return list;
}

/** The most pixels of a step's picture along a side. */
const preview = 512;

const strideOf = (s: Shape): number => Math.ceil(Math.max(s.height, s.width) / preview);

function showSteps(steps: Trace[]): void {
  get('steps').hidden = false;
  get('step-list').replaceChildren(...steps.map((s) => {
    const item = document.createElement('li'), size = shape(s);
    const title = `${s.step + 1}. ${s.op}`;
    if (size) {
      const stride = strideOf(size);
      const note = stride > 1 ? `; one pixel of ${stride} × ${stride} is shown` : '';
      item.append(figure(colours(s, planes(s, size, stride)), title, text(s) + note, `The picture after step ${s.step + 1}, ${s.op}: ${text(s)}`));
    } else {
      const values = document.createElement('div');
      values.className = 'values';
      values.textContent = s.type === 'bytes' ? `${s.data.length} bytes` : Array.from({ length: Math.min(s.data.length, 12) }, (_, i) => number(valueOf(s)(i))).join(', ') + (s.data.length > 12 ? ', …' : '');
      item.append(captioned(values, title, text(s)));
    }
    return item;
  }));
}

function showCanvas(way: Geometry | undefined, compared: Awaited<ReturnType<typeof compare>> | undefined): void {
  get('canvas-way').hidden = false;
  const pictures = get('canvas-pictures'), figures = get('canvas-figures');
  if (!way || !compared) {
    pictures.replaceChildren();
    figures.textContent = 'This graph is not a resize and a centre crop of bytes, so the page does not compare it with a canvas.';
    return;
  }
  const { drawn, difference: d } = compared;
  const most = Math.max(d.largest, 1);
  pictures.replaceChildren(
    figure(colours(way.step, planes(way.step, shape(way.step)!)), 'infer-prep', `after step ${way.step.step + 1}, ${way.step.op}`, 'The picture that infer-prep makes'),
    figure(drawn, 'Canvas', 'as drawn', 'The picture that the canvas makes'),
    figure(heat(d.map, drawn.width, drawn.height, 0, most), 'Difference', `dark 0, bright ${most} of 255 levels`, `Where the two differ, at most ${d.largest} of 255 levels`),
  );
  figures.textContent = `Largest difference ${d.largest} of 255 levels, mean ${number(d.mean, 3)}; ${(100 * d.share).toFixed(1)} % of all values differ.`;
}

function showLabels(scores: Awaited<ReturnType<Classifier['run']>> | undefined): void {
  get('labels').hidden = !scores;
  if (!scores) return;
  get('label-list').replaceChildren(...scores.slice(0, 5).map((s) => {
    const item = document.createElement('li'), name = document.createElement('span'), value = document.createElement('span'), bar = document.createElement('meter');
    name.textContent = s.label;
    value.textContent = `${(100 * s.share).toFixed(2)} %`;
    value.title = `The model's value: ${number(s.value, 8)}`;
    item.dataset.value = String(s.value);
    bar.value = s.share;
    bar.setAttribute('aria-label', `${s.label}: ${value.textContent}`);
    item.append(name, value, bar);
    return item;
  }));
  const checked = verified === 0 ? '' : ` This browser reproduced ${verified === 1 ? 'the golden sample' : `all ${verified} golden samples`} of the bundle.`;
  get('label-note').textContent = `Softmax of the model's output, unless it is one already.${checked}`;
}

function showTimes(times: [string, number][]): void {
  get('timing').hidden = false;
  get('times').replaceChildren(...times.map(([part, ms]) => row(part, ms.toFixed(1))));
}

function row(first: string, ...rest: string[]): HTMLTableRowElement {
  const tr = document.createElement('tr'), th = document.createElement('th');
  th.scope = 'row';
  th.textContent = first;
  tr.append(th, ...rest.map((v) => {
    const td = document.createElement('td');
    td.textContent = v;
    return td;
  }));
  return tr;
}

function showOutputs(out: Result): void {
  get('tensor').hidden = false;
  const select = get<HTMLSelectElement>('output'), old = select.value;
  select.replaceChildren(...Object.keys(out.outputs).map((n) => new Option(n, n)));
  if (out.outputs[old]) select.value = old;
  get('output-field').hidden = select.length === 1;
  showTensor();
}

/** The tensor whose cells can be read. */
let current: { tensor: Tensor; size: Shape } | undefined;

/** The most channels that are shown as pictures. */
const pictured = 16;

function showTensor(): void {
  const name = get<HTMLSelectElement>('output').value, t = result!.outputs[name]!;
  const size = shape(t), value = valueOf(t);
  current = size && { tensor: t, size };
  get('tensor-text').textContent = text(t) + (size && size.channels > pictured ? `; pictures of the first ${pictured} channels` : '');
  get('digest').textContent = digest[name]!;
  get('cell').hidden = !size;
  const rows = size
    ? Array.from({ length: size.channels }, (_, c) => figures(size.height * size.width, (i) => value(index(t, size, c, i))))
    : [figures(t.data.length, value)];
  const lo = Math.min(...rows.map((f) => f.least)), hi = Math.max(...rows.map((f) => f.largest));
  const p = size && planes(t, size, strideOf(size));
  get('heat').replaceChildren(...(p ? p.channels.slice(0, pictured).map((c, i) => {
    const f = figure(heat(c, p.width, p.height, lo, hi), `Channel ${i}`, `dark ${number(lo)}, bright ${number(hi)}`, `Channel ${i} of the tensor as a heat map`);
    f.firstElementChild!.addEventListener('pointermove', (e) => { point(e as PointerEvent); });
    return f;
  }) : []));
  const head = document.createElement('tr');
  head.append(...['Channel', 'Least', 'Largest', 'Mean', 'Deviation'].map((h) => {
    const th = document.createElement('th');
    th.scope = 'col';
    th.textContent = h;
    return th;
  }));
  get('figures-head').replaceChildren(head);
  get('figures').replaceChildren(...rows.map((f, i) => row(size ? String(i) : 'all', number(f.least), number(f.largest), number(f.mean), number(f.deviation))));
  if (!size) return;
  for (const [id, n] of [['row', size.height], ['column', size.width]] as const) {
    const input = get<HTMLInputElement>(id);
    input.max = String(n - 1);
    if (Number(input.value) >= n) input.value = '0';
  }
  showValue();
}

function point(e: PointerEvent): void {
  const box = (e.target as HTMLElement).getBoundingClientRect(), { size } = current!;
  const cell = (part: number, n: number): string => String(Math.min(Math.max(Math.floor(part * n), 0), n - 1));
  get<HTMLInputElement>('column').value = cell((e.clientX - box.left) / box.width, size.width);
  get<HTMLInputElement>('row').value = cell((e.clientY - box.top) / box.height, size.height);
  showValue();
}

function showValue(): void {
  const { tensor, size } = current!, y = get<HTMLInputElement>('row').valueAsNumber, x = get<HTMLInputElement>('column').valueAsNumber;
  const inside = Number.isInteger(y) && Number.isInteger(x) && y >= 0 && x >= 0 && y < size.height && x < size.width;
  const values = inside ? Array.from({ length: size.channels }, (_, c) => number(valueOf(tensor)(index(tensor, size, c, y * size.width + x)), 8)) : [];
  get<HTMLOutputElement>('value').value = inside ? values.join(', ') : `want 0 to ${size.height - 1} and 0 to ${size.width - 1}`;
}

// The camera.

let stream: MediaStream | undefined;

function stop(): void {
  for (const t of stream?.getTracks() ?? []) t.stop();
  stream = undefined;
  get('viewfinder').hidden = true;
}

async function camera(): Promise<void> {
  // The property is missing on pages that are not secure.
  const media = navigator.mediaDevices as MediaDevices | undefined;
  if (!media) throw new Error('The camera needs a page of https or of this machine.');
  try {
    stream = await media.getUserMedia({ video: { facingMode: 'environment' } });
  } catch (e) {
    throw new Error(`The camera cannot be used: ${e instanceof Error ? e.message : String(e)}`, { cause: e });
  }
  const video = get<HTMLVideoElement>('video');
  video.srcObject = stream;
  get('viewfinder').hidden = false;
  await video.play();
  get('shoot').focus();
}

async function shoot(): Promise<void> {
  const video = get<HTMLVideoElement>('video');
  const context = new OffscreenCanvas(video.videoWidth, video.videoHeight).getContext('2d')!;
  context.drawImage(video, 0, 0);
  const image = context.getImageData(0, 0, video.videoWidth, video.videoHeight);
  stop();
  get('camera').focus();
  await show({ name: 'camera', image });
}

// Wiring.

function wire(): void {
  const drop = get('drop'), imageFile = get<HTMLInputElement>('image-file'), graphFile = get<HTMLInputElement>('graph-file');
  const first = (files: FileList | null | undefined, f: (file: File) => Promise<void>): void => {
    const one = files?.[0];
    if (one) void acting(() => f(one));
  };
  const image = (f: File): Promise<void> => show({ name: f.name, image: f });
  get('pick-image').addEventListener('click', () => { imageFile.click(); });
  get('pick-graph').addEventListener('click', () => { graphFile.click(); });
  imageFile.addEventListener('change', () => { first(imageFile.files, image); imageFile.value = ''; });
  graphFile.addEventListener('change', () => { first(graphFile.files, file); graphFile.value = ''; });
  get('camera').addEventListener('click', () => void acting(camera));
  get('shoot').addEventListener('click', () => void acting(shoot));
  get('stop').addEventListener('click', stop);
  // The whole page takes drops: a miss would leave it.
  addEventListener('dragover', (e) => { e.preventDefault(); drop.classList.add('over'); });
  addEventListener('dragleave', () => { drop.classList.remove('over'); });
  addEventListener('drop', (e) => {
    e.preventDefault();
    drop.classList.remove('over');
    first(e.dataTransfer?.files, (f) => (/\.(bundle|json|msgp|msgpack)$/i.test(f.name) ? file(f) : image(f)));
  });
  const select = get<HTMLSelectElement>('graph');
  select.addEventListener('change', () => void acting(() => choose(Number(select.value))));
  get('output').addEventListener('change', showTensor);
  get('row').addEventListener('input', showValue);
  get('column').addEventListener('input', showValue);
}

choices = [
  {
    name: 'Example bundle: circles and squares',
    load: async () => {
      const bundle = await (await engine()).open(await fetched('example.bundle'));
      return { graph: bundle.graph, bundle };
    },
  },
  ...Object.entries(presets).map(([name, bytes]): Choice => ({ name: `Preset ${name}`, load: async () => ({ graph: await (await engine()).graph(bytes) }) })),
];
get('graph').append(...choices.map((c, i) => new Option(c.name, String(i))));
wire();
void acting(async () => {
  await show({ name: 'example.jpg', image: await fetched('example.jpg') });
  await choose(0);
});
