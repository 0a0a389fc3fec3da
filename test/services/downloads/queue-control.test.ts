import * as m from '#messages/downloads-problems';
import { existsSync, rmSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { downloads } from '../../../services/downloads/index.ts';
import { openTestHost } from '../../support/host.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import {
  Client,
  dataFolderWith,
  holdFeed,
  openRecordedRig,
  partBytes,
  processesNaming,
  streams,
  type Rig,
} from './rig.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  const stack = open;
  open = new AsyncDisposableStack();
  await stack.disposeAsync();
});

async function rigWith(environment: Record<string, string> = {}, clock?: FakeClock): Promise<Rig> {
  const dataDir = dataFolderWith({});
  open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  return open.use(await openRecordedRig({ dataDir, environment, ...(clock && { clock }) }));
}

describe('a paused download', () => {
  it('stops immediately, frees its slot, keeps its partial file and continues it', async () => {
    const { client, site, host, file } = await rigWith({ DOWNLOAD_MODE: 'sequential' });
    const held = site.hold();
    const uid = await client.add(held.url);
    const next = await client.add(site.url('/single.mp4?next'));
    await client.until(uid, ({ percent }) => (percent ?? 0) > 10);
    expect(await client.post('/pause', { ids: [uid] })).toEqual({ status: 'ok', uids: [uid], paused: false });
    expect(await processesNaming(uid)).toEqual([]);
    const partialBytes = await partBytes(host.dataDir, uid);
    expect(partialBytes).toBeGreaterThan(100_000);
    expect(await client.ended(next)).toMatchObject({ status: 'finished' });
    const { queue } = await client.history();
    expect(queue).toMatchObject([{ uid, status: 'paused', speed: null, percent: expect.any(Number) as number }]);

    site.reset();
    held.release();
    expect(await client.post('/resume', { ids: [held.url] })).toMatchObject({ status: 'ok', uids: [uid] });
    expect(await client.ended(uid)).toMatchObject({ status: 'finished' });
    expect(site.stats().ranges).toEqual([{ path: held.path, start: partialBytes }]);
    expect(await streams(file('big.mp4'))).toEqual(['h264/720', 'aac']);
  });

  it('keeps a paused waiting download at its position without starting it', async () => {
    const { client, site } = await rigWith({ DOWNLOAD_MODE: 'sequential' });
    const uids = [];
    for (const { url } of [site.hold(), site.hold(), site.hold()]) uids.push(await client.add(url));
    const [first = '', second = '', third = ''] = uids;
    await client.until(first, ({ status }) => status === 'downloading');
    await client.post('/pause', { ids: [second] });
    expect(await client.order()).toEqual(uids);
    await client.post('/delete', { where: 'queue', ids: [first] });
    await client.until(third, ({ status }) => status === 'downloading');
    expect(await client.order()).toEqual([second, third]);
    await client.post('/resume', { ids: [second] });
    expect((await client.history()).queue[0]).toMatchObject({ uid: second, status: 'pending' });
  });

  it('leaves no files when it is cancelled', async () => {
    const { client, site, host } = await rigWith();
    const uid = await client.add(site.hold().url);
    await client.until(uid, ({ percent }) => (percent ?? 0) > 3);
    await client.post('/pause', { ids: [uid] });
    await client.post('/delete', { where: 'queue', ids: [uid] });
    await vi.waitFor(() => expect(existsSync(`${host.dataDir}/downloads/temp/${uid}`)).toBe(false));
    expect(await client.order()).toEqual([]);
  });

  it('is paused even during its probe', async () => {
    const { client, site } = await rigWith();
    const adding = client.post('/add', { url: site.url('/mute'), quality: 'best' });
    const uid = await vi.waitFor(async () => {
      const [row] = (await client.history()).queue;
      if (row?.status !== 'preparing') throw new Error('not yet');
      return row.uid;
    });
    await client.post('/pause', { ids: [uid] });
    expect(await adding).toMatchObject({ status: 'ok', uid });
    expect(await client.until(uid, () => true)).toMatchObject({ status: 'paused' });
    expect(await processesNaming(site.url('/mute'))).toEqual([]);
  });
});

describe('the whole queue', () => {
  it('stays paused across a restart, accepts new downloads and continues on resume', async () => {
    const { client, site, host } = await rigWith({ DOWNLOAD_MODE: 'sequential' });
    const held = site.hold();
    const first = await client.add(held.url);
    await client.until(first, ({ percent }) => (percent ?? 0) > 5);
    expect(await client.post('/pause', {})).toEqual({ status: 'ok', uids: [first], paused: true });
    expect(await client.post('/pause', {})).toEqual({ status: 'ok', uids: [], paused: true });
    const partialBytes = await partBytes(host.dataDir, first);
    await host[Symbol.asyncDispose]();
    site.reset();
    held.release();

    await using restarted = await openTestHost({
      services: [downloads],
      dataDir: host.dataDir,
      environment: { ALLOW_PRIVATE_ADDRESSES: 'true' },
    });
    const restartedClient = new Client(restarted.url('downloads'));
    const second = await restartedClient.add(site.url('/single.mp4'));
    expect(await restartedClient.get('/status')).toMatchObject({
      paused: true,
      counts: { paused: 1, queued: 1, downloading: 0 },
    });
    expect(await restartedClient.post('/resume', { ids: [first] })).toMatchObject({
      msg: 'They wait until the whole queue is resumed.',
      paused: true,
    });
    expect(await restartedClient.get('/status')).toMatchObject({ counts: { queued: 2, downloading: 0 } });
    expect(await restartedClient.post('/resume', {})).toMatchObject({ status: 'ok', paused: false });
    for (const uid of [first, second]) expect(await restartedClient.ended(uid)).toMatchObject({ status: 'finished' });
    expect(site.stats().ranges).toEqual([{ path: held.path, start: partialBytes }]);
    expect((await restartedClient.history()).done.map(({ uid }) => uid)).toEqual([first, second]);
  });
});

