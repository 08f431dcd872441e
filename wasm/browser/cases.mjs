// Writes the cases and the large files of the tests into ../cases.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** write runs tools/goldencases and returns what it printed. */
export const write = () => execFileSync(process.env.GO ?? 'go', ['run', './tools/goldencases', '-out', at('../cases')], { cwd: at('../..'), encoding: 'utf8' });

/** mounts are the folders that the cases name, for serve. */
export const mounts = { '/cases/': at('../cases'), '/importer/': at('../../importer') };
