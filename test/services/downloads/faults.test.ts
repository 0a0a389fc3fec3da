import * as m from '#messages/downloads-problems';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdir, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { enginesFolder } from '../../support/host.ts';
import { useRecordedExtractor } from '../../support/recorded-extractor/recorded-extractor.ts';
import { isMissing } from '../../support/requirements.ts';
import { dataFolderWith, openRig, processesNaming, streams, type Rig } from './rig.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  const stack = open;
  open = new AsyncDisposableStack();
  await stack.disposeAsync();
});

async function rigWith(options: Parameters<typeof openRig>[0] = {}, settings: object = {}): Promise<Rig> {
  const dataDir = options.dataDir ?? dataFolderWith(settings);
  open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  return open.use(await openRig({ ...options, dataDir }));
}

async function recordedRigWith(options: Parameters<typeof openRig>[0] = {}): Promise<Rig> {
  return await rigWith({ ...options, environment: { ...useRecordedExtractor(), ...options.environment } });
}

describe('a bad server', () => {
  it('requests the rest from a server that closed the connection', async () => {
    const { client, site, file } = await rigWith();
    const record = await client.ended(await client.add(site.url('/cut0/500000/big.mp4')));
    expect(record.status).toBe('finished');
    expect(site.stats().ranges).toContainEqual({ path: '/cut0/500000/big.mp4', start: expect.any(Number) as number });
    expect(await streams(file(record.filename ?? ''))).toEqual(['h264/720', 'aac']);
  });

  it('fails with the reason when the rest never arrives; a retry keeps the partial file', async () => {
    const { client, site } = await rigWith({}, { retries: 1 });
    const uid = await client.add(site.url('/dead/500000/big.mp4'));
    const record = await client.ended(uid);
    expect(record).toMatchObject({ status: 'error', error: expect.stringMatching(/^ERROR: /) as string });
    site.reset();
    expect(await client.post('/retry', { id: uid })).toMatchObject({ status: 'ok', uid });
    expect(await client.ended(uid)).toMatchObject({ status: 'error' });
    expect(site.stats().ranges[0]?.start).toBeGreaterThan(100_000);
  });

  it('responds and cancels immediately while a server does not respond', async () => {
    const { client, site, host } = await recordedRigWith();
    const response = await client.post('/add', { url: site.url('/mute'), quality: 'best' });
    expect(response).toMatchObject({ status: 'ok', msg: 'Queued' });
    const uid = response.uid ?? '';
    expect((await client.history()).queue.map(({ status }) => status)).toEqual(['preparing']);
    await client.post('/delete', { where: 'queue', ids: [uid] });
    expect((await client.history()).queue).toEqual([]);
    await vi.waitFor(async () => {
      expect(await processesNaming(site.url('/mute'))).toEqual([]);
      expect(existsSync(join(host.dataDir, 'downloads', 'temp', uid))).toBe(false);
    });
  });

  it('fails a download of a server that does not respond within the timeout', async () => {
    const { client, site } = await rigWith({}, { retries: 0, socketTimeout: 1 });
    const response = await client.post('/add', { url: site.url('/hang/single.mp4'), quality: 'best' });
    const record = await client.ended(response.uid ?? '');
    expect(record.error).toContain('timed out');
  });
});

