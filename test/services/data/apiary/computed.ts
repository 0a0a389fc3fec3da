import { describe, expect, test } from 'vitest';
import { getData, getError, type Apiary } from './apiary.ts';

/** Functions of a row as columns or embeds of a select. */
export function computedCases(index: () => Apiary): void {
  describe('functions of a row', () => {
    test('resolves one function name for several tables and a view by the row', async () => {
      const { db } = index();
      const of = (table: string, select: string) =>
        getData(db.from(table).select(select).order('name').limit(1).single());
      expect(await of('keepers', 'hives_of(id, meadows(name))')).toEqual({
        hives_of: [
          { id: 101, meadows: { name: 'Lower' } },
          { id: 102, meadows: { name: 'Lower' } },
        ],
      });
      expect(await of('meadows', 'all:hives_of(label)')).toEqual({ all: [{ label: 'amber' }, { label: 'birch' }] });
      expect(await of('old_keepers', 'hives_of(id)')).toEqual({ hives_of: [{ id: 101 }, { id: 102 }] });
    });

    test('returns an object for functions of one row and for functions without SETOF', async () => {
      const { db } = index();
      const meadows = db.from('meadows').select('name, map_of(sheet), heaviest(label, shouted)').order('id');
      expect(await getData(meadows)).toEqual([
        { name: 'Lower', map_of: { sheet: 'sheet 4' }, heaviest: { label: 'amber', shouted: 'AMBER' } },
        { name: 'Upper', map_of: { sheet: 'sheet 7' }, heaviest: { label: 'clover', shouted: 'CLOVER' } },
        { name: 'Marsh', map_of: null, heaviest: { label: null, shouted: null } },
      ]);
      const view = db.from('hives').select('label, old_keeper_of(name)').in('id', [101, 103]).order('id');
      expect(await getData(view)).toEqual([
        { label: 'amber', old_keeper_of: [{ name: 'Odile' }] },
        { label: 'clover', old_keeper_of: [] },
      ]);
    });

    test('filters, orders, limits and joins computed relationships like tables', async () => {
      const { db } = index();
      const light = db.from('meadows').select('name, hives_of!inner(label)').lt('hives_of.kilos', 30).order('id');
      expect(await getData(light)).toEqual([
        { name: 'Lower', hives_of: [{ label: 'birch' }] },
        { name: 'Upper', hives_of: [{ label: 'dusk' }] },
      ]);
      const last = db
        .from('meadows')
        .select('hives_of(label)')
        .eq('id', 12)
        .order('label', { referencedTable: 'hives_of', ascending: false })
        .limit(1, { referencedTable: 'hives_of' });
      expect(await getData(last.single())).toEqual({ hives_of: [{ label: 'dusk' }] });
      expect(await getData(db.from('hives').select('label').eq('shouted', 'BIRCH'))).toEqual([{ label: 'birch' }]);
      expect(await getData(db.from('hives').select('id').order('shouted', { ascending: false }).limit(1))).toEqual([
        { id: 104 },
      ]);
    });

    test('works on partitioned tables and below an embed', async () => {
      const { db } = index();
      const all = db.from('harvests').select('day, per_day, hives(label, shouted)').order('id');
      expect(await getData(all)).toEqual([
        { day: '2024-06-01', per_day: 6, hives: { label: 'amber', shouted: 'AMBER' } },
        { day: '2025-06-01', per_day: 4.5, hives: { label: 'amber', shouted: 'AMBER' } },
        { day: '2025-07-01', per_day: 3.5, hives: { label: 'clover', shouted: 'CLOVER' } },
      ]);
      const back = db.from('hives').select('label, harvests(per_day)').eq('id', 103);
      expect(await getData(back.single())).toEqual({ label: 'clover', harvests: [{ per_day: 3.5 }] });
    });

    test('ignores functions that take no row', async () => {
      const { db } = index();
      for (const name of ['best_meadow', 'all_meadows']) {
        expect(await getError(db.from('hives').select(`id, ${name}(name)`))).toEqual({
          status: 400,
          code: 'PGRST200',
          message: `Could not find a relationship between 'hives' and '${name}' in the schema cache`,
          details:
            `Searched for a foreign key relationship between 'hives' and '${name}' in the schema 'public', ` +
            'but no matches were found.',
          hint: null,
        });
      }
    });
  });
}
