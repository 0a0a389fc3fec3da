import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { isRefusedAddress } from '../../../main/host/fetch/addresses.ts';
import type { Resolve } from '../../../main/host/fetch/connector.ts';
import { createFetch, type HostFetch } from '../../../main/host/fetch/fetch.ts';
import { nextHop } from '../../../main/host/fetch/redirect.ts';
import { quietLog } from '../http/raw.ts';

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

async function serve(handler: RequestListener): Promise<string> {
  const server: Server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function make(options: Partial<Parameters<typeof createFetch>[0]> = {}): HostFetch {
  const fetch = createFetch({ log: quietLog(), ...options });
  open.push(fetch);
  return fetch;
}

/** Returns one list of addresses after another; the last one repeats. */
function resolver(...answers: string[][]): Resolve & { queryCount: number } {
  const resolve = (): ReturnType<Resolve> => {
    const addresses = answers[Math.min(resolve.queryCount, answers.length - 1)] ?? [];
    resolve.queryCount += 1;
    return Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
  };
  resolve.queryCount = 0;
  return resolve;
}

const text = (body: Uint8Array): string => new TextDecoder().decode(body);
const owner = { trust: 'owner' } as const;

describe('non-public address', () => {
  test.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '100.100.100.200',
    '169.254.169.254',
    '168.63.129.16',
    '192.0.0.192',
    '198.18.0.1',
    '224.0.0.1',
    '239.255.255.250',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::',
    '64:ff9b:1::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '100::1',
    'localhost',
    '',
  ])('detects %s', (address) => {
    expect(isRefusedAddress(address)).toBe(true);
  });

  test.each([
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '2606:4700:4700::1111',
    '::ffff:1.1.1.1',
    '64:ff9b::1.1.1.1',
  ])('accepts %s', (address) => {
    expect(isRefusedAddress(address)).toBe(false);
  });

  test.each([
    ['in figures', '127.0.0.1'],
    ['as one decimal number', '2130706433'],
    ['in octal', '0177.0.0.1'],
    ['in hexadecimal', '0x7f.1'],
    ['shortened', '127.1'],
    ['in full-width figures', '１２７.0.0.1'],
    ['as IPv6', '[::1]'],
    ['mapped into IPv6', '[::ffff:127.0.0.1]'],
    ['behind NAT64', '[64:ff9b::127.0.0.1]'],
    ['by its usual name', 'localhost'],
  ])('refuses %s', async (_name, host) => {
    let requestCount = 0;
    const url = await serve((_request, response) => {
      requestCount += 1;
      response.end();
    });
    const { port } = new URL(url);
    await expect(make()(`http://${host}:${port}/`)).rejects.toMatchObject({
      code: 'fetch.refused_address',
      status: 403,
    });
    expect(requestCount).toBe(0);
  });

  test('is refused when a name resolves to it, also beside a public one', async () => {
    for (const addresses of [['10.0.0.1'], ['1.1.1.1', '127.0.0.1'], ['fd00::1'], ['::ffff:127.0.0.1']]) {
      await expect(make({ resolve: resolver(addresses) })('http://name.example/')).rejects.toMatchObject({
        code: 'fetch.refused_address',
      });
    }
  });

  test('is refused for a name that is rebound between two requests', async () => {
    let reached = 0;
    const url = await serve((_request, response) => {
      reached += 1;
      response.end();
    });
    const { port } = new URL(url);
    // The first answer is public with nothing listening; the second is the attacker's target.
    const resolve = resolver(['192.0.2.1'], ['127.0.0.1']);
    const fetch = make({ resolve });
    await expect(fetch(`http://rebind.example:${port}/`, { timeoutMs: 200 })).rejects.toMatchObject({
      code: 'fetch.refused_address',
    });
    await expect(fetch(`http://rebind.example:${port}/`, { timeoutMs: 200 })).rejects.toMatchObject({
      code: 'fetch.refused_address',
    });
    expect(reached).toBe(0);
    expect(resolve.queryCount).toBe(2);
  });

  test('is not reached over a connection of the owner', async () => {
    const url = await serve((_request, response) => void response.end('inside'));
    const fetch = make();
    expect(text((await fetch(url, owner)).body)).toBe('inside');
    await expect(fetch(url)).rejects.toMatchObject({ code: 'fetch.refused_address' });
  });

  test('is reachable only while the setting allows it', async () => {
    const url = await serve((_request, response) => void response.end('inside'));
    let allowed = true;
    const fetch = make({ allowPrivate: () => allowed });
    expect((await fetch(url)).status).toBe(200);
    allowed = false;
    await expect(fetch(url)).rejects.toMatchObject({ code: 'fetch.refused_address' });
  });
});

