import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStaticPages } from '../../../main/host/http/static-pages.ts';
import { open, request, type Opened } from './raw.ts';

let root = '';
let opened: Opened;
const script = `console.log(${JSON.stringify('x'.repeat(500))});`;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'pages-'));
  const folder = join(root, 'built');
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(root, 'secret.txt'), 'secret');
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>app</title>');
  writeFileSync(join(folder, '.hidden.txt'), 'secret');
  writeFileSync(join(folder, 'empty.txt'), '');
  writeFileSync(join(folder, 'assets/index-B4kz_9xQ.js'), script);
  writeFileSync(join(folder, 'assets/index-B4kz_9xQ.js.gz'), gzipSync(script));
  symlinkSync(join(root, 'secret.txt'), join(folder, 'link.txt'));
  opened = await open({ handler: { http: createStaticPages({ folder }) } });
});
afterAll(async () => {
  await opened[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

describe('pages', () => {
  test.each(['/', '/inbox', '/services/push/?tab=1', '/data/tables/public.plants'])(
    'serves the entry page at %s',
    async (path) => {
      const response = await fetch(opened.url + path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      expect(await response.text()).toContain('<title>app</title>');
    },
  );

  test.each(['/', '/nothing.js', '/assets/index-B4kz_9xQ.js'])('sends the strict policy at %s', async (path) => {
    const { headers } = await fetch(opened.url + path);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  });

  test('explains that pages are not built yet', async () => {
    await using empty = await open({ handler: { http: createStaticPages({ folder: join(root, 'nowhere') }) } });
    const response = await fetch(empty.url);
    expect(response.status).toBe(503);
    expect(await response.text()).toContain('npm start');
  });
});

describe('files', () => {
  test('caches files with a hash permanently and compresses them on request', async () => {
    const response = await fetch(`${opened.url}/assets/index-B4kz_9xQ.js`, { headers: { 'accept-encoding': 'gzip' } });
    expect(response.headers.get('cache-control')).toContain('immutable');
    expect(response.headers.get('content-type')).toContain('text/javascript');
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(Number(response.headers.get('content-length'))).toBeLessThan(script.length);
    expect(await response.text()).toBe(script);
    for (const accepted of ['identity', 'gzip;q=0, br']) {
      const fullResponse = await fetch(`${opened.url}/assets/index-B4kz_9xQ.js`, {
        headers: { 'accept-encoding': accepted },
      });
      expect(fullResponse.headers.get('content-encoding')).toBeNull();
      expect(await fullResponse.text()).toBe(script);
    }
  });

  test('are answered with 304 when unchanged', async () => {
    const tag = (await fetch(opened.url)).headers.get('etag') ?? '';
    const second = await request(opened.listener.port, 'GET /', ['Host: localhost', `If-None-Match: "x", W/${tag}`]);
    expect(second.status).toBe(304);
    expect((await request(opened.listener.port, 'GET /', ['Host: localhost', 'If-None-Match: "x"'])).status).toBe(200);
  });

  test('are described to HEAD without body, and may be empty', async () => {
    const head = await fetch(`${opened.url}/assets/index-B4kz_9xQ.js`, { method: 'HEAD' });
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0);
    expect(await head.text()).toBe('');
    expect(await (await fetch(`${opened.url}/empty.txt`)).text()).toBe('');
  });

  test('cannot be written', async () => {
    const response = await fetch(opened.url, { method: 'POST' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
  });

  test.each([
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/..\\secret.txt',
    '/%5c..%5csecret.txt',
    '/link.txt',
    '/.hidden.txt',
    '/index.html%00.txt',
    '/%ff.txt',
    `/${'a'.repeat(300)}.txt`,
    '/index.html/x.txt',
    '/assets.',
  ])('does not find %s', async (path) => {
    const response = await request(opened.listener.port, `GET ${path}`, ['Host: localhost']);
    expect(response.status).toBe(404);
    expect(response.text).not.toContain('secret\n');
    expect(response.text).toContain('There is no such page.');
  });
});