it('expands a playlist that was added to a paused queue, even from a slow site', async () => {
  const clock = createFakeClock();
  const { client } = await rigWith({}, clock);
  await client.post('/pause', {});
  const feed = open.use(await holdFeed());
  const adding = client.post('/add', { url: feed.url, quality: 'best', format: 'any' });
  await feed.requested;
  // Waits longer than the interval in which the host checks its processes.
  clock.advance(30_000);
  expect(await adding).toMatchObject({ status: 'ok', msg: 'Queued' });
  feed.answer(['One', 'Two']);
  await vi.waitFor(async () => expect(await client.order()).toHaveLength(2), 30_000);
});

describe('reordering', () => {
  it('moves rows to the requested position, which determines the order of downloads', async () => {
    const { client, site } = await rigWith({ DOWNLOAD_MODE: 'sequential' });
    await client.post('/pause', {});
    const uids: string[] = [];
    for (const tag of ['a', 'b', 'c', 'd', 'e']) uids.push(await client.add(site.url(`/single.mp4?${tag}`)));
    const [a = '', b = '', c = '', d = '', e = ''] = uids;
    const move = async (body: object): Promise<readonly string[]> => {
      expect(await client.post('/reorder', body)).toMatchObject({ status: 'ok' });
      return await client.order();
    };
    expect(await move({ ids: [d, b] })).toEqual([d, b, a, c, e]);
    expect(await move({ id: d, position: 'bottom' })).toEqual([b, a, c, e, d]);
    expect(await move({ id: e, position: 1 })).toEqual([b, e, a, c, d]);
    expect(await move({ ids: [c, b], before: a })).toEqual([e, c, b, a, d]);
    expect(await move({ ids: [site.url('/single.mp4?e')], after: b })).toEqual([c, b, e, a, d]);
    expect(await move({ ids: [c, b], before: e })).toEqual([c, b, e, a, d]);
    expect(await move({ id: a, position: 999 })).toEqual([c, b, e, d, a]);
    const f = await client.add(site.url('/single.mp4?f'));
    expect(await client.order()).toEqual([c, b, e, d, a, f]);
    await client.post('/resume', {});
    for (const uid of [c, b, e, d, a, f]) await client.ended(uid);
    expect((await client.history()).done.map(({ uid }) => uid)).toEqual([c, b, e, d, a, f]);
  });

  it('keeps all downloads and the order when adding at the same time', async () => {
    const { client, site } = await rigWith();
    await client.post('/pause', {});
    const feed = await client.post('/add', { url: site.url('/feed/60.rss'), quality: 'best' });
    const uids = feed.uids ?? [];
    expect(uids).toHaveLength(60);
    const backwards = uids.toReversed();
    const moves = uids.map(async (uid) => await client.post('/reorder', { id: uid, position: 'top' }));
    const adds = ['x', 'y', 'z'].map(async (tag) => await client.add(site.url(`/single.mp4?${tag}`)));
    const added = await Promise.all(adds);
    await Promise.all(moves);
    await client.post('/reorder', { ids: backwards });
    const order = await client.order();
    expect(order.slice(0, 60)).toEqual(backwards);
    expect(order.slice(60).toSorted()).toEqual(added.toSorted());
  });
});

describe('an invalid operation', () => {
  it('is reported in the format of the other routes', async () => {
    const { client, site } = await rigWith();
    const uid = await client.add(site.url('/single.mp4'));
    await client.ended(uid);
    expect(await client.post('/pause', { ids: [uid, 'nobody'] })).toEqual({
      status: 'error',
      msg: `There is nothing left to pause of what has ended: ${uid}`,
      uids: [],
      unknown: ['nobody'],
      paused: false,
    });
    expect(await client.post('/reorder', { ids: ['nobody'], position: 'top' })).toEqual({
      status: 'ok',
      uids: [],
      unknown: ['nobody'],
    });
    const refused = async (path: string, body: object): Promise<readonly [number, string]> => {
      const reply = await fetch(client.base + path, { method: 'POST', body: JSON.stringify(body) });
      return [reply.status, ((await reply.json()) as { error: string }).error];
    };
    const list = [400, `'ids' must be a non-empty list of strings`];
    for (const path of ['/pause', '/resume', '/reorder']) {
      for (const ids of ['x', [], [7], {}]) expect(await refused(path, { ids })).toEqual(list);
    }
    expect(await refused('/reorder', {})).toEqual(list);
    expect(await refused('/reorder', { id: uid })).toEqual([400, `'id' needs one of 'before', 'after' and 'position'`]);
    const position = [400, `'before' and 'after' name a download; 'position' is 'top', 'bottom' or a number from 0`];
    for (const wrong of [-1, 1.5, 'middle'])
      expect(await refused('/reorder', { id: uid, position: wrong })).toEqual(position);
    expect(await refused('/reorder', { ids: [uid], before: 'nobody' })).toEqual([409, m.positionNotFound()]);
    expect((await fetch(`${client.base}/pause`)).headers.get('allow')).toBe('POST, OPTIONS');
  });
});
