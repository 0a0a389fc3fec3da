import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { admin, openRig, type Rig } from './rig.ts';

let clock: FakeClock;
let rig: Rig;
beforeAll(async () => {
  clock = createFakeClock();
  rig = await openRig({
    clock,
    environment: { NTFY_ATTACHMENT_FILE_SIZE_LIMIT: '2M', NTFY_ATTACHMENT_TOTAL_SIZE_LIMIT: '5M' },
  });
});
afterAll(() => rig[Symbol.asyncDispose]());

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const refusal = (code: number) => ({ code, http: Math.floor(code / 100) });

async function upload(body: string | Buffer, headers: Record<string, string> = {}, topic = 'files') {
  const { text } = await rig.ask('PUT', `/${topic}`, { authorization: admin, ...headers }, body);
  return JSON.parse(text);
}

/** Returns the path of an attachment. */
const getPath = ({ attachment }: { attachment: { url: string } }): string => new URL(attachment.url).pathname;

/** Lists complete files and uploads in progress. */
function listFiles(server: Rig = rig): string[] {
  try {
    const entries = readdirSync(join(server.host.dataDir, 'push', 'attachments'), {
      recursive: true,
      withFileTypes: true,
    });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  } catch {
    return [];
  }
}

describe('uploaded file', () => {
  it.each([
    ['a.png', png, 'image/png', '.png', undefined],
    ['', png, 'image/png', '.png', 'attachment.png'],
    ['page.html', '<!DOCTYPE html><script>alert(1)</script>', 'text/html; charset=utf-8', '.html', undefined],
    ['a.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml', '.svg', undefined],
    ['data', '{"a":1}', 'application/json', '.json', undefined],
    ['note.md', '# hi', 'text/plain; charset=utf-8', '.txt', undefined],
    ['app.apk', Buffer.from('PK\u0003\u0004'), 'application/vnd.android.package-archive', '.apk', undefined],
    ['blob.xyz', Buffer.from([0, 255, 1, 2]), 'application/octet-stream', '.xyz', undefined],
    ['paper', '%PDF-1.4\n1 0 obj', 'application/pdf', '.pdf', undefined],
    ['table.CSV', 'a,b\n', 'text/csv', '.csv', undefined],
    ['', Buffer.from([1, 2, 255]), 'application/octet-stream', '.bin', 'attachment.bin'],
    ['half.txt', Buffer.from([65, 0xc3]), 'text/plain; charset=iso-8859-1', '.txt', undefined],
    ['../../etc/passwd', 'x', 'text/plain; charset=utf-8', '.txt', 'passwd'],
    ['C:\\a\\b.txt', 'x', 'text/plain; charset=utf-8', '.txt', 'b.txt'],
    ['Größe "1".txt', 'x', 'text/plain; charset=utf-8', '.txt', undefined],
  ])('detects the type of a file named %j and returns it unchanged', async (filename, body, type, ending, name) => {
    const headers = filename === '' ? {} : { Filename: `=?UTF-8?B?${Buffer.from(filename).toString('base64')}?=` };
    const message = await upload(body, headers);
    const { attachment } = message;
    const expectedName = name ?? filename;
    expect(message.message).toBe(`You received a file: ${expectedName}`);
    expect(attachment).toEqual({
      name: expectedName,
      type,
      size: body.length,
      // Written before its message gets a time, so a second may pass in between.
      expires: expect.closeTo(message.time + 3 * 3600, -1),
      url: `${rig.host.url('push')}/file/${message.id}${ending}`,
    });
    const reply = await fetch(attachment.url);
    expect(Buffer.from(await reply.arrayBuffer())).toEqual(Buffer.from(body));
    const expected = type.startsWith('text/') ? 'text/plain; charset=utf-8' : type;
    expect(reply.headers.get('content-type')).toBe(expected);
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect(reply.headers.get('content-security-policy')).toContain('sandbox');
    expect(reply.headers.get('content-disposition')).toMatch(/^attachment; filename="[ -~]*"/);
    const head = await fetch(attachment.url, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(body.length));
  });

  it('takes its text from the message parameter and its name from the query, and may exceed one read', async () => {
    const body = Buffer.alloc(1_500_000, 'abc');
    const message = await upload(body, { Message: 'look\\nhere' }, 'files?f=big.txt');
    expect(message).toMatchObject({ message: 'look\nhere', attachment: { name: 'big.txt', size: body.length } });
    expect(Buffer.from(await (await fetch(message.attachment.url)).arrayBuffer()).equals(body)).toBe(true);
    expect(await rig.poll(`/files/json?poll=1&id=${message.id}`)).toEqual([message]);
  });

  it.each([
    ['bytes=0-2', 206, 'abc', 'bytes 0-2/10'],
    ['bytes=8-', 206, 'ij', 'bytes 8-9/10'],
    ['bytes=-3', 206, 'hij', 'bytes 7-9/10'],
    ['bytes=5-99', 206, 'fghij', 'bytes 5-9/10'],
    ['bytes=10-', 416, '', 'bytes */10'],
    ['bytes=-0', 416, '', 'bytes */10'],
    ['bytes=3-1', 200, 'abcdefghij', null],
    ['bytes=0-1,4-5', 200, 'abcdefghij', null],
    ['lines=1-2', 200, 'abcdefghij', null],
    ['bytes=-99999999999999999999', 200, 'abcdefghij', null],
    ['bytes=0-0,', 200, 'abcdefghij', null],
    [`bytes=${'0-0,'.repeat(5000)}0-0`, 200, 'abcdefghij', null],
    ['bytes=1-1e9', 200, 'abcdefghij', null],
    ['bytes=--1', 200, 'abcdefghij', null],
  ])('responds to the range %s with %i', async (range, status, text, contentRange) => {
    const { attachment } = await upload('abcdefghij', { Filename: 'r.txt' });
    const reply = await fetch(attachment.url, { headers: { range } });
    expect([reply.status, await reply.text(), reply.headers.get('content-range')]).toEqual([
      status,
      text,
      contentRange,
    ]);
  });

  it('is sent completely for a part of another version, and only for GET', async () => {
    const { attachment } = await upload('abcdefghij', { Filename: 'r.txt' });
    const reply = await fetch(attachment.url, { headers: { range: 'bytes=0-2', 'if-range': '"other"' } });
    expect([reply.status, await reply.text()]).toEqual([200, 'abcdefghij']);
    const path = getPath({ attachment });
    const pathWithoutExtension = path.replace('.txt', '');
    for (const [method, requestedPath, code] of [
      ['POST', path, 40401],
      ['PUT', pathWithoutExtension, 40010],
      ['DELETE', pathWithoutExtension, 40010],
      ['PATCH', path, 40401],
    ] as const) {
      const { text } = await rig.ask(method, requestedPath, { authorization: admin });
      expect(JSON.parse(text)).toMatchObject(refusal(code));
    }
  });

  it.each([
    '/file/',
    '/file/..%2f..%2fdb.sqlite',
    '/file/%2e%2e/db.sqlite',
    '/file/a/b',
    '/file/AAAAAAAAAAAA',
    '/file/x.a.b',
  ])('responds to %s with not found', async (path) => {
    const { status } = await rig.ask('GET', path, { authorization: admin });
    expect(status).toBe(404);
  });

  it('is refused when it is too large, with and without Content-Length, without leaving data', async () => {
    const before = listFiles();
    expect(await upload(Buffer.alloc(2 * 1024 * 1024 + 1), { Filename: 'a' })).toMatchObject(refusal(41301));
    const chunked = httpRequest({
      port: rig.port,
      host: '127.0.0.1',
      method: 'PUT',
      path: '/files',
      headers: { authorization: admin, 'Transfer-Encoding': 'chunked' },
    });
    chunked.on('error', () => undefined);
    chunked.end(Buffer.alloc(3 * 1024 * 1024));
    const [response] = (await once(chunked, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    response.resume();
    expect(listFiles()).toEqual(before);
  });

  it('leaves no data when its sender disconnects', async () => {
    const before = listFiles();
    const request = httpRequest({
      port: rig.port,
      host: '127.0.0.1',
      method: 'PUT',
      path: '/gone',
      headers: { authorization: admin, 'Content-Length': '100000' },
    });
    request.on('error', () => undefined);
    request.write(Buffer.alloc(50_000));
    await expect.poll(() => listFiles().length).toBe(before.length + 1);
    request.destroy();
    await expect.poll(() => listFiles(), { timeout: 10_000 }).toEqual(before);
    expect(await rig.poll('/gone/json?poll=1')).toEqual([]);
  });

  it('counts toward the total size until it expires', async () => {
    const before = listFiles().length;
    const large = Buffer.alloc(1_800_000);
    const answers = [];
    for (let index = 0; index < 3; index += 1) answers.push(await upload(large, { Filename: `${index}` }));
    const stored = answers.filter(({ attachment }) => attachment);
    expect(answers).toContainEqual(expect.objectContaining(refusal(41301)));
    expect(listFiles()).toHaveLength(before + stored.length);
    clock.advance(3 * 3600 * 1000 + 60_000);
    await expect.poll(() => listFiles(), { timeout: 10_000 }).toEqual([]);
    expect((await fetch(`${rig.host.url('push')}${getPath(stored[0])}`)).status).toBe(404);
    expect(await upload(large, { Filename: 'again' })).toHaveProperty('attachment');
  });

  it('is deleted with a cancelled or replaced delayed message, and must not expire before it', async () => {
    const headers = { Filename: 's.txt', In: '1h', 'X-Sequence-ID': 's' };
    const first = await upload('one', headers, 'later');
    const second = await upload('two', headers, 'later');
    await expect.poll(() => listFiles(), { timeout: 10_000 }).not.toContain(first.id);
    expect((await fetch(second.attachment.url)).status).toBe(200);
    await rig.ask('DELETE', '/later/s', { authorization: admin });
    await expect.poll(() => listFiles(), { timeout: 10_000 }).not.toContain(second.id);
    expect((await fetch(second.attachment.url)).status).toBe(404);
    expect(await upload('x', { ...headers, In: '4h' }, 'later')).toMatchObject(refusal(40015));
  });

  it('is deleted after an hour without message', async () => {
    const orphan = join(rig.host.dataDir, 'push', 'attachments', 'orphanorphan');
    writeFileSync(orphan, 'x');
    const old = clock.now() / 1000 - 3700;
    utimesSync(orphan, old, old);
    const { id } = await upload('x', { Filename: 'kept.txt' });
    clock.advance(3600 * 1000);
    await expect.poll(() => listFiles(), { timeout: 10_000 }).not.toContain('orphanorphan');
    expect(listFiles()).toContain(id);
  });
});

it('is refused when attachments are disabled, and uses the public address', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'push-files-'));
  try {
    {
      await using none = await openRig({ dataDir, environment: { NTFY_ATTACHMENT_FILE_SIZE_LIMIT: '0' } });
      for (const [headers, body] of [
        [{ Filename: 'a' }, 'x'],
        [{}, 'x'.repeat(4096)],
        [{}, Buffer.from([255])],
      ] as const) {
        const { text } = await none.ask('PUT', '/f', { authorization: admin, ...headers }, body);
        expect(JSON.parse(text)).toMatchObject(refusal(40014));
      }
    }
    await using publicRig = await openRig({ dataDir, environment: { NTFY_BASE_URL: 'https://push.home.lan' } });
    const message = await publicRig.publish('/f', 'x', { Filename: 'a.txt' });
    expect(message.attachment.url).toBe(`https://push.home.lan/file/${message.id}.txt`);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it("reports a full disk in ntfy's format, leaves no data and affects nothing else", async ({ skip }) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'push-full-'));
  const folder = join(dataDir, 'push', 'attachments');
  mkdirSync(folder, { recursive: true });
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status === 0;
  try {
    if (!mounted) {
      if (process.env['CI']) throw new Error('a small tmpfs could not be mounted; this test needs root');
      skip();
    }
    await using full = await openRig({ dataDir });
    const uploadBytes = async (bytes: number) => {
      const { text } = await full.ask('PUT', '/f', { authorization: admin, Filename: 'a' }, Buffer.alloc(bytes));
      return JSON.parse(text);
    };
    expect(await uploadBytes(3_000_000)).toMatchObject(refusal(50001));
    expect(listFiles(full)).toEqual([]);
    expect(await uploadBytes(500_000)).toMatchObject({ attachment: { size: 500_000 } });
    expect(await full.poll('/f/json?poll=1')).toHaveLength(1);
  } finally {
    if (mounted) spawnSync('umount', ['-l', folder]);
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it('counts toward the total size together with concurrent uploads', async () => {
  await using limitedRig = await openRig({ environment: { NTFY_ATTACHMENT_TOTAL_SIZE_LIMIT: '5M' } });
  const [first, remainder] = [Buffer.alloc(400_000, 1), Buffer.alloc(1_400_000, 1)];
  const uploads = Array.from({ length: 6 }, () => {
    const headers = { authorization: admin, filename: 'much' };
    return httpRequest({
      port: limitedRig.port,
      host: '127.0.0.1',
      method: 'PUT',
      path: '/much',
      headers,
      agent: false,
    });
  });
  for (const request of uploads) request.write(first);
  await expect.poll(() => listFiles(limitedRig).length).toBe(uploads.length);
  const responses = uploads.map(async (request) => {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode ?? 0;
  });
  for (const request of uploads) request.on('error', () => undefined).end(remainder);
  const statuses = await Promise.all(responses);
  // There is space for two such files.
  const accepted = statuses.filter((status) => status === 200).length;
  expect([1, 2]).toContain(accepted);
  expect(statuses.filter((status) => status === 413)).toHaveLength(6 - accepted);
  await expect.poll(() => listFiles(limitedRig).length).toBe(accepted);
});
