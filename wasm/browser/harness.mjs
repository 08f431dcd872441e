// Serves files at loopback under a strict CSP, and opens pages of the installed
// Chromium or Firefox ESR on them. Both browsers speak WebDriver BiDi.
import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import puppeteer from 'puppeteer-core';

const wasm = fileURLToPath(new URL('..', import.meta.url));

/** csp is what the package needs of a page, and no more. */
export const csp = [
  "default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "connect-src 'self'", "worker-src 'self'",
  "img-src 'self' blob:", "style-src 'self'", "base-uri 'none'", "form-action 'none'", 'report-uri /violations',
].join('; ');

const types = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css', '.json': 'application/json',
  '.wasm': 'application/wasm', '.jpg': 'image/jpeg', '.png': 'image/png', '.gif': 'image/gif', '.webp': 'image/webp', '.svg': 'image/svg+xml',
};

/**
 * serve serves folders at loopback: by default the package at /wasm/ and the
 * repository's test data at /testdata/. mounts adds others, by their prefix.
 * cache is the Cache-Control of every answer, headers are further ones; port 0 is any free one.
 * /page.html is an empty page.
 *
 * @returns its address, the CSP violations that browsers reported, and close
 */
export async function serve({ mounts = {}, cache = 'no-store', policy = csp, headers = {}, port = 0 } = {}) {
  const roots = { '/wasm/': wasm, '/testdata/': join(wasm, '../testdata'), ...mounts };
  const violations = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    if (path === '/violations') {
      let text = '';
      request.on('data', (d) => { text += d; }).on('end', () => {
        violations.push(text);
        response.writeHead(204).end();
      });
      return;
    }
    if (policy) response.setHeader('Content-Security-Policy', policy);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.setHeader('Cache-Control', cache);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (path === '/page.html') {
      response.setHeader('Content-Type', types['.html']);
      response.end('<!doctype html><html lang="en"><title>infer-prep</title><link rel="icon" href="/none.svg"></html>');
      return;
    }
    if (path === '/none.svg') {
      response.setHeader('Content-Type', types['.svg']);
      response.end('<svg xmlns="http://www.w3.org/2000/svg"/>');
      return;
    }
    const prefix = Object.keys(roots).find((p) => path.startsWith(p));
    const file = prefix && normalize(join(roots[prefix], path.slice(prefix.length)));
    const missing = () => { response.writeHead(404).end(); };
    if (!file || !file.startsWith(normalize(roots[prefix] + sep))) {
      missing();
      return;
    }
    stat(file).then((s) => {
      if (!s.isFile()) {
        missing();
        return;
      }
      response.setHeader('Content-Type', types[extname(file)] ?? 'application/octet-stream');
      response.setHeader('Content-Length', s.size);
      createReadStream(file).pipe(response);
    }, missing);
  });
  await new Promise((resolve, reject) => { server.on('error', reject).listen(port, '127.0.0.1', resolve); });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    violations,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => { server.close(resolve); });
    },
  };
}

const commands = { chromium: ['chrome', 'chromium'], firefox: ['firefox', 'firefox-esr'] };

/**
 * launch starts the browser chromium or firefox without a window. Chromium's
 * sandbox does not run as root, and containers have little shared memory.
 */
export async function launch(name, { args = [] } = {}) {
  const [browser, command] = commands[name];
  const executablePath = execFileSync('/bin/sh', ['-c', `command -v ${command}`], { encoding: 'utf8' }).trim();
  return puppeteer.launch({
    browser, executablePath, headless: true, protocolTimeout: 300_000,
    args: browser === 'chrome' ? ['--no-sandbox', '--disable-dev-shm-usage', ...args] : args,
  });
}

/** open opens a page. Errors that the page does not catch, and its console's errors, go to page.errors. */
export async function open(browser, url) {
  const page = await browser.newPage();
  page.errors = [];
  page.on('pageerror', (e) => { page.errors.push(String(e)); });
  page.on('console', (m) => { if (m.type() === 'error') page.errors.push(m.text()); });
  await page.goto(url);
  return page;
}

/**
 * call calls an exported function of a module that the page's server serves,
 * with values that JSON can hold: in the page, or in a Worker of it.
 */
export function call(page, module, name, args = {}, { worker = false } = {}) {
  return page.evaluate(async (module, name, args, worker) => {
    const { call } = await import('/wasm/browser/page.mjs');
    return call(module, name, args, worker);
  }, module, name, args, worker);
}
