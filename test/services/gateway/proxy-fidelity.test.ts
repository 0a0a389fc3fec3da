import { once } from 'node:events';
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import { connect as connectPlainly, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { lan, openHome, type Home } from '../../support/gateway/phone.ts';
import { admin, adminAuthorization } from '../../support/host.ts';

/** Bytes that the upstream received, as text, and its response to each request. */
let received: string[] = [];
let reply: (socket: Socket, request: string, connection: number) => void = () => undefined;
let connections = 0;
let upstream: Server;
let home: Home;
const open = 'https://opn.nas.local';
const signed = 'https://my-app.nas.local';

beforeAll(async () => {
  upstream = createServer((socket) => {
    const connection = (connections += 1);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      const request = chunk.toString('latin1');
      received.push(request);
      reply(socket, request, connection);
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const address = `http://127.0.0.1:${String((upstream.address() as AddressInfo).port)}`;
  const breaking = fixtureService('lamp', () => ({
    http: (_request, response) => {
      response.writeHead(200, { 'Content-Length': 100 });
      response.write('ok', () => response.destroy());
    },
  }));
  home = await openHome({
    services: [breaking, control, gateway],
    settings: {
      outside: [`opn=${address}`, `my-app=${address}`],
      open: ['opn', 'lamp'],
      shared: ['my-app'],
    },
  });
}, 60_000);
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  upstream.close();
});
beforeEach(async () => {
  received = [];
  reply = (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  await home.change({ publicPaths: [], outsideHosts: [], strictTransport: false });
});

async function overHttp2(host: string): Promise<{ headers: IncomingHttpHeaders; isWhole: boolean; code: number }> {
  const session: ClientHttp2Session = home.http2(host);
  try {
    const stream = session.request({ ':path': '/' });
    stream.on('error', () => undefined);
    let headers: IncomingHttpHeaders = {};
    stream.once('response', (response) => (headers = response));
    let isWhole = false;
    stream.once('end', () => (isWhole = stream.rstCode === 0));
    stream.resume();
    await new Promise((resolve) => stream.once('close', resolve));
    return { headers, isWhole: isWhole && stream.rstCode === 0, code: stream.rstCode };
  } finally {
    session.destroy();
  }
}

describe('an aborted response', () => {
  it.each([
    ['in a chunk', 'Transfer-Encoding: chunked\r\n\r\n64\r\nok'],
    ['before the last chunk', 'Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n'],
    ['before its announced length', 'Content-Length: 100\r\n\r\nok'],
  ])('resets the stream of HTTP/2: %s', async (_name, rest) => {
    reply = (socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`);
    expect(await overHttp2('opn.nas.local')).toMatchObject({ isWhole: false, code: 2 });
    await expect(home.ask(`${open}/`)).rejects.toThrow();
  });

  it('resets the stream of HTTP/2 when a service of Homeport destroys its response', async () => {
    expect(await overHttp2('lamp.nas.local')).toMatchObject({ isWhole: false, code: 2 });
  });

  it('accepts a response that ends with its connection', async () => {
    reply = (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nall of it');
    expect(await overHttp2('opn.nas.local')).toMatchObject({ isWhole: true, code: 0 });
  });
});

describe('the Authorization header of an upstream', () => {
  const authorizationSeen = (): string | undefined =>
    /^authorization: (.*)$/im.exec(received.at(-1) ?? '')?.[1]?.trim();

  it.each([
    'Bearer token-of-the-upstream',
    'Digest username="x"',
    'Basic bm9ib2R5OnNlY3JldA==',
    'MediaBrowser Token=1',
  ])('is forwarded with a valid session: %s', async (authorization) => {
    const Cookie = await home.signIn(signed, admin.name, admin.password);
    for (let time = 0; time < 8; time += 1)
      expect((await home.ask(`${signed}/`, { headers: { Cookie, Authorization: authorization } })).status).toBe(200);
    expect(authorizationSeen()).toBe(authorization);
    const verified = {
      headers: {
        Cookie: await home.signIn('https://nas.local', admin.name, admin.password),
        Authorization: authorization,
      },
    };
    expect((await home.ask('https://nas.local/.homeport/verify', verified)).status).toBe(200);
  });

  it('is forwarded with a WebSocket', async () => {
    const Cookie = await home.signIn(signed, admin.name, admin.password);
    reply = (socket) => socket.end('HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n');
    await home.ask(`${signed}/ws`, {
      headers: { Cookie, Authorization: 'Bearer abc', Connection: 'Upgrade', Upgrade: 'websocket' },
    });
    expect(authorizationSeen()).toBe('Bearer abc');
  });

  it('is not forwarded when it is a credential of Homeport, and is rejected when it is invalid without a session', async () => {
    const Cookie = await home.signIn(signed, admin.name, admin.password);
    await home.ask(`${signed}/`, { headers: { Cookie, Authorization: adminAuthorization } });
    expect(authorizationSeen()).toBeUndefined();
    await home.ask(`${signed}/`, { headers: { Authorization: adminAuthorization } });
    expect(authorizationSeen()).toBeUndefined();
    expect((await home.ask(`${signed}/`, { headers: { Authorization: 'Bearer abc' } })).status).toBe(401);
  });
});

describe('header bytes', () => {
  const name = Buffer.from('attachment; filename="Grüße.txt"').toString('latin1');

  it('passes response headers unchanged over HTTP/1.1 and HTTP/2', async () => {
    reply = (socket) =>
      socket.write(
        Buffer.from(`HTTP/1.1 200 OK\r\nContent-Disposition: ${name}\r\nContent-Length: 2\r\n\r\nok`, 'latin1'),
      );
    expect((await home.ask(`${open}/`)).headers['content-disposition']).toBe(name);
    expect((await overHttp2('opn.nas.local')).headers['content-disposition']).toBe(name);
  });

  it('passes request headers unchanged to the upstream', async () => {
    await home.ask(`${open}/`, { headers: { 'X-Name': name } });
    expect(received[0]).toContain(`X-Name: ${name}`);
  });

  it('are accepted up to 64 KB in a response, and more is reported as the reason', async () => {
    reply = (socket) => socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(50_000)}\r\nContent-Length: 2\r\n\r\nok`);
    expect((await home.ask(`${open}/`)).headers['x-long']).toHaveLength(50_000);
    reply = (socket) => socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(90_000)}\r\nContent-Length: 2\r\n\r\nok`);
    const { status, body } = await home.ask(`${open}/`);
    expect([status, body]).toEqual([502, expect.stringContaining('more than 64 KB of headers')]);
  });
});

describe('the body of a request', () => {
  it.each(['POST', 'PUT', 'PATCH', 'PROPFIND'])('has Content-Length 0 when it is empty: %s', async (method) => {
    await home.ask(`${open}/hook`, { method, headers: { 'Content-Length': '0' } });
    const raw = await home.dial('opn.nas.local');
    raw.write(`${method} /hook HTTP/1.1\r\nHost: opn.nas.local:${String(home.port)}\r\nConnection: close\r\n\r\n`);
    await text(raw);
    for (const request of received) {
      expect(request).toMatch(/content-length: 0/i);
      expect(request).not.toMatch(/transfer-encoding/i);
    }
    expect(received).toHaveLength(2);
  });

  it.each(['GET', 'DELETE', 'OPTIONS'])('has no Content-Length for methods without a body: %s', async (method) => {
    await home.ask(`${open}/`, { method });
    expect(received[0]).not.toMatch(/content-length|transfer-encoding/i);
  });
});

describe('malformed response heads', () => {
  it.each([
    [
      'a length beside chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    ],
    ['lines that end in LF', 'HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 2\n\nok'],
    ['equal lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\r\ncontent-length: 2\r\n\r\nok'],
    ['a list of equal lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok'],
    ['white space before a colon', 'HTTP/1.1 200 OK\r\nX-A : 1\r\nContent-Length\t: 2\r\n\r\nok'],
    ['bytes behind the answer', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok<!-- more -->'],
    [
      'equal lengths after an interim answer',
      'HTTP/1.1 102 P\r\n\r\nHTTP/1.1 200 OK\nContent-Length: 2\nContent-Length: 2\n\nok',
    ],
    ['a folded header', 'HTTP/1.1 200 OK\r\nX-Old: a\r\n  b\r\nContent-Length: 2\r\n\r\nok'],
  ])('are repaired: %s', async (_name, answer) => {
    reply = (socket) => socket.write(answer);
    const { status, headers, body } = await home.ask(`${open}/`);
    expect([status, body]).toEqual([200, 'ok']);
    expect(headers['transfer-encoding'] !== undefined && headers['content-length'] !== undefined).toBe(false);
  });

  it('do not reuse the connection after ambiguous framing', async () => {
    reply = (socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n' +
          'HTTP/1.1 200 Smuggled\r\nContent-Length: 4\r\n\r\nevil',
      );
    await home.ask(`${open}/`);
    reply = (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood');
    expect((await home.ask(`${open}/`)).body).toBe('good');
  });

  it('are repaired on a reused connection, and in pieces', async () => {
    const first = connections;
    reply = (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n1');
    expect((await home.ask(`${open}/`)).body).toBe('1');
    reply = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Le');
      setImmediate(() => socket.write('ngth : 2\r'));
      setTimeout(() => socket.write('\n\r\nok'), 20);
    };
    expect((await home.ask(`${open}/`)).body).toBe('ok');
    expect(connections).toBeLessThanOrEqual(first + 1);
  });

  it('are refused when their lengths differ', async () => {
    reply = (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!');
    expect((await home.ask(`${open}/`)).status).toBe(502);
  });

  it.each([
    ['HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok', 200],
    ['\r\nHTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', 200],
    ['HTTP/1.1 299 Odd\r\nContent-Length: 2\r\n\r\nok', 299],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0002;a="b"\r\nok\r\n0\r\n\r\n', 200],
    ['HTTP/1.1 200 OK\r\nX-A: a\x01b\r\nContent-Length: 2\r\n\r\nok', 502],
    ['HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 2\r\n\r\nok', 502],
    ['HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\nok', 502],
    ['HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok', 502],
    ['HTTP/1.1 999 Denied\r\nContent-Length: 2\r\n\r\nok', 502],
    ['ICY 200 OK\r\n\r\nok', 502],
  ])('are forwarded with a status line of this host: %j', async (answer, status) => {
    reply = (socket) => socket.write(answer);
    const request = home.open(`${open}/`).end();
    const [received] = (await once(request, 'response')) as [IncomingMessage];
    const body = await text(received);
    const reason = status === 299 ? 'unknown' : STATUS_CODES[status];
    expect([received.statusCode, received.statusMessage]).toEqual([status, reason]);
    expect(body).toContain(status === 502 ? 'isn’t valid HTTP' : 'ok');
  });

  it('are reported when they are not HTTP', async () => {
    reply = (socket) => socket.write('SSH-2.0-OpenSSH\r\n');
    const { status, body } = await home.ask(`${open}/`);
    expect([status, body]).toEqual([502, expect.stringContaining('isn’t valid HTTP')]);
  });
});

describe('a connection that the upstream closed while it was idle', () => {
  it('is replaced for a GET, and not for a POST', async () => {
    reply = (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst');
    await home.ask(`${open}/`);
    const last = connections;
    reply = (socket, _request, connection) => {
      if (connection <= last) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond');
    };
    expect(await home.ask(`${open}/`)).toMatchObject({ status: 200, body: 'second' });
    const newest = connections;
    reply = (socket, _request, connection) => {
      if (connection <= newest) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthird');
    };
    expect((await home.ask(`${open}/`, { method: 'POST' })).status).toBe(502);
  });
});

describe('pages with Referrer-Policy: no-referrer', () => {
  it('accepts forms of the page and rejects those of other pages', async () => {
    const Cookie = await home.signIn(signed, admin.name, admin.password);
    const form = async (site?: string): Promise<number> => {
      const headers = { Cookie, Origin: 'null', ...(site === undefined ? {} : { 'Sec-Fetch-Site': site }) };
      return (await home.ask(`${signed}/form`, { method: 'POST', headers })).status;
    };
    expect([await form('same-origin'), await form('cross-site'), await form('same-site'), await form()]).toEqual([
      ...[200, 401, 401, 401],
    ]);
    const gatewayHeaders = { Cookie: 'theirs=1', Origin: 'null', 'Sec-Fetch-Site': 'same-origin' };
    await home.ask(`${open}/form`, { method: 'POST', headers: gatewayHeaders });
    expect(received.at(-1)).toMatch(/^cookie: theirs=1/im);
    await home.ask(`${open}/form`, { method: 'POST', headers: { ...gatewayHeaders, 'Sec-Fetch-Site': 'cross-site' } });
    expect(received.at(-1)).not.toMatch(/^cookie:/im);
  });
});

describe('without a session', () => {
  it('redirects the form of a browser to the sign-in, and rejects programs', async () => {
    const accept = { Accept: 'text/html,application/xhtml+xml' };
    const redirect = await home.ask(`${signed}/form`, {
      method: 'POST',
      headers: { ...accept, 'Sec-Fetch-Mode': 'navigate' },
    });
    expect([redirect.status, redirect.headers.location]).toEqual([303, '/.homeport/sign-in?to=%2Fform']);
    const script = { ...accept, 'Sec-Fetch-Mode': 'cors' };
    expect((await home.ask(`${signed}/form`, { method: 'POST', headers: script })).status).toBe(401);
    expect((await home.ask(`${signed}/form`, { method: 'POST', headers: { Accept: '*/*' } })).status).toBe(401);
  });

  it('serves public paths, and no path that a server may interpret differently', async () => {
    await home.change({ publicPaths: ['my-app=/share/', 'my-app=/hook'] });
    const statuses = async (...paths: string[]): Promise<number[]> =>
      Promise.all(paths.map(async (path) => (await raw(path)).status));
    const raw = async (path: string): Promise<{ status: number }> => {
      const socket = await home.dial('my-app.nas.local');
      socket.write(`GET ${path} HTTP/1.1\r\nHost: my-app.nas.local:${String(home.port)}\r\nConnection: close\r\n\r\n`);
      return { status: Number((await text(socket)).slice(9, 12)) };
    };
    expect(await statuses('/share/x', '/share/', '/hook?a=1', '/share/a/b?c=/../d')).toEqual([200, 200, 200, 200]);
    const closed = [
      '/',
      '/hook/x',
      '/share',
      '/share/../admin',
      '/share/%2e%2e/admin',
      '/share//x',
      '/share/..%2fadmin',
    ];
    expect(await statuses(...closed, '/share/\\..\\admin', '/share/..;/admin')).toEqual(
      [...closed, 1, 1].map(() => 401),
    );
  });
});

describe('other requests', () => {
  it('sends the configured Host to the upstream', async () => {
    await home.change({ outsideHosts: ['opn=127.0.0.1:8080'] });
    await home.ask(`${open}/`);
    expect(received[0]?.match(/^host:.*$/gim)).toEqual(['Host: 127.0.0.1:8080']);
    expect(received[0]).toContain(`X-Forwarded-Host: opn.nas.local:${String(home.port)}`);
  });

  it('keeps cookies without an equals sign', async () => {
    const Cookie = await home.signIn(signed, admin.name, admin.password);
    await home.ask(`${signed}/`, { headers: { Cookie: `flag; ${Cookie}; a=1; b` } });
    expect(received.at(-1)).toMatch(/^cookie: flag; a=1; b\r$/im);
  });

  it('keeps the path and the query byte for byte', async () => {
    const socket = await home.dial('opn.nas.local');
    socket.write(
      `GET //a/../b/%2F%e4?? HTTP/1.1\r\nHost: opn.nas.local:${String(home.port)}\r\nConnection: close\r\n\r\n`,
    );
    await text(socket);
    expect(received[0]).toMatch(/^GET \/\/a\/\.\.\/b\/%2F%e4\?\? HTTP\/1\.1\r\n/);
  });

  it('are rejected with the method TRACE', async () => {
    expect((await home.ask('https://nas.local/', { method: 'TRACE' })).status).toBe(405);
    expect((await home.ask(`${open}/`, { method: 'TRACE' })).status).toBe(405);
  });

  it('explains HTTP requests without TLS', async () => {
    for (const port of [home.port, home.host.port('lamp')]) {
      const socket = connectPlainly({ host: lan, port });
      socket.write(`GET / HTTP/1.1\r\nHost: ${lan}:${String(port)}\r\n\r\n`);
      const response = await text(socket);
      expect(response).toMatch(/^HTTP\/1\.1 400 /);
      expect(response).toContain('https://');
    }
  });

  it('have an HSTS header for names of services, and for the name of the computer when the setting is enabled', async () => {
    const getHsts = async (host: string): Promise<unknown> =>
      (await home.ask(`https://${host}/`)).headers['strict-transport-security'];
    expect(await getHsts('opn.nas.local')).toBe('max-age=31536000; includeSubDomains');
    expect(await getHsts('my-app.nas.local')).toBe('max-age=31536000; includeSubDomains');
    expect(await getHsts('nas.local')).toBeUndefined();
    expect(await getHsts(`${lan}:${String(home.port)}`)).toBeUndefined();
    await home.change({ strictTransport: true });
    expect(await getHsts('opn.nas.local')).toBe('max-age=31536000; includeSubDomains');
    expect(await getHsts('nas.local')).toBe('max-age=31536000');
    expect(await getHsts(`${lan}:${String(home.port)}`)).toBeUndefined();
  });
});
