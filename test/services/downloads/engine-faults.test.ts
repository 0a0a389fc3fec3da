import { describeActivity } from '../../../services/contracts/downloads/activity.ts';
import * as m from '#messages/downloads-problems';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { findEngineProblem } from '../../../services/downloads/engine/version-check.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { enginesFolder } from '../../support/host.ts';
import { dataFolderWith, fakeEngine, openRig, processesNaming, streams, type Rig } from './rig.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  const stack = open;
  open = new AsyncDisposableStack();
  await stack.disposeAsync();
});

async function rigWith(
  settings: object = {},
  environment: Record<string, string> = {},
  clock?: FakeClock,
): Promise<Rig> {
  const dataDir = dataFolderWith(settings);
  open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  return open.use(await openRig({ dataDir, environment, ...(clock && { clock }) }));
}

function fake(answer: string, version?: string): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'fake-engine-'));
  open.defer(() => rmSync(folder, { recursive: true, force: true }));
  return fakeEngine(folder, answer, version);
}

/** Returns the PIDs of this process's loaded extractors. */
async function workers(): Promise<readonly number[]> {
  const pids: number[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (parent === String(process.pid) && stat.includes('python')) pids.push(Number(pid));
  }
  return pids;
}

describe('the extractor', () => {
  it('continues each download from its partial file after the worker was killed', async () => {
    const { client, site, file } = await rigWith({ mode: 'concurrent', maxConcurrent: 3 });
    const files = [site.hold(), site.hold(), site.hold()];
    const uids = await Promise.all(files.map(async ({ url }) => await client.add(url)));
    for (const uid of uids) await client.until(uid, ({ percent }) => (percent ?? 0) > 10);
    const [worker] = await workers();
    site.reset();
    process.kill(worker ?? 0, 'SIGKILL');
    const listContinued = (): readonly string[] => [...new Set(site.stats().ranges.map(({ path }) => path))].toSorted();
    await expect.poll(listContinued).toEqual(files.map(({ path }) => path));
    for (const { release } of files) release();
    for (const uid of uids) {
      const record = await client.ended(uid);
      expect(record).toMatchObject({ status: 'finished', error: null });
      expect(await streams(file(record.filename ?? ''))).toEqual(['h264/720', 'aac']);
      expect(await processesNaming(uid)).toEqual([]);
    }
  });

  it('fails only the download whose process was killed, and a retry continues its partial file', async () => {
    const { client, site } = await rigWith();
    const held = site.hold();
    const uid = await client.add(held.url);
    await client.until(uid, ({ percent }) => (percent ?? 0) > 10);
    const [worker] = await workers();
    const child = (await processesNaming(uid)).find((pid) => pid !== worker && pid !== process.pid);
    process.kill(child ?? 0, 'SIGKILL');
    expect((await client.ended(uid)).error).toBe(m.engineKilled());
    site.reset();
    held.release();
    await client.post('/retry', { id: uid });
    expect(await client.ended(uid)).toMatchObject({ status: 'finished' });
    expect(site.stats().ranges[0]?.start).toBeGreaterThan(100_000);
  });

  it('does not use a version that is too old; the download waits and the remedy is shown', async () => {
    const { client, site, host } = await rigWith({}, fake('exit 2', '2024.12.23'));
    const expectedMessage = expect.stringContaining(
      'yt-dlp 2024.12.23 is too old. Version 2025.11.12 or later is required.',
    ) as string;
    expect(await client.post('/add', { url: site.url('/single.mp4'), quality: 'best' })).toMatchObject({
      status: 'ok',
      msg: expectedMessage,
    });
    expect(await client.get('/status')).toMatchObject({ counts: { queued: 1 }, msg: expectedMessage });
    expect(host.log.filter((line) => line.includes('yt-dlp missing, downloads paused'))).toHaveLength(1);
  });

  it('waits for an executable that was removed while the host runs, and shows the remedy', async () => {
    const answer = `for word; do case "$word" in home:*) home="\${word#home:}" ;; esac; done
      case "$*" in
        *" -J "*) echo '{"id": "1", "title": "Clip", "formats": []}' ;;
        *) mkdir -p "$home"; echo video >"$home/Clip.mp4" ;;
      esac`;
    const environment = fake(answer);
    const path = environment['YTDLP_PATH'] ?? '';
    const clock = createFakeClock();
    const { client, site } = await rigWith({}, environment, clock);
    expect(await client.ended(await client.add(site.url('/one')))).toMatchObject({ status: 'finished' });
    await rename(path, `${path}.away`);
    const uid = await client.add(site.url('/two'));
    await vi.waitFor(async () => {
      expect(await client.get('/status')).toMatchObject({
        counts: { queued: 1, error: 0 },
        msg: expect.stringContaining('yt-dlp') as string,
      });
    });
    await rename(`${path}.away`, path);
    clock.advance(15_000);
    expect(await client.ended(uid)).toMatchObject({ status: 'finished' });
  });

  it.each([
    ['2025.11.12', false],
    ['2025.11.11', true],
    ['2025.9.30', true],
    ['2026.01.01.232959', false],
    ['of my own', false],
  ])('judges whether release %s is too old: %s', (version, tooOld) => {
    const engine = { name: 'yt-dlp', path: '/x', source: 'data', remedy: null, version } as const;
    expect(findEngineProblem(engine) !== undefined).toBe(tooOld);
  });

  it.each([
    ['that is cut off', `printf '%s' '{"_type": "video", "id": "1", "ti'`, m.engineOutputInvalid()],
    ['of another shape', `echo '{"id": {"a": 1}, "entries": "none"}'`, m.engineOutputInvalid()],
    ['that is missing', 'exit 0', m.engineOutputEmpty()],
    ['that is an error', 'echo "WARNING: odd" >&2; echo "ERROR: [x] The site said no" >&2; exit 1', 'The site said no'],
    ['without a word', 'exit 3', m.engineExited({ code: '3' })],
  ])('fails the download with the reason after an output %s', async (_name, answer, reason) => {
    const { client, site, host } = await rigWith({}, fake(answer));
    const added = await client.post('/add', { url: site.url('/single.mp4'), quality: 'best' });
    expect(added).toMatchObject({ status: 'error', msg: expect.stringContaining(reason) as string });
    const [record] = (await client.history()).done;
    expect(record?.error).toContain(reason);
    expect(await readdir(join(host.dataDir, 'downloads', 'temp')).catch(() => [])).toEqual([]);
  });

  it('ignores other text between the lines of the output', async () => {
    const junk =
      `echo 'P not json'; echo 'A {"filepath": 5}'; echo 'Q'; printf 'B {"id": \\n\\377\\376\\n'; ` +
      `echo 'P {"downloaded_bytes": "x"}'`;
    const answer = `case "$*" in
      *" -J "*) ${junk}; echo '{"id": "1", "title": "Junk", "formats": []}'; ${junk} ;;
      *) ${junk}
        for word; do case "$word" in home:*) home="\${word#home:}" ;; esac; done
        mkdir -p "$home"; echo video >"$home/Junk.mp4"; echo "A {\\"filepath\\": \\"$home/Junk.mp4\\"}"; ${junk} ;;
    esac`;
    const { client, site } = await rigWith({}, fake(answer));
    const uid = await client.add(site.url('/single.mp4'));
    expect(await client.ended(uid)).toMatchObject({ status: 'finished', title: 'Junk', filename: 'Junk.mp4', size: 6 });
  });

  it.each([
    ['a video', { id: 'x'.repeat(3e6), title: '字'.repeat(1e6), formats: [] }],
    [
      'a list',
      {
        _type: 'playlist',
        id: 'y'.repeat(3e6),
        title: '字'.repeat(1e6),
        entries: [{ id: 'z'.repeat(3e6), title: '字'.repeat(1e6), url: `http://127.0.0.1/${'a'.repeat(3e6)}` }],
      },
    ],
    ['a stream', { id: '1', title: 'Announced', live_status: 'is_upcoming', release_timestamp: 1e300 }],
  ])('limits the length of %s', async (_name, field) => {
    const folder = mkdtempSync(join(tmpdir(), 'answers-'));
    open.defer(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'answer.json'), `${JSON.stringify(field)}\n`);
    const { client, site } = await rigWith({}, fake(`cat '${folder}/answer.json'`));
    await client.post('/pause', {});
    expect(await client.post('/add', { url: site.url('/single.mp4'), quality: 'best' })).toMatchObject({
      status: 'ok',
    });
    const text = JSON.stringify(await client.history());
    expect(text.length).toBeLessThan(10_000);
    const { queue } = JSON.parse(text) as { queue: readonly { live_release_timestamp: number | null }[] };
    expect(queue).toHaveLength(1);
    expect(new Date((queue[0]?.live_release_timestamp ?? 0) * 1000).getTime()).not.toBeNaN();
  });

  it('reports missing ffmpeg once, not with each download', async () => {
    const { client, site, host } = await rigWith({}, { FFMPEG_PATH: '/nowhere/ffmpeg' });
    for (const tag of ['a', 'b']) {
      expect(await client.ended(await client.add(site.url(`/single.mp4?${tag}`)))).toMatchObject({
        ...{ status: 'finished', msg: null },
      });
    }
    expect(await client.get('/status')).toMatchObject({
      ...{
        engine: { ffmpeg: null },
        msg: expect.stringContaining(m.ffmpegMissing()) as string,
      },
    });
    expect(host.log.filter((line) => line.includes('ffmpeg missing'))).toHaveLength(1);
  });
});

