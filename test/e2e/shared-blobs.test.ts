import * as hostProblems from '#messages/host-problems';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { connectS3 } from '../../main/host/blobs/s3/s3-connection.ts';
import { control } from '../../services/control/index.ts';
import { push } from '../../services/push/index.ts';
import type { ServiceState } from '../../services/contracts/control/api.ts';
import { api, inbox } from '../support/api.ts';
import { createFakeClock } from '../support/clock.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';
import { startHostProcess } from '../support/host-process.ts';
import { openPostgresDatabase } from '../support/postgres.ts';
import { needs } from '../support/requirements.ts';
import { startS3, type S3Server } from '../support/s3-server.ts';
import { SmtpDialogue } from '../support/smtp.ts';
import { openGitFixture } from '../services/git/git-fixture.ts';

needs('git-lfs', 'POSIX shell');

/** Git configuration that `git lfs install` writes. */
const filter = {
  GIT_CONFIG_COUNT: '4',
  GIT_CONFIG_KEY_0: 'filter.lfs.clean',
  GIT_CONFIG_VALUE_0: 'git-lfs clean -- %f',
  GIT_CONFIG_KEY_1: 'filter.lfs.smudge',
  GIT_CONFIG_VALUE_1: 'git-lfs smudge -- %f',
  GIT_CONFIG_KEY_2: 'filter.lfs.process',
  GIT_CONFIG_VALUE_2: 'git-lfs filter-process',
  GIT_CONFIG_KEY_3: 'filter.lfs.required',
  GIT_CONFIG_VALUE_3: 'true',
};
const files = new AsyncDisposableStack();
let store: S3Server;
let environment: Record<string, string>;

beforeAll(async () => {
  store = files.use(await startS3());
  const { url } = files.use(await openPostgresDatabase());
  const repositories = mkdtempSync(join(tmpdir(), 'homeport-repositories-'));
  files.defer(() => rmSync(repositories, { recursive: true, force: true }));
  environment = {
    ...store.environment,
    GIT_REPOSITORIES_FOLDER: repositories,
    HOMEPORT_DATABASE_URL: url,
    HOMEPORT_VAULT_KEY: randomBytes(32).toString('base64'),
  };
});
afterAll(() => files.disposeAsync());

const headers = { authorization: adminAuthorization };

interface Published {
  readonly attachment: { readonly url: string; readonly size: number };
}

async function publish(host: TestHost, bytes: Buffer<ArrayBuffer>): Promise<Published> {
  const url = `${host.url('push')}/shared`;
  const reply = await fetch(url, { method: 'PUT', headers: { ...headers, filename: 'data.bin' }, body: bytes });
  expect(reply.status).toBe(200);
  return (await reply.json()) as Published;
}

/** Downloads an attachment from another host than the one that its address names. */
async function download(host: TestHost, { attachment }: Published, range?: string): Promise<Buffer> {
  const url = `${host.url('push')}${new URL(attachment.url).pathname}`;
  const reply = await fetch(url, { headers: range === undefined ? {} : { range } });
  expect([200, 206]).toContain(reply.status);
  return Buffer.from(await reply.arrayBuffer());
}

it('serves an attachment immediately after another host received it', async () => {
  await using first = await openTestHost({ environment });
  await using second = await openTestHost({ environment });
  const bytes = randomBytes(12 * 1024 * 1024);
  const published = await publish(first, bytes);
  expect((await download(second, published)).equals(bytes)).toBe(true);
  expect((await download(second, published, 'bytes=5-9')).equals(bytes.subarray(5, 10))).toBe(true);
});

it('redirects clients to the store when direct downloads are enabled', async () => {
  await using host = await openTestHost({ environment: { ...environment, HOMEPORT_S3_DIRECT_DOWNLOADS: 'true' } });
  const bytes = randomBytes(10_000);
  const published = await publish(host, bytes);
  const reply = await fetch(published.attachment.url, { redirect: 'manual' });
  expect(reply.status).toBe(302);
  const location = reply.headers.get('location') ?? '';
  expect(location.startsWith(store.settings.endpoint)).toBe(true);
  const content = await fetch(location);
  expect(content.headers.get('content-disposition')).toBe('attachment; filename="data.bin"');
  expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
});

it('delivers a large mail whose source is in the store', async () => {
  await using host = await openTestHost({ environment });
  using smtp = await SmtpDialogue.open(host.port('mail'));
  const text = 'A line of a large mail.\r\n'.repeat(8000);
  expect(await smtp.send('alerts@homeport.local', 'large', text)).toMatch(/^250 /);
  await vi.waitFor(
    async () => expect((await inbox(host.url('control'))).map(({ title }) => title).join()).toContain('large'),
    { timeout: 20_000, interval: 50 },
  );
});

