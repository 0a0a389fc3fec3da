import { expect, it } from 'vitest';
import type { Item } from '../../../services/downloads/domain/item.ts';
import { defaultOrderOptions } from '../../../services/downloads/domain/order.ts';
import { migrations } from '../../../services/downloads/migrations.ts';
import { isPaused, pauseItems, resumeItems, setPaused } from '../../../services/downloads/store/pause.ts';
import { readQueueOrder, storeOrder } from '../../../services/downloads/store/reorder.ts';
import { DownloadStore } from '../../../services/downloads/store/store.ts';
import { eachDialect } from '../../support/database.ts';

const owner = { machine: 'here', process: '1/1' };

function item(uid: string, fields: Partial<Item> = {}): Item {
  return {
    uid,
    url: `http://a/${uid}`,
    order: {
      type: 'video',
      codec: 'auto',
      format: 'mp4',
      quality: 'best',
      folder: null,
      prefix: '',
      itemLimit: 0,
      autoStart: true,
      login: null,
      ...defaultOrderOptions,
    },
    state: 'waiting',
    title: uid,
    videoId: uid,
    liveStatus: null,
    playlist: null,
    probed: true,
    attempts: 0,
    message: null,
    failure: null,
    filename: null,
    size: null,
    addedNs: '1795227620292055459',
    createdAt: 1_795_227_620_292,
    finishedAt: null,
    thumbnail: null,
    ...fields,
  };
}

