// Builds the demo page, from the package in dist, and serves it at loopback: npm run demo -- [--port PORT]
import { parseArgs } from 'node:util';
import { serve } from '../browser/harness.mjs';
import './build.mjs';

const { values } = parseArgs({ options: { port: { type: 'string', default: '8080' } } });
const port = Number(values.port);
if (!Number.isInteger(port) || port < 0 || port > 65535) throw new Error(`--port ${values.port}: want 0 to 65535`);
const { url } = await serve({ mounts: { '/demo/': new URL('dist/', import.meta.url).pathname }, port });
console.log(`${url}/demo/index.html`);