it('uses an updated extractor for the next download and finishes running ones with the former', async () => {
  const engines = mkdtempSync(join(tmpdir(), 'engines-'));
  open.defer(() => rmSync(engines, { recursive: true, force: true }));
  const executable = join(engines, 'yt-dlp');
  mkdirSync(executable, { recursive: true });
  const installed = join(enginesFolder, 'yt-dlp');
  const { current } = JSON.parse(readFileSync(join(installed, 'current'), 'utf8')) as { readonly current: string };
  const releases = ['2026.10.26-old', '2026.10.26-new'] as const;
  for (const release of releases) symlinkSync(join(installed, current), join(executable, release));
  const point = (to: string): void =>
    writeFileSync(join(executable, 'current'), JSON.stringify({ current: to, previous: releases[0] }));
  point(releases[0]);
  const { client, site } = await rigWith({}, { HOMEPORT_ENGINES_DIR: engines });
  const held = site.hold();
  const first = await client.add(held.url);
  await client.until(first, ({ percent }) => (percent ?? 0) > 10);
  const [before] = await workers();
  point(releases[1]);
  expect(await client.ended(await client.add(site.url('/single.mp4?second')))).toMatchObject({ status: 'finished' });
  expect(await workers()).toHaveLength(2);
  expect(await client.until(first, () => true)).toMatchObject({ status: 'downloading', error: null });
  held.release();
  expect(await client.ended(first)).toMatchObject({ status: 'finished' });
  expect(site.stats().ranges).toEqual([]);
  await vi.waitFor(async () => expect(await workers()).not.toContain(before), 15_000);
  expect(await workers()).toHaveLength(1);
});

