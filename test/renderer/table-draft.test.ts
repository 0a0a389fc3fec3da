import { afterAll, beforeAll, expect, test } from 'vitest';
import { DataColumn } from '../../services/contracts/data/rows.ts';
import {
  buildAlterStatements,
  toTableDraft,
  type ColumnDraft,
  type StoredTable,
} from '../../renderer/src/pages/data/tables/table-draft.ts';
import { openDataFixture, type DataFixture } from '../services/data/data-fixture.ts';
import { adminAuthorization } from '../support/host.ts';

/** Foreign keys of the table form's draft in a PostgreSQL. */
let fixture: DataFixture;
beforeAll(async () => {
  fixture = await openDataFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function readShape(name: string): Promise<StoredTable> {
  const reply = await fetch(`${fixture.host.url('control')}/api/data/tables/public/${name}`, {
    headers: { authorization: adminAuthorization },
  });
  const { columns }: any = await reply.json();
  return { schema: 'public', name, columns: DataColumn.array().parse(columns) };
}

async function alter(name: string, column: string, change: Partial<ColumnDraft>): Promise<void> {
  const before = await readShape(name);
  const draft = toTableDraft(before);
  draft.columns = draft.columns.map((entry) => (entry.name === column ? { ...entry, ...change } : entry));
  await fixture.sql(buildAlterStatements(before, draft));
}

const readKeys = (name: string): Promise<any[]> =>
  fixture.sql(
    'select conname, pg_get_constraintdef(oid) as definition from pg_constraint where conrelid = ' +
      `'${name}'::regclass and contype = 'f' order by conname`,
  );

test('changes the delete rule of a foreign key and keeps its other rules', async () => {
  const odd = 'x ON DELETE CASCADE "" DEFERRABLE (y) ';
  await fixture.sql(`create table "${odd}" (id int primary key, "the code" text unique, "${odd}" text unique);
    create table parcels (id int primary key,
      owner text constraint "my key" references "${odd}" ("the code") on update cascade on delete set null
      (owner) deferrable initially deferred,
      plain int references "${odd}", named text);
    alter table parcels add constraint named foreign key (named) references "${odd}" ("${odd}") not valid`);
  await alter('parcels', 'owner', { onDelete: 'cascade' });
  await alter('parcels', 'plain', { onDelete: 'restrict' });
  await alter('parcels', 'named', { onDelete: 'set default', name: 'the name' });
  const target = `REFERENCES "${odd}"`;
  expect(await readKeys('parcels')).toEqual([
    {
      conname: 'my key',
      definition: `FOREIGN KEY (owner) ${target}("the code") ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED`,
    },
    { conname: 'named', definition: `FOREIGN KEY ("the name") ${target}("${odd}") ON DELETE SET DEFAULT NOT VALID` },
    { conname: 'parcels_plain_fkey', definition: `FOREIGN KEY (plain) ${target}(id) ON DELETE RESTRICT` },
  ]);
  await alter('parcels', 'owner', { onDelete: 'no action' });
  expect((await readKeys('parcels'))[0].definition).toBe(
    `FOREIGN KEY (owner) ${target}("the code") ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED`,
  );
});

test('keeps the target of a foreign key with unsupported rules, and changes that of others', async () => {
  await fixture.sql(`create table ports (id int primary key); create table docks (id int primary key);
    create table ships (id int primary key, a int references ports on delete set null,
      b int references ports on update cascade, c int references ports match full,
      d int references ports initially deferred)`);
  const before = await readShape('ships');
  const draft = toTableDraft(before);
  expect(draft.columns.map(({ name, hasOtherRules }) => [name, hasOtherRules])).toEqual([
    ['id', false],
    ['a', false],
    ['b', true],
    ['c', true],
    ['d', true],
  ]);
  expect(buildAlterStatements(before, draft)).toBe('');
  await alter('ships', 'a', { reference: '"public"."docks"' });
  await alter('ships', 'b', { reference: '' });
  expect((await readKeys('ships')).map(({ definition }) => definition)).toEqual([
    'FOREIGN KEY (a) REFERENCES docks(id) ON DELETE SET NULL',
    'FOREIGN KEY (c) REFERENCES ports(id) MATCH FULL',
    'FOREIGN KEY (d) REFERENCES ports(id) DEFERRABLE INITIALLY DEFERRED',
  ]);
});
