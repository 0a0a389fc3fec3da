import { describe, expect, test } from 'vitest';
import { getData, getError, type Apiary } from './apiary.ts';

/** Resolution of embeds by table, column, constraint or hint, and errors for ambiguous ones. */
export function relationshipCases(index: () => Apiary): void {
  describe('relationships by their names', () => {
    test('selects one of two foreign keys by a hint with its constraint or column, from either side', async () => {
      const { db } = index();
      const select = 'giver:keepers!giver(name), taker:keepers!handovers_taker_fkey(name), witness(name)';
      expect(await getData(db.from('handovers').select(select).order('id'))).toEqual([
        { giver: { name: 'Odile' }, taker: { name: 'Piotr' }, witness: { name: 'Runa' } },
        { giver: { name: 'Piotr' }, taker: { name: 'Odile' }, witness: null },
      ]);
      const back = db
        .from('keepers')
        .select('given:handovers!giver(id), taken:handovers!handovers_taker_fkey(id), seen:handovers!witness(id)');
      expect(await getData(back.eq('name', 'Odile').single())).toEqual({
        given: [{ id: 1 }],
        taken: [{ id: 2 }],
        seen: [],
      });
    });

    test('lists all relationships without a hint, in both directions and in nested embeds', async () => {
      const { db } = index();
      const fromHandovers = {
        status: 300,
        code: 'PGRST201',
        message: "Could not embed because more than one relationship was found for 'handovers' and 'keepers'",
        details: ['giver', 'taker', 'witness'].map((column) => ({
          cardinality: 'many-to-one',
          embedding: 'handovers with keepers',
          relationship: `handovers_${column}_fkey using handovers(${column}) and keepers(name)`,
        })),
        hint:
          "Try changing 'keepers' to one of the following: 'keepers!handovers_giver_fkey', " +
          "'keepers!handovers_taker_fkey', 'keepers!handovers_witness_fkey'. Find the desired " +
          "relationship in the 'details' key.",
      };
      expect(await getError(db.from('handovers').select('one:keepers(name)'))).toEqual(fromHandovers);
      expect(await getError(db.from('keepers').select('handovers!giver(id, keepers(name))'))).toEqual(fromHandovers);
      expect(await getError(db.from('keepers').select('handovers(id)'))).toEqual({
        status: 300,
        code: 'PGRST201',
        message: "Could not embed because more than one relationship was found for 'keepers' and 'handovers'",
        details: ['giver', 'taker', 'witness'].map((column) => ({
          cardinality: 'one-to-many',
          embedding: 'keepers with handovers',
          relationship: `handovers_${column}_fkey using keepers(name) and handovers(${column})`,
        })),
        hint:
          "Try changing 'handovers' to one of the following: 'handovers!handovers_giver_fkey', " +
          "'handovers!handovers_taker_fkey', 'handovers!handovers_witness_fkey'. Find the desired " +
          "relationship in the 'details' key.",
      });
    });

    test('selects a many-to-many relationship by its junction', async () => {
      const { db } = index();
      // A view has the foreign keys of the tables that it selects.
      const keys = (between: string): string => between.replace('_here', '');
      expect(await getError(db.from('meadows').select('plants(name)'))).toEqual({
        status: 300,
        code: 'PGRST201',
        message: "Could not embed because more than one relationship was found for 'meadows' and 'plants'",
        details: ['blooms', 'sown', 'sown_here'].map((between) => ({
          cardinality: 'many-to-many',
          embedding: 'meadows with plants',
          relationship: `${between} using ${keys(between)}_meadow_id_fkey(meadow_id) and ${keys(between)}_plant_id_fkey(plant_id)`,
        })),
        hint:
          "Try changing 'plants' to one of the following: 'plants!blooms', 'plants!sown', " +
          "'plants!sown_here'. Find the desired relationship in the 'details' key.",
      });
      const both = db.from('meadows').select('name, wild:plants!blooms(name), sown:plants!sown(name)');
      expect(await getData(both.eq('id', 11).single())).toEqual({
        name: 'Lower',
        wild: [{ name: 'thyme' }],
        sown: [{ name: 'heather' }],
      });
      // The junction can be embedded as well.
      expect(await getData(db.from('plants').select('name, blooms(meadows(name))').eq('id', 3).single())).toEqual({
        name: 'sallow',
        blooms: [{ meadows: { name: 'Marsh' } }],
      });
    });

    test('resolves a self-reference by table name to the referencing rows and by column to the referenced row', async () => {
      const { db } = index();
      const label = (select: string, id: number) => getData(db.from('hives').select(select).eq('id', id).single());
      expect(await label('label, hives(label)', 101)).toEqual({
        label: 'amber',
        hives: [{ label: 'birch' }, { label: 'clover' }],
      });
      expect(await label('split_from(label, split_from(label))', 104)).toEqual({
        split_from: { label: 'birch', split_from: { label: 'amber' } },
      });
      expect(await label('parent:hives_split_from_fkey(label)', 104)).toEqual({ parent: { label: 'birch' } });
      expect(await label('swarms:hives!split_from(label)', 102)).toEqual({ swarms: [{ label: 'dusk' }] });
      expect(await getError(db.from('hives').select('hives!hives_split_from_fkey(label)'))).toEqual({
        status: 400,
        code: 'PGRST200',
        message: "Could not find a relationship between 'hives' and 'hives' in the schema cache",
        details:
          "Searched for a foreign key relationship between 'hives' and 'hives' using the hint " +
          "'hives_split_from_fkey' in the schema 'public', but no matches were found.",
        hint: null,
      });
    });

    test('refuses a table name with two self-references and accepts a column', async () => {
      const { db } = index();
      const { code, details }: any = await getError(db.from('queens').select('queens(mark)'));
      expect([code, details.length]).toEqual(['PGRST201', 2]);
      const one = db.from('queens').select('mother(mark), sister(mark), daughters:queens!mother(mark)').eq('id', 3);
      expect(await getData(one.single())).toEqual({
        mother: { mark: 'white' },
        sister: { mark: 'yellow' },
        daughters: [],
      });
      const first = db.from('queens').select('daughters:queens!mother(mark)').eq('id', 1);
      expect(await getData(first.single())).toEqual({ daughters: [{ mark: 'yellow' }, { mark: 'red' }] });
    });

    test('resolves a foreign key to its table although a view has the same column, and the view by its name', async () => {
      const { db } = index();
      const select = 'keeper(name), by_key:hives_keeper_fkey(notes), old_keepers(since)';
      expect(await getData(db.from('hives').select(select).in('id', [101, 103]).order('id'))).toEqual([
        { keeper: { name: 'Odile' }, by_key: { notes: 'calm' }, old_keepers: { since: 1998 } },
        { keeper: { name: 'Piotr' }, by_key: { notes: null }, old_keepers: null },
      ]);
      expect(await getData(db.from('hive_labels').select('label, keepers(since)').eq('id', 103).single())).toEqual({
        label: 'clover',
        keepers: { since: 2012 },
      });
      expect(
        await getData(db.from('old_keepers').select('name, hive_labels(label)').eq('name', 'Odile').single()),
      ).toEqual({ name: 'Odile', hive_labels: [{ label: 'amber' }, { label: 'birch' }] });
    });

    test('suggests a similar name for an unknown relationship, and none for a wrong hint', async () => {
      const { db } = index();
      expect(await getError(db.from('hives').select('keeprs(name)'))).toMatchObject({
        code: 'PGRST200',
        details:
          "Searched for a foreign key relationship between 'hives' and 'keeprs' in the schema 'public', but no matches were found.",
        hint: "Perhaps you meant 'keepers' instead of 'keeprs'.",
      });
      expect(await getError(db.from('keepers').select('handovers!nobody(id)'))).toMatchObject({
        code: 'PGRST200',
        details:
          "Searched for a foreign key relationship between 'keepers' and 'handovers' using the hint " +
          "'nobody' in the schema 'public', but no matches were found.",
        hint: null,
      });
      expect(await getError(db.from('keepers').select('name, all:hives(id, ...meadow_maps(sheet))'))).toMatchObject({
        status: 400,
        code: 'PGRST200',
        message: "Could not find a relationship between 'hives' and 'meadow_maps' in the schema cache",
      });
    });

    test('names the table of an unknown column as the statement does', async () => {
      const { db } = index();
      const response = async (select: string): Promise<unknown> =>
        ((await getError(db.from('keepers').select(select))) as { message: string }).message;
      expect(await response('name, hives(stings)')).toBe('column hives_1.stings does not exist');
      expect(await response('hives(id, meadows(bees))')).toBe('column meadows_2.bees does not exist');
      expect(await response('all:stings.count()')).toBe('column keepers.stings does not exist');
    });
  });
}