describe('redirect', () => {
  test('is followed up to the limit, and the final address is returned', async () => {
    const url = await serve((request, response) => {
      const step = Number(request.url?.slice(1));
      if (step < 4) response.writeHead(302, { location: `/${step + 1}` }).end('on');
      else response.end('there');
    });
    const fetch = make();
    expect(await fetch(`${url}/0#part`, owner)).toMatchObject({ status: 200, url: `${url}/4` });
    await expect(fetch(`${url}/0`, { ...owner, maxRedirects: 3 })).rejects.toMatchObject({ code: 'fetch.failed' });
  });

  test('is returned as a response with redirect: manual', async () => {
    const url = await serve((_request, response) => response.writeHead(302, { location: '/on' }).end('elsewhere'));
    const reply = await make()(`${url}/0`, { ...owner, redirect: 'manual' });
    expect(reply).toMatchObject({ status: 302, url: `${url}/0`, headers: { location: '/on' } });
    expect(new TextDecoder().decode(reply.body)).toBe('elsewhere');
  });

  test('converts POST to GET like browsers', async () => {
    const seen: string[] = [];
    const url = await serve((request, response) => {
      let body = '';
      request.on('data', (part) => (body += String(part)));
      request.on('end', () => {
        seen.push(`${request.method} ${request.url} ${request.headers['content-type'] ?? '-'} ${body}`);
        const status = Number(request.url?.slice(1));
        if (status > 0) response.writeHead(status, { location: '/' }).end();
        else response.end();
      });
    });
    const fetch = make();
    for (const status of [301, 303, 307, 308]) {
      await fetch(`${url}/${status}`, {
        ...owner,
        method: 'POST',
        body: 'x',
        headers: { 'Content-Type': 'text/plain' },
      });
    }
    expect(seen.filter((line) => line.includes(' / '))).toEqual([
      'GET / - ',
      'GET / - ',
      'POST / text/plain x',
      'POST / text/plain x',
    ]);
    seen.length = 0;
    for (const status of [301, 302, 303])
      await fetch(`${url}/${status}`, { ...owner, method: 'POST', body: 'x', keepMethod: true });
    expect(seen.filter((line) => line.includes(' / '))).toEqual(['POST / - x', 'POST / - x', 'GET / - ']);
  });

  test('refuses another non-public host although the owner entered the first one', async () => {
    let reached = 0;
    const inner = await serve((_request, response) => {
      reached += 1;
      response.end('inner');
    });
    const otherAddress = inner.replace('127.0.0.1', '127.0.0.2');
    const url = await serve((_request, response) => void response.writeHead(307, { location: otherAddress }).end());
    await expect(make()(url, { ...owner, method: 'POST', body: 'x' })).rejects.toMatchObject({
      code: 'fetch.refused_address',
    });
    expect(reached).toBe(0);
  });

  test('drops the credentials for another origin', async () => {
    let headers: Record<string, unknown> = {};
    const target = await serve((request, response) => {
      headers = request.headers;
      response.end();
    });
    const url = await serve((_request, response) => void response.writeHead(302, { location: `${target}/` }).end());
    const address = url.replace('//', '//ann:secret@');
    const reply = await make()(address, {
      ...owner,
      headers: { Cookie: 'a=b', 'X-Api-Key': 'k', 'X-Harmless': 'yes' },
    });
    expect(headers).toMatchObject({ 'x-harmless': 'yes' });
    for (const name of ['authorization', 'cookie', 'x-api-key']) expect(headers).not.toHaveProperty(name);
    expect(reply.url).not.toContain('secret');
  });

  test('refuses a non-public address on every hop', async () => {
    const url = await serve((request, response) => {
      const location = decodeURIComponent(request.url?.slice(1) ?? '');
      if (location === '') response.end('there');
      else response.writeHead(302, { location }).end();
    });
    const { port } = new URL(url);
    // 127.0.0.1 acts as a public address here, all others of this computer as private ones.
    const isRefused = (address: string): boolean => address !== '127.0.0.1';
    const resolve = resolver(['127.0.0.1'], ['127.0.0.2']);
    const fetch = make({ isRefused, resolve });
    expect(text((await fetch(`${url}/${encodeURIComponent(`${url}/`)}`)).body)).toBe('there');
    for (const target of [`http://127.0.0.2:${port}/`, `http://[::1]:${port}/`, `http://2130706434:${port}/`]) {
      await expect(fetch(`${url}/${encodeURIComponent(target)}`)).rejects.toMatchObject({
        code: 'fetch.refused_address',
      });
    }
    const self = `http://name.example:${port}/`;
    await expect(fetch(`${self}${encodeURIComponent(self.replace('name', 'other'))}`)).rejects.toMatchObject({
      code: 'fetch.refused_address',
    });
    expect(resolve.queryCount).toBe(2);
  });

  test('refuses to leave TLS with credentials or a body', () => {
    const hop = { url: new URL('https://a.example/x'), method: 'GET', headers: {}, body: undefined };
    expect(nextHop(hop, 302, 'http://a.example/')?.url.href).toBe('http://a.example/');
    expect(() => nextHop({ ...hop, headers: { authorization: 'Bearer x' } }, 302, 'http://a.example/')).toThrow(
      /unencrypted/,
    );
    expect(() => nextHop({ ...hop, method: 'POST', body: 'x' }, 307, 'http://a.example/')).toThrow(/unencrypted/);
    expect(nextHop({ ...hop, method: 'POST', body: 'x' }, 303, 'http://a.example/')?.body).toBeUndefined();
  });

  test.each(['file:///etc/passwd', 'ftp://a.example/', 'data:text/plain,x', 'http://'])(
    'refuses a redirect to %s and the address itself',
    async (location) => {
      const url = await serve((_request, response) => void response.writeHead(302, { location }).end());
      await expect(make()(url, owner)).rejects.toMatchObject({ code: 'fetch.failed' });
      await expect(make()(location, owner)).rejects.toMatchObject({ code: 'fetch.failed' });
    },
  );
});

