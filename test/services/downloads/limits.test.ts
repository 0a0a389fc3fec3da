import { rmSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import type { DownloadLimits, CurrentLimits } from '../../../services/contracts/downloads/limits.ts';
import { createWallClock } from '../../../services/contracts/quiet-hours.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { control } from '../../../services/control/index.ts';
import { getAllowedState } from '../../../services/downloads/limits/allowed-hours.ts';
import { createFakeClock } from '../../support/clock.ts';
import { admin, type TestHostOptions } from '../../support/host.ts';
import { dataFolderWith, holdFeed, openRecordedRig, openRig, partBytes, processesNaming, type Rig } from './rig.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  const stack = open;
  open = new AsyncDisposableStack();
  await stack.disposeAsync();
});

interface LimitRig extends Rig {
  /** Changes limits through the app API. */
  readonly limit: (limits: Partial<DownloadLimits>) => Promise<CurrentLimits>;
  readonly now: () => Promise<CurrentLimits>;
  readonly start: (uids: readonly string[], anyway?: boolean) => Promise<unknown>;
}

async function limitRig(
  options: TestHostOptions & { readonly settings?: object } = {},
  openHost = openRig,
): Promise<LimitRig> {
  const dataDir = options.dataDir ?? dataFolderWith(options.settings ?? {});
  if (options.dataDir === undefined) open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const rig = open.use(await openHost({ ...options, dataDir, services: [downloads, control] }));
  const base = `${rig.host.url('control')}/api/downloads`;
  const headers = {
    'Content-Type': 'application/json',
    Authorization: `Basic ${Buffer.from(`${admin.name}:${admin.password}`).toString('base64')}`,
  };
  const ask = async (path: string, method = 'GET', body?: object): Promise<unknown> => {
    const reply = await fetch(base + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!reply.ok) throw new Error(`${String(reply.status)}: ${await reply.text()}`);
    return await reply.json();
  };
  return Object.assign(rig, {
    limit: async (limits: Partial<DownloadLimits>) => (await ask('/limits', 'PUT', limits)) as CurrentLimits,
    now: async () => (await ask('/limits')) as CurrentLimits,
    start: async (uids: readonly string[], anyway = false) => await ask('/start', 'POST', { uids, anyway }),
  });
}

/** Returns the time of day on Monday, January 5, 2026, in this time zone, in milliseconds since the epoch. */
function monday(hours: number, minutes = 0, seconds = 0): number {
  return new Date(2026, 0, 5, hours, minutes, seconds).getTime();
}

describe('the speed limit', () => {
  it('applies to all downloads together, and a change applies immediately without restarting transfers', async () => {
    const { client, site, limit } = await limitRig();
    await limit({ speed: 60_000 });
    const uids = [await client.add(site.slow(600, 'big.mp4', 'a')), await client.add(site.slow(600, 'big.mp4', 'b'))];
    // Both are read at the same time, because a single download may briefly use the complete rate.
    const countActive = async (): Promise<number> =>
      (await client.history()).queue.reduce((sum, { speed }) => sum + (speed ?? Infinity), 0);
    await expect.poll(countActive).toBeLessThan(90_000);
    await limit({ speed: null });
    for (const uid of uids) expect(await client.ended(uid)).toMatchObject({ status: 'finished' });
    expect(site.stats().ranges).toEqual([]);
  });

  it('applies to running downloads', async () => {
    const { client, site, limit } = await limitRig();
    const uid = await client.add(site.slow(500));
    await client.until(uid, ({ speed }) => (speed ?? 0) > 300_000);
    await limit({ speed: 10_000 });
    await client.until(uid, ({ speed, status }) => status === 'downloading' && (speed ?? Infinity) < 250_000);
    await client.post('/delete', { where: 'queue', ids: [uid] });
  });

  it('applies without a loaded yt-dlp, where a change continues by a range request', async () => {
    const { client, site, host, limit } = await limitRig({ settings: { keepLoaded: false } });
    const uid = await client.add(site.slow(400));
    await client.until(uid, ({ percent }) => (percent ?? 0) > 10);
    await limit({ speed: 30_000 });
    await client.until(uid, ({ speed }) => speed !== null && speed < 60_000);
    expect(await partBytes(host.dataDir, uid)).toBeGreaterThan(100_000);
    await limit({ speed: null });
    expect(await client.ended(uid)).toMatchObject({ status: 'finished' });
    expect(site.stats().ranges).toHaveLength(2);
  });

  it('is kept across a restart', async () => {
    const dataDir = dataFolderWith({});
    open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
    const first = await limitRig({ dataDir });
    await first.limit({ speed: 50_000, hours: ['22:00-06:00'] });
    await first[Symbol.asyncDispose]();
    const { now, limit, client, site } = await limitRig({ dataDir });
    expect((await now()).limits).toEqual({ speed: 50_000, hours: ['22:00-06:00'] });
    await limit({ speed: 50_000, hours: [] });
    const uid = await client.add(site.slow(600));
    expect((await client.until(uid, ({ speed }) => speed !== null && speed < 60_000)).status).toBe('downloading');
  });

  it('refuses an invalid speed', async () => {
    const { limit } = await limitRig();
    await expect(limit({ speed: 3 })).rejects.toThrow('422');
    await expect(limit({ hours: ['at night'] })).rejects.toThrow('422');
  });
});