it('deletes expired attachments and orphans from the store', async () => {
  const clock = createFakeClock(Date.now());
  const expiring = { ...store.environment, HOMEPORT_S3_PREFIX: 'expiry' };
  await using host = await openTestHost({ environment: expiring, clock, services: [push, control] });
  const published = await publish(host, randomBytes(1000));
  const { client, bucket } = connectS3(store.settings, '');
  const orphan = { Bucket: bucket, Key: 'expiry/push/attachments/orphan', Body: 'x' };
  await client.send(new PutObjectCommand(orphan));
  const folder = join(store.folder, 'expiry', 'push', 'attachments');
  expect(readdirSync(folder)).toHaveLength(2);
  clock.advance(3 * 3_600_000 + 60_000);
  await expect.poll(() => (existsSync(folder) ? readdirSync(folder) : []), { timeout: 20_000 }).toEqual([]);
  const path = new URL(published.attachment.url).pathname;
  expect((await fetch(`${host.url('push')}${path}`)).status).toBe(404);
});

it.each(['false', 'true'])('serves LFS objects that another host received, direct downloads %s', async (direct) => {
  const withDirect = { ...environment, HOMEPORT_S3_DIRECT_DOWNLOADS: direct };
  await using first = await openGitFixture({ environment: withDirect });
  await using second = await openTestHost({ environment: withDirect });
  const name = `shared-${direct}`;
  await first.create(name);
  const bytes = randomBytes(9 * 1024 * 1024);
  const cwd = await first.work(name);
  const lfs = { cwd, environment: filter };
  await first.git(['lfs', 'install', '--local'], lfs);
  await first.git(['lfs', 'track', '*.bin'], lfs);
  writeFileSync(join(cwd, 'big.bin'), bytes);
  await first.git(['add', '.'], lfs);
  await first.git(['commit', '-qm', 'large'], lfs);
  await first.git(['push', '-q', `${first.signedUrl}/ada/${name}.git`, 'main'], lfs);
  const clone = ['clone', '-q', `${second.url('git')}/ada/${name}.git`, 'copy'];
  await first.git(clone, { environment: filter });
  expect(readFileSync(join(first.folder, 'copy', 'big.bin')).equals(bytes)).toBe(true);
});

it('refuses files clearly while the store does not respond, and keeps everything else working', async () => {
  await using host = await openTestHost({ environment });
  const published = await publish(host, randomBytes(1000));
  const repository = { method: 'POST', headers, body: '{"name":"unavailable"}' };
  expect((await fetch(`${host.url('git')}/api/v1/user/repos`, repository)).status).toBe(201);
  const state = async (): Promise<ServiceState | undefined> => {
    const { services } = await api<{ services: ServiceState[] }>(host.url('control'), '/api/services');
    return services.find(({ id }) => id === 'push');
  };
  store.pause();
  try {
    const url = `${host.url('push')}/shared`;
    const refused = await fetch(url, { method: 'PUT', headers: { ...headers, filename: 'a.bin' }, body: 'x\0y' });
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ http: 503, error: expect.stringContaining(hostProblems.s3Timeout()) });
    const path = new URL(published.attachment.url).pathname;
    expect((await fetch(`${host.url('push')}${path}`)).status).toBe(503);
    expect((await fetch(url, { method: 'PUT', headers, body: 'text without a file' })).status).toBe(200);
    using smtp = await SmtpDialogue.open(host.port('mail'));
    expect(await smtp.send('alerts@homeport.local', 'large', 'x\r\n'.repeat(50_000))).toMatch(/^451 /);
    const object = `${host.url('git')}/ada/unavailable/info/lfs/objects/${hash(Buffer.from('x'))}/1`;
    const refusedObject = await fetch(object, { method: 'PUT', headers, body: 'x' });
    expect([refusedObject.status, await refusedObject.json()]).toEqual([
      503,
      { Message: expect.stringContaining(hostProblems.s3Timeout()) },
    ]);
    await vi.waitFor(async () => expect((await state())?.state).toBe('degraded'), { timeout: 60_000, interval: 200 });
    expect((await state())?.reason).toContain(hostProblems.s3Timeout());
  } finally {
    store.resume();
  }
  await vi.waitFor(async () => expect((await state())?.state).toBe('up'), { timeout: 60_000, interval: 200 });
  expect(await download(host, published)).toHaveLength(1000);
  const log = host.log.join('\n');
  expect(log).not.toContain(store.settings.secretKey);
  expect(log).not.toContain('X-Amz-Signature');
}, 180_000);

it('keeps every acknowledged attachment across kill -9', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'shared-'));
  const acknowledged = new Map<string, string>();
  try {
    for (const count of [3, 6]) {
      await using host = await startHostProcess(dataDir, { environment });
      const upload = async (): Promise<void> => {
        for (;;) {
          const bytes = randomBytes(300_000);
          const url = `${host.url('push')}/killed`;
          const reply = await fetch(url, { method: 'PUT', headers: { ...headers, filename: 'a.bin' }, body: bytes });
          const { attachment } = (await reply.json()) as Published;
          acknowledged.set(new URL(attachment.url).pathname, hash(bytes));
        }
      };
      const uploads = Promise.allSettled([upload(), upload(), upload()]);
      await expect.poll(() => acknowledged.size, { timeout: 30_000 }).toBeGreaterThanOrEqual(count);
      await host.kill();
      await uploads;
    }
    await using host = await startHostProcess(dataDir, { environment });
    for (const [path, expected] of acknowledged) {
      const reply = await fetch(`${host.url('push')}${path}`);
      expect(hash(Buffer.from(await reply.arrayBuffer()))).toBe(expected);
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 120_000);

function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
