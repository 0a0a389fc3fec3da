import { describe, expect, test } from 'vitest';
import { dataOf, type Apiary } from './apiary.ts';

/** Sums and counts: of all rows, by groups, within embeds and across what is spread. */
export function aggregateCases(at: () => Apiary): void {
  describe('aggregates', () => {
    test('every kind, with casts before and after, named or not', async () => {
      const { db } = at();
      const all = db
        .from('hives')
        .select('count(), kept:keeper.count(), kilos.sum(), kilos.min(), kilos.max(), mean:kilos.avg()::int');
      expect(await dataOf(all.single())).toEqual({ count: 4, kept: 3, sum: 113.5, min: 18, max: 40, mean: 28 });
      const suits = db.from('keepers').select('kit->suits::int.sum()');
      expect(await dataOf(suits)).toEqual([{ sum: 3 }]);
    });

    test('by what stands beside them: columns, fields of JSON, the one row that belongs', async () => {
      const { db } = at();
      expect(await dataOf(db.from('hives').select('meadow_id, kilos.sum()').order('meadow_id'))).toEqual([
        { meadow_id: 11, sum: 55.5 },
        { meadow_id: 12, sum: 58 },
      ]);
      expect(await dataOf(db.from('meadows').select('side:slope->>side, count()').order('slope->>side'))).toEqual([
        { side: 'north', count: 1 },
        { side: 'south', count: 1 },
        { side: null, count: 1 },
      ]);
      const named = (await dataOf(db.from('hives').select('count(), meadows(name)'))) as {
        meadows: { name: string };
      }[];
      expect(named.toSorted((one, other) => (one.meadows.name < other.meadows.name ? -1 : 1))).toEqual([
        { count: 2, meadows: { name: 'Lower' } },
        { count: 2, meadows: { name: 'Upper' } },
      ]);
    });

    test('within an embed, by groups of its own', async () => {
      const { db } = at();
      const meadows = db
        .from('meadows')
        .select('name, hives(keeper, kilos.sum())')
        .order('id')
        .order('keeper', { referencedTable: 'hives' });
      expect(await dataOf(meadows)).toEqual([
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
      expect(await dataOf(deep.single())).toEqual({
        name: 'Odile',
        hives: [
          { label: 'amber', harvests: [{ all: 21, count: 2 }] },
          { label: 'birch', harvests: [{ all: null, count: 0 }] },
        ],
      });
      const counted = db.from('keepers').select('name, hives(count)').order('name');
      expect(await dataOf(counted)).toEqual([
        { name: 'Odile', hives: [{ count: 2 }] },
        { name: 'Piotr', hives: [{ count: 1 }] },
        { name: 'Runa', hives: [{ count: 0 }] },
      ]);
    });

    test('columns of the one row that is spread are those of the rows around it: to group by, and to be summed', async () => {
      const { db } = at();
      const byPlace = db.from('hives').select('meadow_id, kilos.sum(), ...meadows(place:name)').order('meadow_id');
      expect(await dataOf(byPlace)).toEqual([
        { meadow_id: 11, sum: 55.5, place: 'Lower' },
        { meadow_id: 12, sum: 58, place: 'Upper' },
      ]);
      const since = db
        .from('hives')
        .select('meadow_id, ...keepers(first:since.min(), since.max()::text, count())')
        .order('meadow_id');
      expect(await dataOf(since)).toEqual([
        { meadow_id: 11, first: 1998, max: '1998', count: 2 },
        { meadow_id: 12, first: 2012, max: '2012', count: 1 },
      ]);
      const through = (await dataOf(
        db.from('harvests').select('jars.sum(), ...hives(keeper, ...meadows(altitude.max()))'),
      )) as { sum: number }[];
      expect(through.toSorted((one, other) => one.sum - other.sum)).toEqual([
        { sum: 7, keeper: 'Piotr', max: 640 },
        { sum: 21, keeper: 'Odile', max: 210 },
      ]);
      const within = db.from('keepers').select('name, hives(...meadows(altitude.sum()))').eq('name', 'Odile').single();
      expect(await dataOf(within)).toEqual({ name: 'Odile', hives: [{ sum: 420 }] });
    });
  });
}
