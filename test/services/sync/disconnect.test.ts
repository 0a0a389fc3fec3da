import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { admin, adminAuthorization } from '../../support/host.ts';
import { lacksRclone, openSyncFixture, rclonePath, until, type SyncFixture } from './sync-fixture.ts';

/** Sends a call as raw HTTP and keeps the connection open for the response. */
async function send(
  fixture: SyncFixture,
  path: string,
  input: object,
  options: Partial<RawOptions> = {},
): Promise<Socket> {
  const { version = '1.1', headers = '' } = options;
  const body = JSON.stringify(input);
  const socket = connect(Number(new URL(fixture.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  socket.write(
    `POST /${path} HTTP/${version}\r\nHost: 127.0.0.1\r\nAuthorization: ${adminAuthorization}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n${headers}\r\n${body}`,
  );
  return socket;
}

interface RawOptions {
  readonly version: string;
  readonly headers: string;
}

describe.skipIf(lacksRclone)('a client that disconnects during its call', () => {
  let fixture: SyncFixture;
  let number = 0;
  let input: { readonly srcFs: string; readonly dstFs: string };
  beforeAll(async () => {
    fixture = await openSyncFixture();
    fixture.write({ 'from/big': 'x'.repeat(18_000_000) });
    await fixture.call('core/bwlimit', { rate: '500k' });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());
  beforeEach(() => {
    number += 1;
    input = { srcFs: join(fixture.folder, 'from'), dstFs: join(fixture.folder, `to${String(number)}`) };
  });

  const running = async (): Promise<readonly number[]> => (await fixture.call('job/list')).body.runningIds;
  /** Waits until the job has written data, and returns its ID. */
  const started = async (): Promise<number> => {
    const ids = await until(running, (list) => list.length > 0);
    await until(
      async () => existsSync(input.dstFs) && readdirSync(input.dstFs).length > 0,
      (has) => has,
    );
    return ids[0] ?? -1;
  };
  const expectCanceled = async (jobid: number): Promise<void> => {
    const ended = await until(
      () => fixture.call('job/status', { jobid }),
      ({ body }) => body.finished === true,
      20_000,
    );
    expect(ended.body).toMatchObject({ success: false, error: 'context canceled' });
    expect(await running()).toEqual([]);
    expect(existsSync(join(input.dstFs, 'big'))).toBe(false);
  };

  it.each([
    ['over a kept-alive connection', {}],
    ['with Connection: close', { headers: 'Connection: close\r\n' }],
    ['over HTTP/1.0', { version: '1.0' }],
  ])('ends its job %s', async (_, options) => {
    const socket = await send(fixture, 'sync/copy', input, options);
    const jobid = await started();
    socket.end();
    await expectCanceled(jobid);
    socket.destroy();
  });

  it('ends its job when the connection is reset', async () => {
    const socket = await send(fixture, 'sync/copy', input);
    const jobid = await started();
    socket.resetAndDestroy();
    await expectCanceled(jobid);
  });

  it('ends its job when a real rclone is killed', async () => {
    const args = ['rc', '--url', fixture.url, '--user', admin.name, '--pass', admin.password, 'sync/copy'];
    const child = spawn(rclonePath ?? '', [...args, `srcFs=${input.srcFs}`, `dstFs=${input.dstFs}`], {
      stdio: 'ignore',
    });
    const jobid = await started();
    child.kill('SIGKILL');
    await once(child, 'exit');
    await expectCanceled(jobid);
  });

  it('ends all jobs of its batch and starts no more', async () => {
    const call = { _path: 'sync/copy', ...input };
    const inputs = [call, { ...call, dstFs: `${input.dstFs}-second` }];
    const socket = await send(fixture, 'job/batch', { inputs, concurrency: 1 });
    const jobid = await started();
    socket.destroy();
    await expectCanceled(jobid);
    expect(existsSync(`${input.dstFs}-second`)).toBe(false);
  });

  it('leaves an asynchronous job running', async () => {
    const socket = await send(fixture, 'sync/copy', { ...input, _async: true });
    const [response] = (await once(socket, 'data')) as [Buffer];
    expect(response.toString()).toContain('jobid');
    const jobid = await started();
    socket.destroy();
    const size = (): number => statSync(join(input.dstFs, readdirSync(input.dstFs)[0] ?? '')).size;
    const before = size();
    await until(
      async () => size(),
      (now) => now > before + 500_000,
    );
    expect(await running()).toEqual([jobid]);
    await fixture.call('job/stop', { jobid });
    await expectCanceled(jobid);
  });
});

describe('a client that disconnects during its request body', () => {
  it('does not cause an error in the log', async () => {
    await using fixture = await openSyncFixture();
    const headers = {
      ...{ authorization: adminAuthorization, 'content-type': 'application/json', 'content-length': 1000 },
    };
    const request = httpRequest(`${fixture.url}/rc/noop`, { method: 'POST', headers });
    request.on('error', () => undefined);
    request.write('{"a":');
    await until(
      async () => request.socket?.bytesWritten ?? 0,
      (count) => count > 100,
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    request.destroy();
    expect((await fixture.call('rc/noop', { a: 1 })).body).toEqual({ a: 1 });
    expect(fixture.host.log.filter((line) => /ERROR|aborted/.test(line))).toEqual([]);
  });
});

describe('an unknown method', () => {
  it.each(['__proto__', 'valueOf', 'constructor', 'hasOwnProperty', 'job/__proto__', '%ff', 'a%00b'])(
    'answers 404 for %s',
    async (path) => {
      await using fixture = await openSyncFixture();
      const { status, body } = await fixture.call(path);
      expect([status, body.status]).toEqual([404, 404]);
      expect(body.error).toMatch(/^couldn't find method/);
      expect(fixture.host.log.filter((line) => line.includes('ERROR'))).toEqual([]);
    },
  );

  it('answers 400 for a broken escape, like rclone', async () => {
    await using fixture = await openSyncFixture();
    const reply = await fetch(`${fixture.url}/%zz`, { method: 'POST', headers: { authorization: adminAuthorization } });
    expect(reply.status).toBe(400);
  });
});
