import { mkdtempSync, rmSync } from 'node:fs';
import { chmod, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { startFixtureSite } from '../../support/fixture-site/site.ts';
import { startHostProcess } from '../../support/host-process.ts';
import {
  Client,
  dataFolderWith,
  openRig,
  partBytes,
  processesNaming,
  requireEngines,
  streams,
  type Rig,
} from './rig.ts';

describe.each([
  ['a loaded yt-dlp', true],
  ['its executable', false],
])('a live stream, with %s', (_name, keepLoaded) => {
  let rig: Rig;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = dataFolderWith({ keepLoaded });
    rig = await openRig({ dataDir });
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** Starts a recording and resolves when a part of it is on disk. */
  async function record(name: string): Promise<string> {
    const uid = await rig.client.add(rig.site.url(`/live/${name}.m3u8`));
    await rig.client.until(uid, ({ msg }) => /^Recording \d+:\d\d, [0-9.]+ MB$/.test(msg ?? ''));
    return uid;
  }

  it('reports the recorded duration and size, and is kept when it is stopped', async () => {
    const uid = await record('kept');
    const running = await rig.client.until(uid, ({ status }) => status === 'downloading');
    expect(running).toMatchObject({ live_status: 'is_live', percent: null });
    expect(await rig.client.post('/pause', { ids: [uid] })).toMatchObject({ status: 'ok', uids: [uid] });
    const ended = await rig.client.ended(uid);
    expect(ended).toMatchObject({ status: 'finished', error: null });
    const file = rig.file(ended.filename ?? '');
    expect((await stat(file)).size).toBeGreaterThan(0);
    expect(await streams(file)).toEqual(['h264/360']);
    expect(await processesNaming(uid)).toEqual([]);
    expect(await readdir(join(dataDir, 'downloads', 'temp'))).toEqual([]);
  });

  it('leaves no files or processes when it is cancelled', async () => {
    const before = await readdir(join(dataDir, 'Downloads'));
    const uid = await record('cancelled');
    await rig.client.post('/delete', { where: 'queue', ids: [uid] });
    await vi.waitFor(async () => expect(await processesNaming(uid)).toEqual([]), { timeout: 20_000 });
    await vi.waitFor(async () => expect(await readdir(join(dataDir, 'downloads', 'temp'))).toEqual([]));
    expect(await readdir(join(dataDir, 'Downloads'))).toEqual(before);
  });

  it('is finished at the end of the stream', async () => {
    const uid = await rig.client.add(rig.site.url('/live/short.m3u8?n=4'));
    const ended = await rig.client.ended(uid);
    expect(ended).toMatchObject({ status: 'finished' });
    expect(await streams(rig.file(ended.filename ?? ''))).toEqual(['h264/360']);
  });
});

it('records a live stream again next to the existing part after kill -9, without orphaned ffmpeg', async () => {
  await requireEngines();
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-crash-'));
  try {
    await using site = await startFixtureSite();
    const environment = { ALLOW_PRIVATE_ADDRESSES: 'true' };
    let uid: string;
    let orphans: readonly number[];
    {
      await using host = await startHostProcess(dataDir, { environment });
      const client = new Client(host.url('downloads'));
      uid = await client.add(site.url('/live/crash.m3u8'));
      await vi.waitFor(async () => expect(await partBytes(dataDir, uid)).toBeGreaterThan(100_000), { timeout: 30_000 });
      orphans = await processesNaming(uid);
      await host.kill();
    }
    await using host = await startHostProcess(dataDir, { environment });
    const client = new Client(host.url('downloads'));
    await client.until(uid, ({ msg }) => /^Recording/.test(msg ?? ''));
    expect((await processesNaming(uid)).filter((pid) => orphans.includes(pid))).toEqual([]);
    await client.post('/pause', { ids: [uid] });
    expect(await client.ended(uid)).toMatchObject({ status: 'finished' });
    const files = await readdir(join(dataDir, 'Downloads'));
    expect(files.filter((name) => name.includes('(before the break)'))).toHaveLength(1);
    expect(files).toHaveLength(2);
    for (const file of files) expect(await streams(join(dataDir, 'Downloads', file))).toEqual(['h264/360']);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

describe('an upcoming stream', () => {
  it('waits for its start time across a restart, and then starts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'homeport-upcoming-'));
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-upcoming-'));
    try {
      const environment = {
        ALLOW_PRIVATE_ADDRESSES: 'true',
        DOWNLOAD_MODE: 'concurrent',
        YTDLP_PATH: await announcing(folder),
      };
      let uid: string;
      {
        await using rig = await openRig({ dataDir, environment });
        uid = await rig.client.add(rig.site.url('/premiere'));
        const record = await rig.client.until(uid, ({ status }) => status === 'scheduled');
        expect(record).toMatchObject({
          title: 'Premiere',
          live_status: 'is_upcoming',
          live_release_timestamp: expect.any(Number),
          error: null,
        });
        expect(await rig.client.get('/status')).toMatchObject({ counts: { scheduled: 1, queued: 0 } });
        // A download that waits for its start time does not block others.
        const other = await rig.client.add(rig.site.url('/other'));
        expect(await rig.client.ended(other)).toMatchObject({ status: 'finished' });
      }
      const clock = createFakeClock(Date.now());
      await using rig = await openRig({ dataDir, environment, clock });
      expect(await rig.client.until(uid, () => true)).toMatchObject({ status: 'scheduled' });
      await writeFile(join(folder, 'begun'), '');
      clock.set(clock.now() + 3_600_000);
      clock.advance(30_000);
      expect(await rig.client.ended(uid)).toMatchObject({ status: 'finished', live_release_timestamp: null });
    } finally {
      rmSync(folder, { recursive: true, force: true });
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

/** Creates an extractor that reports a premiere in an hour, which begins when the folder contains `begun`. */
async function announcing(folder: string): Promise<string> {
  const script = `#!/usr/bin/env python3
import json, os, sys, time
argv = sys.argv[1:]
if '--version' in argv:
    print('2026.10.26'); sys.exit(0)
has_begun = os.path.exists(${JSON.stringify(join(folder, 'begun'))})
address = argv[-1]
if '-J' in argv:
    if address.endswith('/premiere') and not has_begun:
        if '--ignore-no-formats-error' not in argv:
            print('ERROR: [site] x: This live event will begin in a few moments.', file=sys.stderr); sys.exit(1)
        print(json.dumps({'id': 'x', 'title': 'Premiere', 'live_status': 'is_upcoming', 'release_timestamp': int(time.time()) + 3600})); sys.exit(0)
    print(json.dumps({'id': 'x', 'title': 'Premiere', 'live_status': 'was_live'})); sys.exit(0)
out = [each[5:] for each in argv if each.startswith('home:')][0]
os.makedirs(out, exist_ok=True)
path = os.path.join(out, 'Premiere.mp4')
open(path, 'w').write('video')
print('A ' + json.dumps({'id': 'x', 'title': 'Premiere', 'filepath': path}))
`;
  const path = join(folder, 'yt-dlp');
  await writeFile(path, script);
  await chmod(path, 0o755);
  return path;
}