eachDialect((_name, open) => {
  const newParts = async () => {
    const database = await open();
    await database.migrate(migrations);
    return { store: new DownloadStore(database.kysely), db: database.kysely };
  };
  const newStore = async (): Promise<DownloadStore> => (await newParts()).store;
  const uids = (items: readonly Item[]): readonly string[] => items.map(({ uid }) => uid);

  it('returns stored rows unchanged', async () => {
    const store = await newStore();
    const complete = item('a', {
      playlist: { id: 'p', title: 'P', index: 1, count: 2, entryTitle: null, entryAddress: 'x', byIndex: false },
      size: 5_000_000_000,
      message: 'm',
      failure: 'unreachable',
      failureParameters: { event: 'timeout' },
      batch: 'b',
    });
    await store.append([complete]);
    expect(await store.find('a')).toEqual(complete);
  });

  it('stores text that databases reject with replacement characters', async () => {
    const store = await newStore();
    await store.append([item('a', { title: 'a\0b', message: '\0', videoId: 'v\0', url: 'http://x/\0' })]);
    const fields = { title: 'a\ufffdb', message: '\ufffd', videoId: 'v\ufffd', url: 'http://x/\ufffd' };
    expect(await store.find('a')).toMatchObject(fields);
    await store.change('a', { title: '\0c', message: 'm\0' });
    expect(await store.find('a')).toMatchObject({ title: '\ufffdc', message: 'm\ufffd' });
  });

  it('limits a search with very many words to the first of them', async () => {
    const store = await newStore();
    await store.append([item('a', { title: 'one' }), item('b', { title: 'two' })]);
    for (const uid of ['a', 'b']) await store.finish(uid, 1, { state: 'finished' });
    const q = `one ${'o n e \0 '.repeat(2000)}${Array.from({ length: 2000 }, (_, index) => `w${index}`).join(' ')}`;
    expect((await store.history({ q: `${'one '.repeat(3000)}`, limit: 9, offset: 0 })).total).toBe(1);
    expect((await store.history({ q, limit: 9, offset: 0 })).total).toBe(0);
  });

  it('claims waiting items in order, each once', async () => {
    const store = await newStore();
    await store.append([item('a'), item('b', { state: 'pending' }), item('c')]);
    expect((await store.claim(owner, 10))?.uid).toBe('a');
    expect((await store.claim(owner, 10))?.uid).toBe('c');
    expect(await store.claim(owner, 10)).toBeUndefined();
    expect(await store.running()).toMatchObject([
      { item: { uid: 'a', state: 'preparing' }, owner: owner, leaseUntil: 10, child: null },
      { item: { uid: 'c' } },
    ]);
    await store.change('a', { state: 'waiting' });
    expect((await store.claim(owner, 10))?.uid).toBe('a');
  });

  it('reassigns the same positions, and appends new items', async () => {
    const { store, db } = await newParts();
    const rows = Array.from({ length: 700 }, (_, index) => item(`m${String(index).padStart(3, '0')}`));
    await store.append(rows);
    const backwards = uids(rows).toReversed();
    await storeOrder(db, await readQueueOrder(db), backwards);
    expect(uids(await store.queue())).toEqual(backwards);
    await store.append([item('new')]);
    expect(uids(await store.queue())).toEqual([...backwards, 'new']);
  });

  it('stores a pause separately from the lease of the row, and claims no row before its lease is released', async () => {
    const { store, db } = await newParts();
    await store.append([item('a'), item('b')]);
    const claimed = await store.claim(owner, 10);
    expect(uids(await pauseItems(db, claimed === undefined ? [] : [claimed]))).toEqual(['a']);
    expect(await store.running()).toMatchObject([{ item: { uid: 'a', state: 'paused' }, owner: owner }]);
    expect(await store.advance('a', { state: 'downloading' })).toBeUndefined();
    await resumeItems(db, await store.queue(['paused']));
    // The result of the probe is stored as well, because the run has not ended yet.
    await store.change('a', { title: 'A', probed: true });
    expect((await store.claim(owner, 10))?.uid).toBe('b');
    expect(await store.claim(owner, 10)).toBeUndefined();
    expect(await store.release('a')).toMatchObject({ state: 'waiting' });
    expect((await store.claim(owner, 10))?.uid).toBe('a');
  });

  it('stores the pause of the complete queue', async () => {
    const { db } = await newParts();
    expect([await setPaused(db, 1), await setPaused(db, 2), await isPaused(db)]).toEqual([true, false, true]);
    expect([await setPaused(db, null), await setPaused(db, null), await isPaused(db)]).toEqual([true, false, false]);
  });

  it('inserts the entries of a playlist at its position', async () => {
    const store = await newStore();
    await store.append([item('a'), item('list'), item('z')]);
    const entries = Array.from({ length: 450 }, (_, index) => item(`e${index}`));
    await store.replace('list', entries);
    expect(uids(await store.queue())).toEqual(['a', ...uids(entries), 'z']);
  });

  it('lists the history by end time, newest first', async () => {
    const store = await newStore();
    await store.append([item('a', { title: 'Ärger 50%' }), item('b'), item('c')]);
    await store.finish('b', 1, { state: 'finished', filename: 'b.mp4', size: 1 });
    await store.finish('a', 2, { state: 'failed', message: 'no' });
    expect(uids((await store.history({ limit: 10, offset: 0 })).items)).toEqual(['a', 'b']);
    expect(await store.history({ limit: 1, offset: 1 })).toMatchObject({
      items: [{ uid: 'b', finishedAt: 1 }],
      total: 2,
    });
    expect(uids((await store.history({ limit: 9, offset: 0, state: 'failed' })).items)).toEqual(['a']);
    expect(uids((await store.history({ limit: 9, offset: 0, q: 'ÄRGER http' })).items)).toEqual(['a']);
    expect(await store.requeue('a', 'pending', 'waiting')).toBeUndefined();
    expect(await store.requeue('a', 'failed', 'waiting')).toMatchObject({
      state: 'waiting',
      message: null,
      failure: null,
    });
    expect(uids(await store.queue())).toEqual(['c', 'a']);
    expect((await store.counts()).get('finished')).toBe(1);
  });

  it('finds rows by uid and by address, and deletes them', async () => {
    const store = await newStore();
    await store.append([item('a'), item('b'), item('twin', { url: 'http://a/a' })]);
    expect(uids(await store.match(['http://a/a', 'b', 'none'], ['waiting']))).toEqual(['a', 'b', 'twin']);
    expect(await store.match(['a'], ['finished'])).toEqual([]);
    await store.remove(['a', 'twin', 'none']);
    expect(uids(await store.queue())).toEqual(['b']);
    expect(await store.change('a', { state: 'failed' })).toBeUndefined();
  });
});
