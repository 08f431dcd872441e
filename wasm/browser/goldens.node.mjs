// goldens.mjs in a process of node: goldens.node.mjs BUILD SIMD ALL
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { init } from 'infer-prep';
import { goldens } from './goldens.mjs';

const [build, simd, all] = process.argv.slice(2);
const read = async (path) => new Uint8Array(await readFile(new URL(path.startsWith('/cases/') ? `..${path}` : `../..${path}`, import.meta.url)));
const digest = async (a) => createHash('sha256').update(new Uint8Array(a.buffer, a.byteOffset, a.byteLength)).digest('hex');
const prep = await init({ build, simd: simd === 'true' });
process.stdout.write(JSON.stringify(await goldens({ prep, read, digest, all: all === 'true' })));
