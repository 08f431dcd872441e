// Refuses to pack a package without its code: npm runs this before npm pack and npm publish.
import { access, readFile } from 'node:fs/promises';

const root = new URL('..', import.meta.url);
const { exports } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
const files = new Set(Object.values(exports).flatMap((e) => (typeof e === 'string' ? e : Object.values(e))).filter((f) => !f.includes('*')));
for (const simd of ['', '-simd']) for (const build of ['', '-full']) files.add(`./dist/infer-prep${build}${simd}.wasm`);
files.add('./dist/browser-samples.bin');
files.add('./dist/licenses/go/LICENSE');
const missing = [];
for (const f of files) await access(new URL(f, root)).catch(() => missing.push(f));
if (missing.length > 0) {
  console.error(`infer-prep: the package is not built: ${missing.length} of its files are missing, the first is ${missing[0]}.\n` +
    'Run npm run build first, or make npm in the root of the repository.');
  process.exit(1);
}
