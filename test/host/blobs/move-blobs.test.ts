import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testEnvironment } from '../../support/host.ts';
import { command } from '../../support/host-process.ts';
import { startS3, type S3Server } from '../../support/s3-server.ts';

const run = promisify(execFile);
const count = 200;
const content = (index: number): string => `content ${String(index)} `.repeat(1000);
let server: S3Server;
let dataDir: string;
let prefixes = 0;
let environment: Record<string, string>;

beforeAll(async () => {
  server = await startS3();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'move-'));
  prefixes += 1;
  environment = testEnvironment(dataDir, {
    environment: { ...server.environment, HOMEPORT_S3_PREFIX: `move-${String(prefixes)}` },
  });
  mkdirSync(join(dataDir, 'push', 'attachments'), { recursive: true });
  for (let index = 0; index < count; index += 1) writeFileSync(getLocal(index), content(index));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const getLocal = (index: number): string => join(dataDir, 'push', 'attachments', `file${String(index)}`);
const getRemote = (): string => join(server.folder, `move-${String(prefixes)}`, 'push', 'attachments');
const listLocal = (): number =>
  readdirSync(join(dataDir, 'push', 'attachments')).filter((name) => !name.startsWith('.')).length;
const listRemote = (): number => (existsSync(getRemote()) ? readdirSync(getRemote()).length : 0);
const blobs = async (...args: readonly string[]): Promise<string> =>
  (await run(process.execPath, [command, 'blobs', ...args, '--data-dir', dataDir], { env: environment })).stdout;

describe('homeport blobs', () => {
  it('moves files to S3 and back, and reports both stores', async () => {
    expect(await blobs('move', 'local', 's3', '--dry-run')).toContain('200 files');
    expect([listLocal(), listRemote()]).toEqual([count, 0]);
    expect(await blobs('move', 'local', 's3')).toContain('All files were moved and verified.');
    expect([listLocal(), listRemote()]).toEqual([0, count]);
    expect(await blobs('status')).toMatch(/S3, .*: 200 files/);
    await blobs('move', 's3', 'local');
    expect([listLocal(), listRemote()]).toEqual([count, 0]);
    for (let index = 0; index < count; index += 1) expect(readFileSync(getLocal(index), 'utf8')).toBe(content(index));
  }, 120_000);

  it('continues a move that was killed', async () => {
    const child = spawn(process.execPath, [command, 'blobs', 'move', 'local', 's3', '--data-dir', dataDir], {
      env: environment,
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    await expect.poll(listRemote, { timeout: 60_000, interval: 5 }).toBeGreaterThan(3);
    child.kill('SIGKILL');
    await ended;
    // Nothing is removed before everything is copied, so each file exists in at least one store.
    expect(listLocal()).toBe(count);
    await blobs('move', 'local', 's3');
    expect([listLocal(), listRemote()]).toEqual([0, count]);
    await blobs('move', 's3', 'local');
    for (let index = 0; index < count; index += 1) expect(readFileSync(getLocal(index), 'utf8')).toBe(content(index));
  }, 120_000);

  it('removes nothing when the stores contain different files under one name', async () => {
    await blobs('move', 'local', 's3');
    writeFileSync(getLocal(7), 'something else');
    await expect(blobs('move', 'local', 's3')).rejects.toMatchObject({
      stderr: expect.stringContaining('attachments/file7'),
    });
    expect([readFileSync(getLocal(7), 'utf8'), listRemote()]).toEqual(['something else', count]);
  }, 120_000);

  it('explains missing settings', async () => {
    environment = testEnvironment(dataDir);
    expect(await blobs('status')).toContain('S3 isn’t set up');
    await expect(blobs('move', 'local', 's3')).rejects.toMatchObject({
      stderr: expect.stringContaining('HOMEPORT_S3_BUCKET'),
    });
    await expect(blobs('move', 'local', 'cloud')).rejects.toMatchObject({ code: 2 });
  }, 60_000);
});