describe('allowed hours', () => {
  const night = ['22:00-06:00'];

  it('holds all downloads by day and starts them when the hours begin', async () => {
    const clock = createFakeClock(monday(12));
    const { client, site, limit } = await limitRig({ clock }, openRecordedRig);
    expect(await limit({ hours: night })).toMatchObject({ open: false, changesAt: monday(22) });
    const uid = await client.add(site.url('/single.mp4'));
    await client.until(uid, ({ status }) => status === 'pending');
    clock.set(monday(21, 59, 50));
    clock.advance(5000);
    expect(await client.order()).toEqual([uid]);
    clock.advance(60_000);
    expect(await client.ended(uid)).toMatchObject({ status: 'finished' });
  });

  it('stops running downloads at the end of the hours, keeps partial files and continues one anyway', async () => {
    const clock = createFakeClock(monday(5, 59, 40));
    const { client, site, host, limit, start, now } = await limitRig({ clock }, openRecordedRig);
    await limit({ hours: night });
    const file = site.hold();
    const uid = await client.add(file.url);
    await client.until(uid, ({ percent }) => (percent ?? 0) > 10);
    clock.advance(20_000);
    await client.until(uid, ({ status }) => status === 'pending');
    await expect.poll(() => processesNaming(uid)).toEqual([]);
    expect(await now()).toMatchObject({ open: false, changesAt: monday(22) });
    const other = await client.add(site.url('/single.mp4'));
    const partialBytes = await partBytes(host.dataDir, uid);
    expect(partialBytes).toBeGreaterThan(100_000);
    site.reset();
    file.release();
    expect(await start([uid], true)).toEqual({ started: 1 });
    expect(await client.ended(uid)).toMatchObject({ status: 'finished' });
    expect(site.stats().ranges).toEqual([{ path: file.path, start: partialBytes }]);
    expect(await client.order()).toEqual([other]);
    await limit({ hours: [] });
    expect(await client.ended(other)).toMatchObject({ status: 'finished' });
  });

  it('are not applied to videos of a playlist that was started during its probe', async () => {
    const { client, limit, start } = await limitRig({ clock: createFakeClock(monday(12)) }, openRecordedRig);
    await limit({ hours: night });
    const feed = open.use(await holdFeed());
    const adding = client.post('/add', { url: feed.url, quality: 'best', format: 'any' });
    await feed.requested;
    const [playlist = ''] = await client.order();
    expect(await start([playlist], true)).toEqual({ started: 1 });
    feed.answer(['One', 'Two']);
    const { uids = [] } = await adding;
    expect(uids).toHaveLength(2);
    // Downloads are allowed, but there is nothing to download.
    for (const uid of uids) expect(await client.ended(uid)).toMatchObject({ status: 'error' });
  });

  it.each([
    [['22:00-06:00'], monday(21), false, monday(22)],
    [['22:00-06:00'], monday(23), true, monday(30)],
    [['22:00-06:00', '05:00-07:30'], monday(23), true, monday(31, 30)],
    [['sat sun 00:00-24:00'], monday(9), false, monday(5 * 24)],
    [['00:00-00:00'], monday(9), true, null],
    [[], monday(9), true, null],
  ] as const)('evaluates %j at %d as open %s until %s', (lines, time, isOpen, changesAt) => {
    expect(getAllowedState(lines, createWallClock(), time)).toEqual({ open: isOpen, changesAt });
  });
});
