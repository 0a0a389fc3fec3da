import { describe, expect, test } from 'vitest';
import { getData, type Apiary } from './apiary.ts';

/** Aggregates of all rows, by groups, within embeds and across spreads. */
export function aggregateCases(index: () => Apiary): void {
  describe('aggregates', () => {
    test('supports every aggregate, with casts before and after and with aliases', async () => {
      const { db } = index();
      const all = db
        .from('hives')
        .select('count(), kept:keeper.count(), kilos.sum(), kilos.min(), kilos.max(), mean:kilos.avg()::int');
      expect(await getData(all.single())).toEqual({ count: 4, kept: 3, sum: 113.5, min: 18, max: 40, mean: 28 });
      const suits = db.from('keepers').select('kit->suits::int.sum()');
      expect(await getData(suits)).toEqual([{ sum: 3 }]);
    });

    test('groups by columns, JSON fields and to-one embeds in addition to the aggregate', async () => {
      const { db } = index();
      expect(await getData(db.from('hives').select('meadow_id, kilos.sum()').order('meadow_id'))).toEqual([
        { meadow_id: 11, sum: 55.5 },
        { meadow_id: 12, sum: 58 },
      ]);
      expect(await getData(db.from('meadows').select('side:slope->>side, count()').order('slope->>side'))).toEqual([
        { side: 'north', count: 1 },
        { side: 'south', count: 1 },
        { side: null, count: 1 },
      ]);
      const named = (await getData(db.from('hives').select('count(), meadows(name)'))) as {
        meadows: { name: string };
      }[];
      expect(named.toSorted((one, other) => (one.meadows.name < other.meadows.name ? -1 : 1))).toEqual([
        { count: 2, meadows: { name: 'Lower' } },
        { count: 2, meadows: { name: 'Upper' } },
      ]);
    });

    test('aggregates within an embed by its own groups', async () => {
      const { db } = index();
      const meadows = db
        .from('meadows')
        .select('name, hives(keeper, kilos.sum())')
        .order('id')
        .order('keeper', { referencedTable: 'hives' });
      expect(await getData(meadows)).toEqual([
        { name: 'Lower', hives: [{ keeper: 'Odile', sum: 55.5 }] },
        {
          name: 'Upper',
          hives: [
            { keeper: 'Piotr', sum: 40 },
            { keeper: null, sum: 18 },
          ],
        },
        { name: 'Marsh', hives: [] },
      ]);
      const deep = db
        .from('keepers')
        .select('name, hives(label, harvests(all:jars.sum(), count()))')
        .eq('name', 'Odile')
        .order('id', { referencedTable: 'hives' });
      expect(await getData(deep.single())).toEqual({
        name: 'Odile',
        hives: [
          { label: 'amber', harvests: [{ all: 21, count: 2 }] },
          { label: 'birch', harvests: [{ all: null, count: 0 }] },
        ],
      });
      const counted = db.from('keepers').select('name, hives(count)').order('name');
      expect(await getData(counted)).toEqual([
        { name: 'Odile', hives: [{ count: 2 }] },
        { name: 'Piotr', hives: [{ count: 1 }] },
        { name: 'Runa', hives: [{ count: 0 }] },
      ]);
    });

    test('groups by and aggregates the columns of a spread to-one embed in the parent rows', async () => {
      const { db } = index();
      const byPlace = db.from('hives').select('meadow_id, kilos.sum(), ...meadows(place:name)').order('meadow_id');
      expect(await getData(byPlace)).toEqual([
        { meadow_id: 11, sum: 55.5, place: 'Lower' },
        { meadow_id: 12, sum: 58, place: 'Upper' },
      ]);
      const since = db
        .from('hives')
        .select('meadow_id, ...keepers(first:since.min(), since.max()::text, count())')
        .order('meadow_id');
      expect(await getData(since)).toEqual([
        { meadow_id: 11, first: 1998, max: '1998', count: 2 },
        { meadow_id: 12, first: 2012, max: '2012', count: 1 },
      ]);
      const through = (await getData(
        db.from('harvests').select('jars.sum(), ...hives(keeper, ...meadows(altitude.max()))'),
      )) as { sum: number }[];
      expect(through.toSorted((one, other) => one.sum - other.sum)).toEqual([
        { sum: 7, keeper: 'Piotr', max: 640 },
        { sum: 21, keeper: 'Odile', max: 210 },
      ]);
      const within = db.from('keepers').select('name, hives(...meadows(altitude.sum()))').eq('name', 'Odile').single();
      expect(await getData(within)).toEqual({ name: 'Odile', hives: [{ sum: 420 }] });
    });
  });
}
