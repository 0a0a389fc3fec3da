import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MailDetail, SpooledMail } from '../../../services/contracts/mail/api.ts';
import { control } from '../../../services/control/index.ts';
import { mail } from '../../../services/mail/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, type Offers } from '../notify/support.ts';
import { readSources, openMailDatabase, spoolFiles, submit } from './support.ts';

/** Larger ones are stored as files. */
const maxDatabaseBytes = 64 * 1024;
const hourMs = 3_600_000;

let clock: FakeClock;
let host: TestHost;
let offers: Offers;
beforeEach(async () => {
  clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
  const probe = createProbe(['notices']);
  offers = probe.offers;
  host = await openTestHost({ services: [mail, control, probe.descriptor], clock });
});
afterEach(() => host[Symbol.asyncDispose]());

const sendRequest = <T>(path: string, method = 'GET'): Promise<T> => api<T>(host.url('control'), path, { method });

/** Returns a mail of this size, with a dot that is doubled in transit. */
function createMail(bytes: number): Buffer {
  const head = 'From: nas@x\r\nSubject: sized\r\n\r\n.first line\r\n';
  const lines = `${'y'.repeat(70)}\r\n`.repeat(Math.ceil(bytes / 72));
  return Buffer.from(`${(head + lines).slice(0, bytes - 2).replace(/\r$/, 'z')}\r\n`);
}

async function send(source: Buffer): Promise<string> {
  const reply = await submit(host.port('mail'), ['alerts@nas'], source);
  return /^250 .* queued as (\w+)/.exec(reply)?.[1] ?? reply;
}

function download(id: string, method = 'GET'): Promise<Response> {
  const address = `${host.url('control')}/api/mail/messages/${id}/source`;
  return fetch(address, { method, headers: { Authorization: adminAuthorization } });
}

async function downloadSource(id: string): Promise<Buffer> {
  const reply = await download(id);
  expect(reply.status).toBe(200);
  return Buffer.from(await reply.arrayBuffer());
}

describe.each([
  ['just below the limit of small ones', maxDatabaseBytes - 1, []],
  ['as large as a small one can be', maxDatabaseBytes, []],
  ['just above the limit', maxDatabaseBytes + 1, ['file']],
  ['far above the limit', 10 * maxDatabaseBytes, ['file']],
])('source %s', (_name, bytes, files) => {
  it('is stored as received, shown, downloaded, resent and deleted', async () => {
    const source = createMail(bytes);
    expect(source).toHaveLength(bytes);
    const id = await send(source);
    expect(spoolFiles(host.dataDir)).toEqual(files.map(() => `${id}.eml`));
    expect((await downloadSource(id)).equals(source)).toBe(true);
    expect(await sendRequest<MailDetail>(`/api/mail/messages/${id}`)).toMatchObject({
      subject: 'sized',
      size: bytes,
      sourceCut: bytes > maxDatabaseBytes,
      source: source.subarray(0, maxDatabaseBytes).toString(),
    });
    await expect.poll(() => [...offers.notices.keys()]).toEqual([`mail:${id}:0`]);
    expect(await sendRequest(`/api/mail/messages/${id}/send`, 'POST')).toEqual({ deliveries: 1 });
    await expect.poll(() => [...offers.notices.keys()]).toEqual([`mail:${id}:0`, `mail:${id}:1`]);
    expect(new Set([...offers.notices.values()].map(({ notice }) => notice.body)).size).toBe(1);
    await sendRequest(`/api/mail/messages/${id}`, 'DELETE');
    expect([...readSources(host.dataDir)]).toEqual([]);
    expect((await download(id)).status).toBe(404);
  });

  it('is deleted with its expired mail', async () => {
    await send(createMail(bytes));
    await expect.poll(() => offers.notices.size).toBe(1);
    clock.set(clock.now() + 8 * 24 * hourMs);
    const young = await send(createMail(bytes));
    clock.advance(hourMs);
    await expect.poll(() => [...readSources(host.dataDir).keys()]).toEqual([young]);
    const { messages } = await sendRequest<{ messages: SpooledMail[] }>('/api/mail/messages');
    expect(messages.map(({ id }) => id)).toEqual([young]);
  });
});

describe('download of a small source', () => {
  it('has a name, cannot run scripts, and returns its size for HEAD', async () => {
    const source = createMail(2000);
    const id = await send(source);
    const reply = await download(id, 'HEAD');
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'message/rfc822',
      'content-length': '2000',
      'content-disposition': `attachment; filename="${id}.eml"`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    });
    expect(await reply.text()).toBe('');
  });
});

describe('mail of a version with one file per source', () => {
  it('is shown, downloaded, resent and deleted', async () => {
    const source = createMail(2000);
    const id = await send(source);
    await expect.poll(() => offers.notices.size).toBe(1);
    {
      using opened = openMailDatabase(host.dataDir);
      opened.database.exec('delete from sources');
    }
    mkdirSync(join(host.dataDir, 'mail', 'spool'));
    writeFileSync(join(host.dataDir, 'mail', 'spool', `${id}.eml`), source);
    expect((await downloadSource(id)).equals(source)).toBe(true);
    expect((await sendRequest<MailDetail>(`/api/mail/messages/${id}`)).source).toBe(source.toString());
    await sendRequest(`/api/mail/messages/${id}/send`, 'POST');
    await expect.poll(() => [...offers.notices.keys()]).toEqual([`mail:${id}:0`, `mail:${id}:1`]);
    await sendRequest(`/api/mail/messages/${id}`, 'DELETE');
    expect(spoolFiles(host.dataDir)).toEqual([]);
  });
});
