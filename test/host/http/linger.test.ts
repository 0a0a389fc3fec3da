import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { buildTooLargeProblem } from '../../../main/host/http/body.ts';
import { readRequestBody } from '../../../services/kit/http/body.ts';
import { sendProblem } from '../../../main/host/http/problem-reply.ts';
import type { Problem } from '../../../services/contracts/problem.ts';
import { sendBlindly } from '../../support/blind-sender.ts';
import { lacksProgram } from '../../support/requirements.ts';
import { dial, readAll, exchange, open } from './raw.ts';

const size = 16 * 1024 * 1024;

const early: RequestListener = (_request, response) => {
  response.writeHead(413, { Connection: 'close' }).end('too large');
};
/** Reads until the limit is exceeded. */
const late: RequestListener = (request, response) => {
  readRequestBody(request, 1024 * 1024, () => buildTooLargeProblem(1024 * 1024)).then(
    () => response.end('fine'),
    (problem: Problem) => sendProblem(response, problem),
  );
};
/** Leaves the rest of the body unread. */
const paused: RequestListener = (request, response) => {
  request.once('data', () => {
    request.pause();
    response.writeHead(413).end('too large');
  });
};

const folder = mkdtempSync(join(tmpdir(), 'homeport-linger-'));
const large = join(folder, 'large');
beforeAll(() => writeFileSync(large, Buffer.alloc(size, 'x')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('response to a client that is still sending', () => {
  const handlers = { early, late, paused };
  const kinds = Object.keys(handlers) as (keyof typeof handlers)[];

  test.each(kinds.flatMap((kind) => [true, false].map((chunked) => [kind, chunked] as const)))(
    'arrives: announced %s, in chunks %s',
    async (kind, chunked) => {
      await using opened = await open({ handler: { http: handlers[kind] } });
      const reply = await sendBlindly(opened.listener.port, 'POST /', { size, chunked });
      expect(reply).toMatchObject({ status: 413, sent: size });
    },
  );

  test.skipIf(lacksProgram('curl')).each(kinds)('arrives at curl: announced %s', async (kind) => {
    await using opened = await open({ handler: { http: handlers[kind] } });
    const args = ['--silent', '--show-error', '--max-time', '20', '--output', join(folder, 'answer')];
    const { stdout } = await promisify(execFile)('curl', [...args, '-T', large, '-w', '%{http_code}', opened.url]);
    expect(stdout).toBe('413');
  });

  test('arrives for a refusal of the guard', async () => {
    await using opened = await open();
    const headers = ['Origin: http://evil.example'];
    expect((await sendBlindly(opened.listener.port, 'POST /', { size, headers })).status).toBe(403);
  });

  test('arrives for headers without end', async () => {
    await using opened = await open({ limits: { maxHeaderBytes: 4096 } });
    const headers = [`X-Long: ${'x'.repeat(8 * 1024 * 1024)}`];
    expect((await sendBlindly(opened.listener.port, 'GET /', { size: 0, headers })).status).toBe(431);
  });
});

describe('request discarded by its service', () => {
  const halves: readonly (readonly [string, RequestListener])[] = [
    ['before an answer', (request) => void request.once('data', () => request.destroy())],
    [
      // Node detaches the socket from a request whose reading was aborted in this way.
      'by leaving its loop, with an answer',
      async (request, response) => {
        for await (const _part of request) break;
        response.writeHead(413).end('too large');
      },
    ],
    [
      'by a pipeline that fails, without an answer',
      (request, response) => {
        const full = new Writable({ write: (_part, _encoding, done) => done(new Error('full')) });
        pipeline(request, full).catch(() => response.destroy());
      },
    ],
  ];
  test.each(halves)('ends only its own connection: %s', async (_when, http) => {
    const thrown: unknown[] = [];
    const onError = (error: unknown): void => void thrown.push(error);
    process.on('uncaughtException', onError);
    try {
      await using opened = await open({
        limits: { lingerMs: 100 },
        handler: {
          http: (request, response) => {
            if (request.method === 'GET') response.end('still here');
            else return http(request, response);
          },
        },
      });
      const socket = await dial(opened.listener.port);
      const closed = readAll(socket);
      socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nsome of it');
      await closed;
      expect(await (await fetch(opened.url)).text()).toBe('still here');
      expect(thrown).toEqual([]);
    } finally {
      process.off('uncaughtException', onError);
    }
  });
});

describe('client that sends after the response', () => {
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n';

  test.each([
    ['and goes on and on', { lingerMs: 300, silenceMs: 60_000 }, 10],
    ['and falls silent', { silenceMs: 150, lingerMs: 60_000 }, undefined],
  ])('disconnects a client that sends %s', async (_case, limits, everyMs) => {
    const accepted = Promise.withResolvers<Socket>();
    const http: RequestListener = (request, response) => {
      accepted.resolve(request.socket);
      early(request, response);
    };
    await using opened = await open({ limits, handler: { http } });
    const socket = await dial(opened.listener.port);
    socket.allowHalfOpen = true;
    socket.write(head);
    const sending = everyMs === undefined ? undefined : setInterval(() => socket.write('x'), everyMs);
    const served = await accepted.promise;
    // Long before the limit that is not tested here.
    await vi.waitFor(() => expect(served.destroyed).toBe(true), { timeout: 20_000, interval: 20 });
    clearInterval(sending);
    socket.destroy();
  });

  test('is disconnected on a persistent connection too', async () => {
    await using opened = await open({ limits: { lingerMs: 200 }, handler: { http: paused } });
    const socket = await dial(opened.listener.port);
    socket.write(head);
    const sending = setInterval(() => socket.write('x'), 10);
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 413/);
    clearInterval(sending);
  });

  test('is served again on a persistent connection after the rest arrived', async () => {
    await using opened = await open({
      handler: {
        http: (request, response) => (request.method === 'GET' ? void response.end('next') : paused(request, response)),
      },
    });
    const socket = await dial(opened.listener.port);
    socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${size}\r\n\r\n`);
    socket.write(Buffer.alloc(size));
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(String(first)).toMatch(/^HTTP\/1\.1 413/);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await readAll(socket)).toMatch(/next$/);
  });

  test('gets no response to data sent behind it', async () => {
    const http = vi.fn<RequestListener>(early);
    await using opened = await open({ handler: { http } });
    const body = 'x'.repeat(1000);
    const first = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n\r\n${body}`;
    const socket = await dial(opened.listener.port);
    const response = readAll(socket);
    socket.write(first);
    await vi.waitFor(() => expect(http).toHaveBeenCalledOnce());
    socket.write(`${body}POST /again HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`);
    expect((await response).match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(http).toHaveBeenCalledOnce();
    expect(await exchange(opened.listener.port, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')).toContain('413');
  });

  test('does not delay the close of the listener', async () => {
    const opened = await open({ handler: { http: early } });
    const socket = await dial(opened.listener.port);
    socket.allowHalfOpen = true;
    socket.write(head);
    await once(socket, 'data');
    const sending = setInterval(() => socket.write('x'), 10);
    const before = performance.now();
    await opened.listener.close({ timeoutMs: 25_000 });
    clearInterval(sending);
    expect(performance.now() - before).toBeLessThan(20_000);
  });
});