describe('the queue', () => {
  it.each([
    ['sequential', 1],
    ['concurrent', 2],
  ])('runs in %s mode %i downloads in parallel', async (mode, bound) => {
    const { client, site } = await recordedRigWith({
      environment: { DOWNLOAD_MODE: mode, MAX_CONCURRENT_DOWNLOADS: '2' },
    });
    const uids = await Promise.all(
      ['a', 'b', 'c'].map(async (tag) => await client.add(site.slow(500, 'single.mp4', tag))),
    );
    for (const uid of uids) expect(await client.ended(uid)).toMatchObject({ status: 'finished' });
    expect(site.stats().maxConcurrent).toBe(bound);
  });

  it('removes the processes and partial files of a cancelled download', async () => {
    const { client, site, host } = await recordedRigWith();
    const uid = await client.add(site.hold().url);
    await client.until(uid, ({ percent }) => (percent ?? 0) > 1);
    expect(await processesNaming(uid)).not.toEqual([]);
    await client.post('/delete', { where: 'queue', ids: [uid] });
    await vi.waitFor(async () => {
      expect(await processesNaming(uid)).toEqual([]);
      expect(existsSync(join(host.dataDir, 'downloads', 'temp', uid))).toBe(false);
    });
    expect(await readdir(join(host.dataDir, 'Downloads')).catch(() => [])).toEqual([]);
  });

  it('continues partial files after a restart of the host', async () => {
    const dataDir = dataFolderWith({});
    const first = await recordedRigWith({ dataDir });
    const file = first.site.hold();
    const uid = await first.client.add(file.url);
    await first.client.until(uid, ({ percent }) => (percent ?? 0) > 5);
    await first.host[Symbol.asyncDispose]();
    expect(await processesNaming(uid)).toEqual([]);
    file.release();
    const second = await recordedRigWith({ dataDir });
    expect(await second.client.ended(uid)).toMatchObject({ status: 'finished' });
    expect(first.site.stats().ranges.map(({ path }) => path)).toContain(file.path);
  });

  it('probes again when the stored probe result is incomplete, and keeps the partial file', async () => {
    const dataDir = dataFolderWith({});
    const first = await recordedRigWith({ dataDir });
    const file = first.site.hold();
    const uid = await first.client.add(file.url);
    await first.client.until(uid, ({ percent }) => (percent ?? 0) > 5);
    await first.host[Symbol.asyncDispose]();
    await truncate(join(dataDir, 'downloads', 'temp', uid, 'info.json'), 1000);
    first.site.reset();
    file.release();
    const second = await recordedRigWith({ dataDir });
    expect(await second.client.ended(uid)).toMatchObject({ status: 'finished', error: null });
    expect(first.site.stats().ranges.map(({ path }) => path)).toContain(file.path);
  });

  it('waits for a missing extractor, shows the remedy, and starts when it is installed', async () => {
    const engines = mkdtempSync(join(tmpdir(), 'engines-'));
    open.defer(() => rmSync(engines, { recursive: true, force: true }));
    const { client, site, host } = await rigWith({ environment: { HOMEPORT_ENGINES_DIR: engines } });
    const response = await client.post('/add', { url: site.url('/single.mp4'), quality: 'best' });
    expect(response).toMatchObject({
      status: 'ok',
      msg: expect.stringContaining('homeport engines install yt-dlp') as string,
    });
    const status = await client.get<object>('/status');
    expect(status).toMatchObject({ counts: { queued: 1 }, engine: { 'yt-dlp': null } });
    expect(host.log.filter((line) => line.includes('yt-dlp missing, downloads paused'))).toHaveLength(1);
    symlinkSync(join(enginesFolder, 'yt-dlp'), join(engines, 'yt-dlp'));
    expect(await client.ended(response.uid ?? '')).toMatchObject({ status: 'finished' });
  });
});

describe('the disk', () => {
  it('recreates a missing download folder, and fails if a file has its path', async () => {
    const { client, site, host } = await recordedRigWith();
    const folder = join(host.dataDir, 'Downloads');
    await client.ended(await client.add(site.url('/single.mp4?first')));
    await rm(folder, { recursive: true });
    expect(await client.ended(await client.add(site.url('/single.mp4?second')))).toMatchObject({ status: 'finished' });
    await rm(folder, { recursive: true });
    writeFileSync(folder, 'in the way');
    const uid = await client.add(site.url('/single.mp4?third'));
    expect((await client.ended(uid)).error).toContain(m.downloadFolderNotWritable({ reason: 'EEXIST', folder }));
    await rm(folder);
    await client.post('/retry', { id: uid });
    expect(await client.ended(uid)).toMatchObject({ status: 'finished' });
  });

  it.skipIf(isMissing(canMount()))(
    'fails on a full disk without incomplete files, and a retry works with free space',
    async () => {
      for (const setting of ['TEMP_DIR', 'DOWNLOAD_DIR']) {
        const disk = mkdtempSync(join(tmpdir(), 'disk-'));
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
        open.defer(() => {
          execFileSync('umount', [disk]);
          rmSync(disk, { recursive: true });
        });
        const { client, site } = await rigWith({ environment: { [setting]: disk } }, { retries: 1 });
        const uid = await client.add(site.url('/big.mp4'));
        const record = await client.ended(uid);
        expect(record.error).toContain('is full');
        if (setting === 'DOWNLOAD_DIR') expect(await readdir(disk)).toEqual([]);
        execFileSync('mount', ['-o', 'remount,size=20m', disk]);
        await client.post('/retry', { id: uid });
        expect(await client.ended(uid)).toMatchObject({ status: 'finished', size: 1_817_226 });
        if (setting === 'DOWNLOAD_DIR') await vi.waitFor(async () => expect(await readdir(disk)).toEqual(['big.mp4']));
      }
    },
  );
});

function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const folder = mkdtempSync(join(tmpdir(), 'mount-'));
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder]);
    return true;
  } catch {
    return false; // A container without the right to mount.
  } finally {
    rmSync(folder, { recursive: true });
  }
}
