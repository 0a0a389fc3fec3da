import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { notify } from '../../../services/notify/index.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { startHostProcess } from '../../support/host-process.ts';

interface Seen {
  readonly path: string;
  readonly body: string;
}

let open: AsyncDisposableStack;
let clock: FakeClock;
let host: TestHost;
let port: number;
let seen: Seen[];
/** Status of each response; undefined for no response. */
let answer: (request: Seen) => number | undefined;

beforeEach(async () => {
  open = new AsyncDisposableStack();
  clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
  seen = [];
  answer = () => 200;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const received = { path: request.url ?? '', body };
      seen.push(received);
      const status = answer(received);
      if (status === undefined) return;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ success: true, data: { authToken: 'a', userId: 'u' } }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  port = (server.address() as AddressInfo).port;
});
afterEach(() => open.disposeAsync());

const openNotify = async () => void (host = open.use(await openTestHost({ services: [notify], clock })));

async function send(urls: string, fields: object, base = host.url('notify')): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ urls, ...fields });
  return (await fetch(`${base}/notify`, { method: 'POST', headers, body })).status;
}

/** Responds with 503 to the first matching request, and successfully to all others. */
function refuseOnce(matches: (request: Seen) => boolean): void {
  let refused = false;
  answer = (request) => {
    if (refused || !matches(request)) return 200;
    refused = true;
    return 503;
  };
}

const pieces = (): readonly string[] =>
  seen.map(({ body }) => (JSON.parse(body) as { message: string }).message.slice(0, 1));
/** Text of three parts: each line has the maximum length of a message. */
const long = ['a', 'b', 'c'].map((letter) => letter.repeat(32_000)).join('\n');

describe('a delivery that takes several requests', () => {
  it('continues with the rejected piece, and repeats none before it', async () => {
    await openNotify();
    refuseOnce(({ body }) => body.includes('bbb'));
    expect(await send(`json://127.0.0.1:${port}/?overflow=split`, { body: long })).toBe(200);
    expect(pieces()).toEqual(['a', 'b']);
    clock.advance(10_000);
    await vi.waitFor(() => expect(pieces()).toEqual(['a', 'b', 'b', 'c']));
  });

  it('repeats none of them within immediate retries', async () => {
    await openNotify();
    refuseOnce(({ body }) => body.includes('ccc'));
    await send(`json://127.0.0.1:${port}/?overflow=split&retry=1&wait=0`, { body: long });
    expect(pieces()).toEqual(['a', 'b', 'c', 'c']);
  });

  it('sends each file once', async () => {
    await openNotify();
    refuseOnce(({ path }) => path.includes('3.txt'));
    const attach = ['1', '2', '3'].map((name) => ({
      filename: `${name}.txt`,
      base64: Buffer.from(name).toString('base64'),
    }));
    await send(`ntfy://127.0.0.1:${port}/topic`, { body: 'x', attach });
    clock.advance(10_000);
    const files = () => seen.map(({ path }) => /(\d)\.txt/.exec(path)?.[1]);
    await vi.waitFor(() => expect(files()).toEqual(['1', '2', '3', '3']));
  });

  it('notifies each channel once', async () => {
    await openNotify();
    refuseOnce(({ body }) => body.includes('"two"'));
    await send(`mmost://127.0.0.1:${port}/hook?channels=one,two,three`, { body: 'x' });
    clock.advance(10_000);
    const channels = () => seen.map(({ body }) => (JSON.parse(body) as { channel: string }).channel);
    await vi.waitFor(() => expect(channels()).toEqual(['one', 'two', 'two', 'three']));
  });

  it('is not repeated when a later step failed', async () => {
    await openNotify();
    refuseOnce(({ path }) => path.includes('/join/!two'));
    await send(`matrix://token@127.0.0.1:${port}/!one:hs/!two:hs`, { body: 'x' });
    clock.advance(10_000);
    const listRooms = () =>
      seen.map(({ path }) => /rooms\/!(\w+)/.exec(path)?.[1]).filter((fixture) => fixture !== undefined);
    await vi.waitFor(() => expect(listRooms()).toEqual(['one', 'two']));
  });

  it('continues after kill -9', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-notify-'));
    open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
    answer = ({ body }) => (body.includes('bbb') ? undefined : 200);
    {
      await using process = await startHostProcess(dataDir);
      expect(await send(`json://127.0.0.1:${port}/?overflow=split&rto=30`, { body: long }, process.url('notify'))).toBe(
        200,
      );
      // The response may arrive first, since the service does not wait long for slow destinations.
      await vi.waitFor(() => expect(pieces()).toEqual(['a', 'b']), { timeout: 30_000, interval: 20 });
      await process.kill();
    }
    answer = () => 200;
    await using restarted = await startHostProcess(dataDir);
    expect(restarted.url('notify')).toBeDefined();
    await vi.waitFor(() => expect(pieces()).toEqual(['a', 'b', 'b', 'c']), { timeout: 30_000, interval: 100 });
  }, 90_000);
});
