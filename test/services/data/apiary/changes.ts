import { describe, expect, test } from 'vitest';
import { getData, getError, type Apiary } from './apiary.ts';

/** Writes: defaults, limits and rolled back changes. Each case leaves the rows unchanged. */
export function changeCases(index: () => Apiary): void {
  describe('changes', () => {
    test('fills missing values with identities and other defaults for every kind of key', async () => {
      const { db } = index();
      const meadows = [
        { id: 90, name: 'Ridge' },
        { name: 'Dell', altitude: 5 },
      ];
      const byDefault = db
        .from('meadows')
        .insert(meadows, { defaultToNull: false })
        .select('id, name, altitude')
        .rollback();
      const [ridge, dell] = (await getData(byDefault)) as { id: number }[];
      expect(ridge).toEqual({ id: 90, name: 'Ridge', altitude: 100 });
      expect(dell).toEqual({ id: expect.any(Number), name: 'Dell', altitude: 5 });
      const hives = [
        { id: 900, label: 'elder', meadow_id: 11 },
        { label: 'furze', meadow_id: 13, kilos: 1 },
      ];
      const serial = db.from('hives').insert(hives, { defaultToNull: false }).select('id, kilos').rollback();
      expect(await getData(serial)).toEqual([
        { id: 900, kilos: 20 },
        { id: expect.any(Number), kilos: 1 },
      ]);
      const upserted = db
        .from('meadows')
        .upsert([{ id: 11 }, { name: 'Dell' }], { defaultToNull: false })
        .select('id, name')
        .rollback();
      expect(await getData(upserted)).toEqual([
        { id: 11, name: null },
        { id: expect.any(Number), name: 'Dell' },
      ]);
    });

    test('inserts null for missing values without the preference, and refuses null keys', async () => {
      const { db } = index();
      const meadows = [
        { id: 90, name: 'Ridge' },
        { name: 'Dell', altitude: 5 },
      ];
      expect(await getError(db.from('meadows').insert(meadows))).toMatchObject({ status: 400, code: '23502' });
      const [first] = (await getData(
        db
          .from('meadows')
          .insert([{ name: 'Ridge' }, { name: 'Dell', altitude: 5 }])
          .select()
          .rollback(),
      )) as unknown[];
      expect(first).toMatchObject({ name: 'Ridge', altitude: null });
    });

    test('refuses values for a column that is always generated', async () => {
      const { db } = index();
      const counted = db
        .from('always_counted')
        .insert([{ word: 'one' }, { word: 'two' }])
        .select()
        .rollback();
      const [one, two] = (await getData(counted)) as { id: number }[];
      expect((two?.id ?? 0) - (one?.id ?? 0)).toBe(1);
      expect(await getError(db.from('always_counted').insert({ id: 7, word: 'seven' }))).toMatchObject({
        status: 400,
        code: '428C9',
      });
    });

    test('returns the result of a write that is rolled back on request', async () => {
      const { db } = index();
      const tried = await db
        .from('hives')
        .update({ label: 'oak' }, { count: 'exact' })
        .eq('meadow_id', 12)
        .select('label')
        .rollback();
      expect([tried.status, tried.count, tried.data]).toEqual([200, 2, [{ label: 'oak' }, { label: 'oak' }]]);
      const deleted = await db.from('hives').delete().eq('id', 104).select('label').rollback().single();
      expect(deleted.data).toEqual({ label: 'dusk' });
      const robbed = await db.rpc('robbed', { above: 30 }).select('id, kilos').order('id').rollback();
      expect(robbed.data).toEqual([
        { id: 101, kilos: 0 },
        { id: 103, kilos: 0 },
      ]);
      expect(await getData(db.rpc('put_down', { word: 'gone' }).rollback())).toEqual(expect.any(Number));
      expect(await getData(db.from('hives').select('label, kilos').gte('id', 103).order('id'))).toEqual([
        { label: 'clover', kilos: 40 },
        { label: 'dusk', kilos: 18 },
      ]);
      expect((await db.from('always_counted').select('*', { count: 'exact', head: true })).count).toBe(0);
    });

    test('rolls back writes and calls that exceed the maximum number of rows', async () => {
      const { db } = index();
      const refused = {
        status: 400,
        code: 'PGRST124',
        message: 'Query result exceeds max-affected preference constraint',
        hint: null,
      };
      expect(await getError(db.from('hives').update({ kilos: 1 }).gt('id', 0).maxAffected(3))).toEqual({
        ...refused,
        details: 'The query affects 4 rows',
      });
      expect(await getError(db.rpc('robbed', { above: 30 }).maxAffected(1))).toEqual({
        ...refused,
        details: 'The query affects 2 rows',
      });
      expect(await getError(db.rpc('put_down', { word: 'x' }).maxAffected(1))).toMatchObject({ code: 'PGRST128' });
      expect(await getData(db.from('hives').select('kilos.sum()').single())).toEqual({ sum: 113.5 });
      const few = db.from('hives').update({ kilos: 40 }).eq('id', 103).maxAffected(1).select('kilos');
      expect(await getData(few)).toEqual([{ kilos: 40 }]);
    });

    test('counts changed rows, with and without the rows, and accepts none', async () => {
      const { db } = index();
      const inserted = await db.from('plants').insert([{ id: 8 }, { id: 9 }], { count: 'exact' });
      expect([inserted.status, inserted.count, inserted.data]).toEqual([201, 2, null]);
      const merged = await db
        .from('plants')
        .upsert(
          [
            { id: 9, name: 'lime' },
            { id: 10, name: 'rape' },
          ],
          { count: 'exact' },
        )
        .select();
      expect([merged.count, merged.data]).toEqual([
        2,
        [
          { id: 9, name: 'lime' },
          { id: 10, name: 'rape' },
        ],
      ]);
      const removed = await db.from('plants').delete({ count: 'exact' }).gte('id', 8);
      expect([removed.status, removed.count]).toEqual([204, 3]);
      const none = await db.from('plants').update({ name: 'x' }, { count: 'exact' }).eq('id', 99);
      expect([none.status, none.count, none.error]).toEqual([204, 0, null]);
      expect(await getData(db.from('plants').update({ name: 'x' }).eq('id', 99).select())).toEqual([]);
    });

    test('uses the key that a view contains for upserts and for the location of a row', async () => {
      const { db, room: fixture } = index();
      const merged = db
        .from('plain_plants')
        .upsert([
          { id: 1, name: 'mint' },
          { id: 50, name: 'rue' },
        ])
        .select()
        .rollback();
      expect(await getData(merged)).toEqual([
        { name: 'mint', id: 1 },
        { name: 'rue', id: 50 },
      ]);
      const ignored = db.from('plain_plants').upsert({ id: 1, name: 'mint' }, { ignoreDuplicates: true }).select();
      expect(await getData(ignored)).toEqual([]);
      const reply = await fixture.request('/rest/v1/plain_plants', {
        method: 'POST',
        headers: { 'content-type': 'application/json', Prefer: 'return=headers-only, tx=rollback' },
        body: '{"id": 60}',
      });
      expect([reply.status, reply.headers.get('location')]).toEqual([201, '/plain_plants?id=eq.60']);
      // The table can also be reached through a view of the junction, which the hint distinguishes.
      expect(await getData(db.from('meadows').select('plants!sown(name)').eq('id', 11).single())).toEqual({
        plants: [{ name: 'heather' }],
      });
      const { details }: any = await getError(db.from('meadows').select('plants(name)'));
      expect(details).toHaveLength(3);
    });

    test('writes through a view and in another schema', async () => {
      const { db } = index();
      const seen = db.from('hive_labels').update({ label: 'alder' }).eq('id', 101).select('label, keepers(name)');
      expect(await getData(seen.rollback())).toEqual([{ label: 'alder', keepers: { name: 'Odile' } }]);
      const cellar = db.schema('cellar');
      expect(
        await getData(cellar.from('barrels').update({ litres: 49 }).eq('id', 1).select('mead').rollback()),
      ).toEqual([{ mead: 'dry' }]);
      expect(await getError(db.from('barrels').select())).toMatchObject({ status: 404, code: 'PGRST205' });
    });
  });
}
