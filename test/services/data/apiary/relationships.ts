import { describe, expect, test } from 'vitest';
import { dataOf, refusalOf, type Apiary } from './apiary.ts';

/** Which foreign key an embed means, by its table, its column, its constraint or a hint, and what is told where that is not clear. */
export function relationshipCases(at: () => Apiary): void {
  describe('relationships by their names', () => {
    test('two keys to one table: a hint is a constraint or a column, seen from either side', async () => {
      const { db } = at();
      const select = 'giver:keepers!giver(name), taker:keepers!handovers_taker_fkey(name), witness(name)';
      expect(await dataOf(db.from('handovers').select(select).order('id'))).toEqual([
        { giver: { name: 'Odile' }, taker: { name: 'Piotr' }, witness: { name: 'Runa' } },
        { giver: { name: 'Piotr' }, taker: { name: 'Odile' }, witness: null },
      ]);
      const back = db
        .from('keepers')
        .select('given:handovers!giver(id), taken:handovers!handovers_taker_fkey(id), seen:handovers!witness(id)');
      expect(await dataOf(back.eq('name', 'Odile').single())).toEqual({
        given: [{ id: 1 }],
        taken: [{ id: 2 }],
        seen: [],
      });
    });

    test('without a hint all of them are told, in either direction and below another embed', async () => {
      const { db } = at();
      const fromHandovers = {
        status: 300,
        code: 'PGRST201',
        message: "Could not embed because more than one relationship was found for 'handovers' and 'keepers'",
        details: ['giver', 'taker', 'witness'].map((column) => ({
          cardinality: 'many-to-one',
          embedding: 'handovers with keepers',
          relationship: `handovers_${column}_fkey using handovers(${column}) and keepers(name)`,
        })),
        hint: "Try changing 'keepers' to one of the following: 'keepers!handovers_giver_fkey', 'keepers!handovers_taker_fkey', 'keepers!handovers_witness_fkey'. Find the desired relationship in the 'details' key.",
      };
      expect(await refusalOf(db.from('handovers').select('one:keepers(name)'))).toEqual(fromHandovers);
      expect(await refusalOf(db.from('keepers').select('handovers!giver(id, keepers(name))'))).toEqual(fromHandovers);
      expect(await refusalOf(db.from('keepers').select('handovers(id)'))).toEqual({
        status: 300,
        code: 'PGRST201',
        message: "Could not embed because more than one relationship was found for 'keepers' and 'handovers'",
        details: ['giver', 'taker', 'witness'].map((column) => ({
          cardinality: 'one-to-many',
          embedding: 'keepers with handovers',
          relationship: `handovers_${column}_fkey using keepers(name) and handovers(${column})`,
        })),
        hint: "Try changing 'handovers' to one of the following: 'handovers!handovers_giver_fkey', 'handovers!handovers_taker_fkey', 'handovers!handovers_witness_fkey'. Find the desired relationship in the 'details' key.",
      });
    });

    test('two tables between: the one between is the hint', async () => {
      const { db } = at();
      // A view has the foreign keys of the table that it shows.
      const keys = (between: string): string => between.replace('_here', '');
      expect(await refusalOf(db.from('meadows').select('plants(name)'))).toEqual({
        status: 300,
        code: 'PGRST201',
        message: "Could not embed because more than one relationship was found for 'meadows' and 'plants'",
        details: ['blooms', 'sown', 'sown_here'].map((between) => ({
          cardinality: 'many-to-many',
          embedding: 'meadows with plants',
          relationship: `${between} using ${keys(between)}_meadow_id_fkey(meadow_id) and ${keys(between)}_plant_id_fkey(plant_id)`,
        })),
        hint: "Try changing 'plants' to one of the following: 'plants!blooms', 'plants!sown', 'plants!sown_here'. Find the desired relationship in the 'details' key.",
      });
      const both = db.from('meadows').select('name, wild:plants!blooms(name), sown:plants!sown(name)');
      expect(await dataOf(both.eq('id', 11).single())).toEqual({
        name: 'Lower',
        wild: [{ name: 'thyme' }],
        sown: [{ name: 'heather' }],
      });
      // The rows between are reached as well.
      expect(await dataOf(db.from('plants').select('name, blooms(meadows(name))').eq('id', 3).single())).toEqual({
        name: 'sallow',
        blooms: [{ meadows: { name: 'Marsh' } }],
      });
    });

    test('a table that leads to itself: its name means the rows that lead here, its column the row it leads to', async () => {
      const { db } = at();
      const label = (select: string, id: number) => dataOf(db.from('hives').select(select).eq('id', id).single());
      expect(await label('label, hives(label)', 101)).toEqual({
        label: 'amber',
        hives: [{ label: 'birch' }, { label: 'clover' }],
      });
      expect(await label('split_from(label, split_from(label))', 104)).toEqual({
        split_from: { label: 'birch', split_from: { label: 'amber' } },
      });
      expect(await label('parent:hives_split_from_fkey(label)', 104)).toEqual({ parent: { label: 'birch' } });
      expect(await label('swarms:hives!split_from(label)', 102)).toEqual({ swarms: [{ label: 'dusk' }] });
      expect(await refusalOf(db.from('hives').select('hives!hives_split_from_fkey(label)'))).toEqual({
        status: 400,
        code: 'PGRST200',
        message: "Could not find a relationship between 'hives' and 'hives' in the schema cache",
        details:
          "Searched for a foreign key relationship between 'hives' and 'hives' using the hint 'hives_split_from_fkey' in the schema 'public', but no matches were found.",
        hint: null,
      });
    });

    test('two keys to itself: by its name it is not clear, by a column it is', async () => {
      const { db } = at();
      const { code, details }: any = await refusalOf(db.from('queens').select('queens(mark)'));
      expect([code, details.length]).toEqual(['PGRST201', 2]);
      const one = db.from('queens').select('mother(mark), sister(mark), daughters:queens!mother(mark)').eq('id', 3);
      expect(await dataOf(one.single())).toEqual({
        mother: { mark: 'white' },
        sister: { mark: 'yellow' },
        daughters: [],
      });
      const first = db.from('queens').select('daughters:queens!mother(mark)').eq('id', 1);
      expect(await dataOf(first.single())).toEqual({ daughters: [{ mark: 'yellow' }, { mark: 'red' }] });
    });

    test('a key means its table, though a view shows the same column; the view is meant by its own name', async () => {
      const { db } = at();
      const select = 'keeper(name), by_key:hives_keeper_fkey(notes), old_keepers(since)';
      expect(await dataOf(db.from('hives').select(select).in('id', [101, 103]).order('id'))).toEqual([
        { keeper: { name: 'Odile' }, by_key: { notes: 'calm' }, old_keepers: { since: 1998 } },
        { keeper: { name: 'Piotr' }, by_key: { notes: null }, old_keepers: null },
      ]);
      expect(await dataOf(db.from('hive_labels').select('label, keepers(since)').eq('id', 103).single())).toEqual({
        label: 'clover',
        keepers: { since: 2012 },
      });
      expect(
        await dataOf(db.from('old_keepers').select('name, hive_labels(label)').eq('name', 'Odile').single()),
      ).toEqual({ name: 'Odile', hive_labels: [{ label: 'amber' }, { label: 'birch' }] });
    });

    test('what is not there: with a guess where one is near, and none where the hint was wrong', async () => {
      const { db } = at();
      expect(await refusalOf(db.from('hives').select('keeprs(name)'))).toMatchObject({
        code: 'PGRST200',
        details:
          "Searched for a foreign key relationship between 'hives' and 'keeprs' in the schema 'public', but no matches were found.",
        hint: "Perhaps you meant 'keepers' instead of 'keeprs'.",
      });
      expect(await refusalOf(db.from('keepers').select('handovers!nobody(id)'))).toMatchObject({
        code: 'PGRST200',
        details:
          "Searched for a foreign key relationship between 'keepers' and 'handovers' using the hint 'nobody' in the schema 'public', but no matches were found.",
        hint: null,
      });
      expect(await refusalOf(db.from('keepers').select('name, all:hives(id, ...meadow_maps(sheet))'))).toMatchObject({
        status: 400,
        code: 'PGRST200',
        message: "Could not find a relationship between 'hives' and 'meadow_maps' in the schema cache",
      });
    });

    test('a column that is not there is told with the table as the statement calls it', async () => {
      const { db } = at();
      const told = async (select: string): Promise<unknown> =>
        ((await refusalOf(db.from('keepers').select(select))) as { message: string }).message;
      expect(await told('name, hives(stings)')).toBe('column hives_1.stings does not exist');
      expect(await told('hives(id, meadows(bees))')).toBe('column meadows_2.bees does not exist');
      expect(await told('all:stings.count()')).toBe('column keepers.stings does not exist');
    });
  });
}