describe('response', () => {
  test('has status, headers and bytes', async () => {
    const url = await serve((request, response) => {
      response.writeHead(404, { 'X-One': 'a', 'Set-Cookie': ['a=1', 'b=2'] });
      request.pipe(response);
    });
    const reply = await make()(`${url}/p?q=1`, { ...owner, method: 'put', body: new Uint8Array([0, 255, 1]) });
    expect(reply).toMatchObject({
      status: 404,
      headers: { 'x-one': 'a', 'set-cookie': 'a=1\nb=2' },
      url: `${url}/p?q=1`,
    });
    expect([...reply.body]).toEqual([0, 255, 1]);
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('decodes %s and limits the decoded size', async (encoding, pack) => {
    const url = await serve((request, response) => {
      const size = request.url === '/bomb' ? 50_000_000 : 2000;
      response.writeHead(200, { 'content-encoding': encoding }).end(pack(Buffer.alloc(size, 'x')));
    });
    const fetch = make();
    const reply = await fetch(url, owner);
    expect(text(reply.body)).toBe('x'.repeat(2000));
    expect(reply.headers).not.toHaveProperty('content-encoding');
    await expect(fetch(`${url}/bomb`, owner)).rejects.toMatchObject({ code: 'fetch.too_large', status: 502 });
  });

  test('accepts an encoding without a body, to HEAD or with 304', async () => {
    const url = await serve(
      (request, response) =>
        void response.writeHead(request.method === 'HEAD' ? 200 : 304, { 'content-encoding': 'gzip' }).end(),
    );
    expect((await make()(url, { ...owner, method: 'HEAD' })).body).toHaveLength(0);
    expect((await make()(url, owner)).status).toBe(304);
  });

  test('rejects a response that is too large, endless or badly encoded', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/bad') return void response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip');
      if (request.url === '/odd') return void response.writeHead(200, { 'content-encoding': 'compress' }).end('?');
      const pump = setInterval(() => response.write(Buffer.alloc(10_000)), 1);
      response.once('close', () => clearInterval(pump));
    });
    const fetch = make();
    await expect(fetch(`${url}/endless`, { ...owner, maxBytes: 100_000 })).rejects.toMatchObject({
      code: 'fetch.too_large',
    });
    await expect(fetch(`${url}/bad`, owner)).rejects.toMatchObject({ code: 'fetch.failed' });
    await expect(fetch(`${url}/odd`, owner)).rejects.toMatchObject({ code: 'fetch.failed' });
  });

  test('follows informational responses', async () => {
    const url = await serve((_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.writeProcessing();
      response.writeHead(201, { 'x-one': 'a' }).end('it');
    });
    const reply = await make()(url, owner);
    expect(reply).toMatchObject({ status: 201, headers: { 'x-one': 'a' } });
    expect(text(reply.body)).toBe('it');
    expect(reply.headers).not.toHaveProperty('link');
  });

  test('does not read the body of a redirect to its end', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/there') return void response.end('arrived');
      response.writeHead(302, { location: '/there' });
      if (request.url === '/short') return void response.end('x'.repeat(1000));
      const pump = setInterval(() => response.write(Buffer.alloc(10_000)), 1);
      response.once('close', () => clearInterval(pump));
    });
    const fetch = make();
    expect(text((await fetch(`${url}/short`, owner)).body)).toBe('arrived');
    expect(text((await fetch(`${url}/endless`, owner)).body)).toBe('arrived');
  });

  test('aborts a missing, incomplete or slow response at the timeout', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/never') return;
      response.write('some');
      if (request.url === '/drip') {
        const writeInterval = setInterval(() => response.write('.'), 10);
        response.once('close', () => clearInterval(writeInterval));
      }
    });
    for (const path of ['/never', '/half', '/drip']) {
      await expect(make()(url + path, { ...owner, timeoutMs: 150 })).rejects.toMatchObject({
        code: 'fetch.timeout',
        status: 504,
      });
    }
  });

  test('is not awaited after a cancellation', async () => {
    const arrived = Promise.withResolvers<void>();
    const disconnected = Promise.withResolvers<void>();
    const url = await serve((_request, response) => {
      response.once('close', () => disconnected.resolve());
      arrived.resolve();
    });
    const abort = new AbortController();
    const fetchPromise = make()(url, { ...owner, signal: abort.signal });
    await arrived.promise;
    abort.abort();
    await expect(fetchPromise).rejects.toMatchObject({ code: 'fetch.failed' });
    await disconnected.promise;
    await expect(make()(url, { ...owner, signal: abort.signal })).rejects.toMatchObject({ code: 'fetch.failed' });
  });
});

test('reports an unreachable host without path, query or credentials', async () => {
  const log = quietLog();
  const server = createTlsServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const error = await make({ log })(`https://ann:hunter2@127.0.0.1:${port}/hook/hunter2?token=hunter2`, owner).then(
    () => undefined,
    (reason: unknown) => reason as Error & { detail: string },
  );
  expect(error).toMatchObject({
    code: 'fetch.failed',
    detail: expect.stringContaining('nothing is listening on') as string,
  });
  expect(`${error?.detail} ${JSON.stringify(log.entries())}`).not.toContain('hunter2');
  expect(log.entries()).toHaveLength(1);
  await expect(
    make({ resolve: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })) })('http://no.example/'),
  ).rejects.toMatchObject({
    detail: expect.stringContaining('wasn’t found') as string,
  });
});
