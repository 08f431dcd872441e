// An ESLint rule that refuses circles of imports, of types too.
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

const src = new URL('../src/', import.meta.url);
// #platform is one of two files.
const aliases = { '#platform': ['platform', 'platform.node'] };

/** read returns the modules that each module of src imports. */
function read() {
  const names = readdirSync(src).filter((f) => f.endsWith('.ts'));
  return new Map(names.map((f) => {
    const text = readFileSync(new URL(f, src), 'utf8');
    const from = [...text.matchAll(/^(?:import|export)\b[^;]*? from '([^']+)';/gm)].map((m) => m[1]);
    return [f.slice(0, -'.ts'.length), from.flatMap((p) => aliases[p] ?? (p.startsWith('./') ? [basename(p, '.js')] : []))];
  }));
}

/** circle returns a shortest way from a module back to itself, if there is one. */
function circle(imports, start) {
  const ways = [[start]], seen = new Set();
  for (const way of ways) {
    for (const next of imports.get(way.at(-1)) ?? []) {
      if (next === start) return [...way, next];
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}

let imports;

export default {
  meta: { type: 'problem', messages: { circle: 'a circle of imports: {{way}}' }, schema: [] },
  create: (context) => ({
    Program(node) {
      imports ??= read();
      const way = circle(imports, basename(context.filename, '.ts'));
      if (way) context.report({ node, messageId: 'circle', data: { way: way.join(' → ') } });
    },
  }),
};
