import { once } from 'node:events';
import { Agent, get, request as send, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, test, vi } from 'vitest';
import { Problem } from '../../../services/contracts/problem.ts';
import { bindAll } from '../../../main/host/http/bind.ts';
import { PortTaken } from '../../../main/host/http/port-unavailable.ts';
import { isMissing } from '../../support/requirements.ts';
import { dial, readAll, exchange, open, quietLog, request } from './raw.ts';

const hasV6 = Object.values(networkInterfaces()).some(
  (list) => list?.some((entry) => entry.address === '::1') === true,
);

describe('listener addresses', () => {
  test('shares one port on both families', async () => {
    await using opened = await open();
    const { addresses, port } = opened.listener;
    expect(addresses).toContain(`127.0.0.1:${port}`);
    expect((await fetch(opened.url)).status).toBe(200);
    if (isMissing(hasV6)) return;
    expect(addresses).toContain(`[::1]:${port}`);
    expect((await fetch(`http://[::1]:${port}/`)).status).toBe(200);
  });

  test('omits a missing address family', async () => {
    // 2001:db8::/32 is reserved for documentation: no computer has such an address.
    await using opened = await open({ hosts: ['127.0.0.1', '2001:db8::1'] });
    expect(opened.listener.addresses).toEqual([`127.0.0.1:${opened.listener.port}`]);
    expect(opened.log.entries()).toContainEqual(
      expect.objectContaining({ level: 'debug', message: 'listener address skipped' }),
    );
  });

  test('fails with a message when none exists on this computer', async () => {
    await expect(open({ hosts: ['2001:db8::1'] })).rejects.toMatchObject({ code: 'listener.no_address' });
  });
});

describe('port in use', () => {
  test('names this process and offers a free one', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    try {
      const error = await open({ port, avoidPorts: [port + 1] }).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(PortTaken);
      const portError = error as PortTaken;
      expect(portError).toMatchObject({ code: 'listener.port_taken', status: 409, port });
      expect(portError.fields['port']).toBeDefined();
      expect(portError.suggestedPort).toBeGreaterThan(port + 1);
      expect(portError.detail).toContain(String(portError.suggestedPort));
      await using next = await open({ port: portError.suggestedPort ?? 0 });
      expect((await fetch(next.url)).status).toBe(200);
      if (process.platform === 'linux') {
        expect(portError.holder?.pid).toBe(process.pid);
        expect(portError.detail).toContain(`process ${process.pid}`);
      }
    } finally {
      holder.close();
    }
  });

  test.skipIf(isMissing(hasV6))('leaves nothing bound when only the second family is in use', async () => {
    const holder = createServer().listen({ port: 0, host: '::1', ipv6Only: true });
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    await expect(open({ port })).rejects.toMatchObject({ code: 'listener.port_taken' });
    holder.close();
    await once(holder, 'close');
    await using opened = await open({ port });
    expect(opened.listener.addresses).toHaveLength(2);
  });

  test('explains a port reserved for administrators', async () => {
    const forbidding = (): Server => {
      const server = createServer();
      server.listen = () => {
        queueMicrotask(() => server.emit('error', Object.assign(new Error('listen EACCES'), { code: 'EACCES' })));
        return server;
      };
      return server;
    };
    await expect(bindAll(forbidding, { hosts: ['127.0.0.1'], port: 80, log: quietLog() })).rejects.toMatchObject({
      code: 'listener.port_forbidden',
      detail: expect.stringContaining('1024') as string,
    });
  });
});