describe('a transfer', () => {
  it('restarts a transfer that the server cannot continue and reports it in the row', async () => {
    const { client, site, file } = await rigWith();
    const uid = await client.add(site.url('/slownorange/400/big.mp4'));
    await client.until(uid, ({ percent }) => (percent ?? 0) > 30);
    await client.post('/pause', { ids: [uid] });
    await client.post('/resume', { ids: [uid] });
    await client.until(uid, ({ msg }) => msg === describeActivity({ kind: 'restarted' }));
    const record = await client.ended(uid);
    expect(record).toMatchObject({ status: 'finished', msg: null });
    expect(await streams(file(record.filename ?? ''))).toEqual(['h264/720', 'aac']);
  });

  it('fails on a missing fragment, and a retry fetches it', async () => {
    const { client, site, file } = await rigWith({ retries: 0 });
    let isComplete = false;
    const server = createServer((request, response) => {
      const isSecondSegment = request.url?.includes('-1.ts') === true;
      if (isSecondSegment && !isComplete) return void response.writeHead(404).end();
      void fetch(site.address + (request.url ?? '')).then(async (reply) => {
        response.writeHead(reply.status, { 'Content-Type': reply.headers.get('content-type') ?? '' });
        response.end(Buffer.from(await reply.arrayBuffer()));
      });
    }).listen(0, '127.0.0.1');
    open.defer(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const uid = await client.add(`http://127.0.0.1:${port}/hls/v360.m3u8`);
    expect(await client.ended(uid)).toMatchObject({ status: 'error', error: expect.stringContaining('404') as string });
    isComplete = true;
    site.reset();
    await client.post('/retry', { id: uid });
    const record = await client.ended(uid);
    expect(record).toMatchObject({ status: 'finished', error: null });
    expect(await streams(file(record.filename ?? ''))).toEqual(['h264/360']);
    expect(site.stats().hits['/hls/v360-0.ts']).toBeUndefined();
  });

  it('requests the rest of a stalled transfer', async () => {
    const { client, site, file } = await rigWith({ socketTimeout: 2 });
    const record = await client.ended(await client.add(site.url('/stall/500000/big.mp4')));
    expect(record).toMatchObject({ status: 'finished', error: null });
    expect(site.stats().ranges).toMatchObject([{ path: '/stall/500000/big.mp4' }]);
    expect(await streams(file(record.filename ?? ''))).toEqual(['h264/720', 'aac']);
  });

  it('recreates deleted folders, and fails with a clear message if it cannot', async () => {
    const { client, site, host, file } = await rigWith({ retries: 0 });
    const temp = join(host.dataDir, 'downloads', 'temp');
    for (const folder of [join(host.dataDir, 'Downloads'), temp]) {
      const held = site.hold();
      const uid = await client.add(held.url);
      await client.until(uid, ({ percent }) => (percent ?? 0) > 10);
      await rm(folder, { recursive: true, force: true });
      held.release();
      const record = await client.ended(uid);
      expect(record).toMatchObject({ status: 'finished', error: null });
      expect(await streams(file(record.filename ?? ''))).toEqual(['h264/720', 'aac']);
    }
    await rm(temp, { recursive: true, force: true });
    writeFileSync(temp, 'in the way');
    const { uid = '', msg } = await client.post('/add', { url: site.url('/single.mp4'), quality: 'best' });
    expect(msg).toContain(m.workFolderNotWritableAt({ reason: 'ENOTDIR', folder: temp }));
    expect((await client.ended(uid)).error).toBe(msg);
    await rm(temp);
    await client.post('/retry', { id: uid });
    expect(await client.ended(uid)).toMatchObject({ status: 'finished' });
  });
});
