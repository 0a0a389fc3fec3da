import type { Kysely } from 'kysely';
import { expect, it } from 'vitest';
import type { Migration } from '../../../services/contracts/service.ts';
import { startChild } from '../../support/child.ts';
import { eachDialect } from '../../support/database.ts';

const createTable = (name: string): Migration => ({
  name: `create-${name}`,
  up: async (db) => db.schema.createTable(name).addColumn('a', 'integer').execute(),
});
const steps = async (db: Kysely<any>): Promise<string[]> =>
  (await db.selectFrom('migrations').select('name').orderBy('name').execute()).map((row) => String(row['name']));

eachDialect((name, open, createLocation) => {
  it('runs each step once in order', async () => {
    const location = createLocation();
    const database = await open(location);
    await database.migrate([createTable('a')]);
    await database.migrate([createTable('a'), createTable('b')]);
    const second = await open(location);
    await second.migrate([createTable('a'), createTable('b')]);
    expect(await steps(second.kysely)).toEqual(['create-a', 'create-b']);
  });

  it('rolls back a failing step and continues from there', async () => {
    const database = await open();
    const partialMigration: Migration = {
      name: 'create-b',
      async up(db) {
        await createTable('b').up(db);
        throw new Error('half-way');
      },
    };
    await expect(database.migrate([createTable('a'), partialMigration])).rejects.toMatchObject({
      code: 'database.migration_failed',
      retryable: false,
    });
    expect(await steps(database.kysely)).toEqual(['create-a']);
    await database.migrate([createTable('a'), createTable('b')]);
    expect(await steps(database.kysely)).toEqual(['create-a', 'create-b']);
  });

  it('rolls back a step whose process is killed', async () => {
    const location = createLocation();
    await using child = startChild(import.meta.resolve('./migrating.ts'), location);
    await child.waitForLine('in the middle');
    await child.kill();
    const database = await open(location);
    expect(await steps(database.kysely)).toEqual(['001']);
    expect(await database.kysely.selectFrom('one').selectAll().execute()).toEqual([]);
    const second: Migration = { name: '002', up: (db) => createTable('two').up(db) };
    await database.migrate([{ name: '001', up: async () => undefined }, second]);
    expect(await steps(database.kysely)).toEqual(['001', '002']);
  });

  it('rejects a database of a newer version unchanged', async () => {
    const database = await open();
    await database.migrate([createTable('a'), createTable('b')]);
    const refused = database.migrate([createTable('a'), createTable('c')]);
    await expect(refused).rejects.toMatchObject({
      code: 'database.newer',
      detail: expect.stringContaining('create-b'),
    });
    expect(await steps(database.kysely)).toEqual(['create-a', 'create-b']);
  });

  it('rejects two steps with the same name', async () => {
    const database = await open();
    await expect(database.migrate([createTable('a'), createTable('a')])).rejects.toThrow('same name');
  });

  if (name === 'postgres') {
    it('lets two processes open and migrate one schema concurrently', async () => {
      const location = createLocation();
      const ran: string[] = [];
      const slow = (letter: string): Migration => ({
        name: letter,
        async up(db) {
          ran.push(letter);
          await createTable(letter).up(db);
        },
      });
      const all = [slow('a'), slow('b'), slow('c')];
      const databases = await Promise.all([open(location), open(location), open(location)]);
      await Promise.all(databases.map((database) => database.migrate(all)));
      expect(ran).toEqual(['a', 'b', 'c']);
    });

    it('rejects an invalid schema name', async () => {
      for (const schema of ['pg_catalog', 'a"b', '', 'Ä', 'information_schema']) {
        await expect(open({ ...createLocation(), schema })).rejects.toThrow('cannot be the name of a schema');
      }
    });
  }
});