describe('handler', () => {
  test('can be removed and replaced while listening', async () => {
    await using opened = await open({ handler: undefined });
    const answer = await fetch(opened.url);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(await answer.json()).toMatchObject({ error: { code: 'listener.not_running' } });
    opened.listener.replaceHandler({ http: (_request, response) => void response.end('back') });
    expect(await (await fetch(opened.url)).text()).toBe('back');
    opened.listener.replaceHandler(undefined);
    expect((await fetch(opened.url)).status).toBe(503);
  });

  test('answers an exception with 500 and an id that the log explains', async () => {
    await using opened = await open();
    // The types forbid an async function here, but it still happens.
    const rejecting = (() => Promise.reject(new Error('inner detail'))) as unknown as RequestListener;
    const throwing = (): never => {
      throw new Error('inner detail');
    };
    for (const http of [throwing, rejecting]) {
      opened.listener.replaceHandler({ http });
      const answer = await fetch(opened.url);
      const text = await answer.text();
      expect(answer.status).toBe(500);
      expect(text).not.toContain('inner');
      const id = /ID ([0-9A-Za-z]{12})/.exec(text)?.[1];
      expect(opened.log.recent({ text: String(id) })[0]?.fields).toMatchObject({ error: { message: 'inner detail' } });
    }
  });

  test('may write after its client disconnected', async () => {
    let upload: Promise<unknown> | undefined;
    await using opened = await open({
      handler: {
        http: (_request, response) => {
          response.write('one');
          upload = once(response, 'close').then(() => {
            for (let count = 0; count < 5; count += 1) response.write('two');
            response.end('three');
          });
        },
      },
    });
    const socket = await dial(opened.listener.port);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'data');
    socket.resetAndDestroy();
    await upload;
    opened.listener.replaceHandler({ http: (_request, response) => void response.end() });
    expect((await fetch(opened.url)).status).toBe(200);
  });

  test('answers upgrade requests normally without WebSocket', async () => {
    await using opened = await open({ handler: { http: (_request, response) => void response.end('plain') } });
    const { status, text } = await request(opened.listener.port, 'GET /', [
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: websocket',
    ]);
    expect(status).toBe(200);
    expect(text).toContain('plain');
  });

  test('ignores upgrade offers other than WebSocket', async () => {
    await using opened = await open({
      handler: { http: (_request, response) => void response.end('plain'), upgrade: () => undefined },
    });
    const { text } = await request(opened.listener.port, 'GET /', [
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: h2c',
    ]);
    expect(text).toMatch(/plain$/);
  });

  test('receives raw connections for other protocols', async () => {
    await using opened = await open({
      protocol: 'tcp',
      handler: { tcp: (socket) => void socket.end('220 hello\r\n') },
    });
    expect(await readAll(await dial(opened.listener.port))).toBe('220 hello\r\n');
    opened.listener.replaceHandler(undefined);
    expect(await readAll(await dial(opened.listener.port))).toBe('');
  });

  test('renders refusals in its own format', async () => {
    await using opened = await open({
      guard: {
        crossOrigin: 'refuse',
        refuse: (_request, response, problem) => void response.writeHead(problem.status).end(problem.code),
      },
    });
    expect((await request(opened.listener.port, 'GET /', ['Host: evil.example'])).text).toContain(
      '\r\nlistener.foreign_host\r\n',
    );
  });
});

describe('hostile client', () => {
  test('is disconnected when it sends headers slowly', async () => {
    await using opened = await open({ limits: { headersTimeoutMs: 200 } });
    const socket = await dial(opened.listener.port);
    const answer = readAll(socket);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n');
    const drops = setInterval(() => socket.write('X-Slow: 1\r\n'), 20);
    expect(await answer).toMatch(/^HTTP\/1\.1 408/);
    clearInterval(drops);
  });

  test('is disconnected when it sends nothing', async () => {
    await using opened = await open({ limits: { headersTimeoutMs: 200 } });
    expect(await readAll(await dial(opened.listener.port))).toMatch(/^(HTTP\/1\.1 408|$)/);
  });

  test('is disconnected when its body stalls, but not when it is slow', async () => {
    let reading: IncomingMessage | undefined;
    await using opened = await open({
      limits: { bodyStallMs: 150 },
      handler: {
        http: (incoming, response) => {
          reading = incoming;
          incoming.resume().once('end', () => response.end('whole'));
        },
      },
    });
    const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 10\r\n\r\n';
    expect(await exchange(opened.listener.port, `${head}abc`)).toMatch(/^HTTP\/1\.1 408/);
    await vi.waitFor(() => expect(reading?.destroyed).toBe(true));

    const slow = await dial(opened.listener.port);
    const answer = readAll(slow);
    slow.write(head);
    let sent = 0;
    const drops = setInterval(() => {
      if ((sent += 1) <= 10) slow.write('x');
    }, 40);
    expect(await answer).toMatch(/whole$/);
    clearInterval(drops);
  });

  test('is not disconnected when the service does not read', async () => {
    let incoming: IncomingMessage | undefined;
    await using opened = await open({
      limits: { bodyStallMs: 60 },
      handler: {
        http: (message, response) => {
          incoming = message;
          message.once('end', () => response.end('whole'));
        },
      },
    });
    const size = 1024 * 1024;
    const socket = await dial(opened.listener.port);
    const answer = readAll(socket);
    socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`);
    socket.write(Buffer.alloc(size));
    await vi.waitFor(() => expect(incoming).toBeDefined());
    await new Promise((resolve) => setTimeout(resolve, 250));
    incoming?.resume();
    expect(await answer).toMatch(/whole$/);
  });

  test('gets 431 for oversized headers', async () => {
    await using opened = await open({ limits: { maxHeaderBytes: 4096 } });
    const answer = await exchange(
      opened.listener.port,
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(5000)}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 431/);
  });

  test.each([
    [
      'cookies',
      `Cookie: ${Array.from({ length: 30 }, (_, index) => `bomb${index}=${'x'.repeat(4000)}`).join('; ')}`,
      true,
    ],
    ['a long address beside some cookies', 'Cookie: token=1; theme=dark', false],
  ])('has its cookies cleared only when they are too large: %s', async (_name, header, isCleared) => {
    await using opened = await open();
    const path = isCleared ? '/' : `/${'a=b;c=d'.repeat(20_000)}`;
    const answer = await exchange(opened.listener.port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431/);
    expect(answer.includes('Clear-Site-Data: "cookies"')).toBe(isCleared);
  });

  test('gets 400 in plain text for other protocols', async () => {
    await using opened = await open();
    const answer = await exchange(
      opened.listener.port,
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 not http\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain('text/plain');
  });

  test('gets the earlier response, then the end, when it pipelines invalid data', async () => {
    await using opened = await open({
      handler: { http: (_request, response) => void setTimeout(() => response.end('first'), 30) },
    });
    const answer = await exchange(opened.listener.port, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n\0\0\0junk\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    expect(answer).toContain('first');
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  test('cannot smuggle a request with two lengths', async () => {
    await using opened = await open();
    const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await exchange(opened.listener.port, `${head}0\r\n\r\nGET /x HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400/);
  });

  test('is dropped and logged beyond the connection limit', async () => {
    await using opened = await open({ limits: { maxConnections: 1 } });
    const first = await dial(opened.listener.port);
    expect(await readAll(await dial(opened.listener.port))).toBe('');
    expect(opened.log.recent({ level: 'warn' })[0]?.message).toContain('limit reached');
    first.destroy();
  });
});

