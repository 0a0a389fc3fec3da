import { describe, expect, test } from 'vitest';
import { getData, getError, type Apiary } from './apiary.ts';

/** Joins, conditions, order and pages of embeds. */
export function embedCases(index: () => Apiary): void {
  describe('rows within rows', () => {
    test('leaves out rows without an inner embed, also from the count, and keeps all with a left embed', async () => {
      const { db } = index();
      const inner = await db.from('hives').select('label, keepers!inner(since)', { count: 'exact' }).order('id');
      expect([inner.count, inner.data]).toEqual([
        3,
        [
          { label: 'amber', keepers: { since: 1998 } },
          { label: 'birch', keepers: { since: 1998 } },
          { label: 'clover', keepers: { since: 2012 } },
        ],
      ]);
      const remaining = await db
        .from('hives')
        .select('label, keepers!left(since)', { count: 'exact' })
        .is('keeper', null);
      expect([remaining.count, remaining.data]).toEqual([1, [{ label: 'dusk', keepers: null }]]);
      const head = await db.from('meadows').select('id, hives!inner(id)', { count: 'exact', head: true });
      expect([head.count, head.data]).toEqual([2, null]);
      const hinted = db.from('handovers').select('id, keepers!witness!inner(name)');
      expect(await getData(hinted)).toEqual([{ id: 1, keepers: { name: 'Runa' } }]);
    });

    test('filters by conditions on embeds one and two levels below', async () => {
      const { db } = index();
      const stored = db.from('meadows').select('name, hives(label)').gt('hives.kilos', 30).lte('id', 12).order('id');
      expect(await getData(stored)).toEqual([
        { name: 'Lower', hives: [{ label: 'amber' }] },
        { name: 'Upper', hives: [{ label: 'clover' }] },
      ]);
      const deep = db.from('keepers').select('name, hives!inner(label, meadows!inner(meadow_maps!inner(sheet)))');
      expect(await getData(deep.eq('hives.meadows.meadow_maps.sheet', 'sheet 7'))).toEqual([
        { name: 'Piotr', hives: [{ label: 'clover', meadows: { meadow_maps: { sheet: 'sheet 7' } } }] },
      ]);
      const called = db.from('meadows').select('name, full:hives!inner(label)').gt('full.kilos', 35);
      expect(await getData(called)).toEqual([{ name: 'Upper', full: [{ label: 'clover' }] }]);
    });

    test('filters by alternatives of embeds', async () => {
      const { db } = index();
      const some = db.from('meadows').select('hives(id)').eq('id', 11).order('id', { referencedTable: 'hives' });
      expect(await getData(some.or('kilos.gt.30,label.eq.birch', { referencedTable: 'hives' }).single())).toEqual({
        hives: [{ id: 101 }, { id: 102 }],
      });
      const both = db.from('meadows').select('hives(id)').eq('id', 11);
      expect(
        await getData(both.or('id.eq.102,and(kilos.gt.30,label.eq.dusk)', { referencedTable: 'hives' }).single()),
      ).toEqual({ hives: [{ id: 102 }] });
    });

    test('orders, limits and pages each embed and the rows themselves', async () => {
      const { db } = index();
      const ordered = db.from('keepers').select('name, hives(id, meadow_id)').order('name');
      const byTwo = ordered
        .order('meadow_id', { referencedTable: 'hives', ascending: false })
        .order('id', { referencedTable: 'hives', ascending: false });
      expect(await getData(byTwo.limit(1))).toEqual([
        {
          name: 'Odile',
          hives: [
            { id: 102, meadow_id: 11 },
            { id: 101, meadow_id: 11 },
          ],
        },
      ]);
      const limited = db
        .from('meadows')
        .select('name, hives(label)')
        .order('id')
        .limit(2)
        .order('kilos', { referencedTable: 'hives' })
        .limit(1, { referencedTable: 'hives' });
      expect(await getData(limited)).toEqual([
        { name: 'Lower', hives: [{ label: 'birch' }] },
        { name: 'Upper', hives: [{ label: 'dusk' }] },
      ]);
      const paged = db
        .from('meadows')
        .select('name, hives(label)')
        .order('id')
        .range(1, 2)
        .order('id', { referencedTable: 'hives' })
        .range(1, 3, { referencedTable: 'hives' });
      expect(await getData(paged)).toEqual([
        { name: 'Upper', hives: [{ label: 'dusk' }] },
        { name: 'Marsh', hives: [] },
      ]);
    });

    test('orders rows by a column of a to-one embed', async () => {
      const { db } = index();
      const down = db.from('hives').select('id, meadows(altitude)').order('altitude', { referencedTable: 'meadows' });
      expect(await getData(down)).toHaveLength(4);
      const related = db.from('hives').select('id, place:meadows(name)').order('place(altitude)', { ascending: false });
      expect(await getData(related.order('id'))).toEqual([
        { id: 103, place: { name: 'Upper' } },
        { id: 104, place: { name: 'Upper' } },
        { id: 101, place: { name: 'Lower' } },
        { id: 102, place: { name: 'Lower' } },
      ]);
      expect(await getError(db.from('meadows').select('hives(id)').order('hives(id)'))).toMatchObject({
        status: 400,
        code: 'PGRST118',
        message: "A related order on 'hives' is not possible",
        details: "'meadows' and 'hives' do not form a many-to-one or one-to-one relationship",
      });
    });

    test('spreads the columns of to-one embeds and lists of to-many embeds, also nested', async () => {
      const { db } = index();
      const one = db.from('hives').select('label, ...meadows(at:name, ...meadow_maps(sheet))').eq('id', 103);
      expect(await getData(one.single())).toEqual({ label: 'clover', at: 'Upper', sheet: 'sheet 7' });
      const none = db.from('hives').select('label, ...keepers(since)').eq('id', 104);
      expect(await getData(none.single())).toEqual({ label: 'dusk', since: null });
      const many = db
        .from('meadows')
        .select('name, ...hives(labels:label, kilos)')
        .order('id')
        .order('id', { referencedTable: 'hives' });
      expect(await getData(many)).toEqual([
        { name: 'Lower', labels: ['amber', 'birch'], kilos: [31.5, 24] },
        { name: 'Upper', labels: ['clover', 'dusk'], kilos: [40, 18] },
        { name: 'Marsh', labels: [], kilos: [] },
      ]);
      const within = db.from('meadows').select('id, ...hives(...keepers(names:name))').eq('id', 12);
      expect(await getData(within.order('id', { referencedTable: 'hives' }).single())).toEqual({
        id: 12,
        names: ['Piotr', null],
      });
    });

    test('returns columns twice, cast and from JSON, and embeds without columns', async () => {
      const { db } = index();
      const twice = db.from('meadows').select('id, id, again:id::text, side:slope->>side, slope->side').eq('id', 11);
      expect((await getData(twice.single())) as object).toMatchObject({ id: 11, again: '11', side: 'south' });
      expect(await getData(db.from('hives').select('label, keepers()').eq('id', 101).single())).toEqual({
        label: 'amber',
      });
      const fuel = db.from('hives').select('keepers(kit->smoker->>fuel)').eq('id', 101);
      expect(await getData(fuel.single())).toEqual({ keepers: { fuel: 'hay' } });
      const byPath = db.from('keepers').select('name').order('kit->suits', { ascending: false, nullsFirst: false });
      expect(await getData(byPath)).toEqual([{ name: 'Odile' }, { name: 'Runa' }, { name: 'Piotr' }]);
    });
  });
}