describe('close', () => {
  test('finishes a running request, ends idle connections and refuses new ones', async () => {
    const release = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const opened = await open({
      handler: {
        http: (message, response) => {
          if (message.url !== '/slow') return void response.end('quick');
          started.resolve();
          return void release.promise.then(() => response.end('done'));
        },
      },
    });
    expect(await fetchText(`${opened.url}/`, new Agent({ keepAlive: true }))).toBe('quick');
    const slow = fetchText(`${opened.url}/slow`, new Agent({ keepAlive: true }));
    await started.promise;
    const closed = opened.listener.close({ timeoutMs: 10_000 });
    await expect(dial(opened.listener.port)).rejects.toThrow();
    release.resolve();
    expect(await slow).toBe('done');
    await closed;
  });

  test('destroys an unfinished stream after the timeout', async () => {
    const opened = await open({ handler: { http: (_message, response) => void response.write('for ever') } });
    const socket = await dial(opened.listener.port);
    const all = readAll(socket);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'data');
    await opened.listener.close({ timeoutMs: 50 });
    expect(await all).toContain('for ever');
  });

  test('ends upgraded connections', async () => {
    const opened = await open({
      handler: {
        http: () => undefined,
        upgrade: (_message, socket) => void socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
      },
    });
    const socket = await dial(opened.listener.port);
    const all = readAll(socket);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    await once(socket, 'data');
    await opened.listener.close({ timeoutMs: 50 });
    expect(await all).toMatch(/^HTTP\/1\.1 101/);
  });
});

describe('access log and metrics', () => {
  test('counts every response and logs no secrets', async () => {
    await using opened = await open({
      handler: {
        http: () => {
          throw new Problem('sample.gone', 404, 'It is gone.');
        },
      },
    });
    const secret = 'tk_abcdefghijklmnopqrstuvwxyz012';
    await request(opened.listener.port, `GET /hook/${'s'.repeat(40)}?auth=c2VjcmV0&since=1`, [
      'Host: localhost',
      `Authorization: Bearer ${secret}`,
      `Cookie: session=${secret}`,
    ]);
    const entry = await vi.waitFor(() => {
      const logLine = opened.log.recent({ text: '"method":"GET"' })[0];
      expect(logLine).toBeDefined();
      return logLine;
    });
    expect(entry).toMatchObject({
      message: 'request',
      service: 'sample',
      fields: { method: 'GET', path: '/hook/ssssss…', status: 404, remote: '127.0.0.1' },
    });
    expect(entry?.fields['bytes']).toBeGreaterThan(50);
    const all = JSON.stringify(opened.log.entries());
    for (const text of [secret, 'since', 'c2VjcmV0', 's'.repeat(40)]) expect(all).not.toContain(text);
    expect(await opened.metrics.text('sample')).toContain(
      'http_requests_total{service="sample",method="GET",code="404"} 1\n',
    );
  });

  test('counts refusals, invalid requests and disconnected clients', async () => {
    await using opened = await open({ handler: { http: () => undefined } });
    await request(opened.listener.port, 'GET /', ['Host: evil.example']);
    await exchange(opened.listener.port, 'junk\r\n\r\n');
    const socket = await dial(opened.listener.port);
    socket.end('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    socket.destroySoon();
    await vi.waitFor(async () => {
      const page = await opened.metrics.text('sample');
      expect(page).toContain('method="GET",code="403"} 1');
      expect(page).toContain('method="other",code="400"} 1');
      expect(page).toContain('method="GET",code="499"} 1');
    });
  });
});

test('ends a refused upload with the response', async () => {
  await using opened = await open();
  const upload = send(`${opened.url}/`, { method: 'POST', headers: { origin: 'https://evil.example' } });
  upload.on('error', () => undefined);
  const pump = setInterval(() => upload.write(Buffer.alloc(1024)), 5);
  const [answer] = (await once(upload, 'response')) as [IncomingMessage];
  clearInterval(pump);
  expect(answer.statusCode).toBe(403);
  expect(answer.headers.connection).toBe('close');
  upload.destroy();
});

async function fetchText(url: string, agent: Agent): Promise<string> {
  const outgoing = get(url, { agent });
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of answer) text += String(part);
  return text;
}
