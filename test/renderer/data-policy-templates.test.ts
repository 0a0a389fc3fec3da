import { describe, expect, it } from 'vitest';
import { findMemberships } from '../../renderer/src/pages/data/policies/memberships.ts';
import { policyTemplates } from '../../renderer/src/pages/data/policies/policy-templates.ts';
import { toPolicyDraft, toPolicyInput } from '../../renderer/src/pages/data/policies/policy-draft.ts';

const table = (name: string, columns: Readonly<Record<string, string>>, schema = 'public') => ({
  schema,
  name,
  isView: false,
  isServed: schema === 'public',
  columns: Object.entries(columns).map(([columnName, type]) => ({ name: columnName, type })),
});
const key = (from: string, column: string, to: string, schema = 'public') => ({
  name: `${from}_${column}`,
  from: { schema: 'public', table: from, columns: [column] },
  to: { schema, table: to, columns: ['id'] },
});
const diagram = {
  tables: [
    table('teams', { id: 'bigint' }),
    table('members', { invited_by: 'uuid', user_id: 'uuid', team_id: 'bigint' }),
    table('documents', { id: 'bigint', team_id: 'bigint' }),
  ],
  foreignKeys: [
    key('members', 'team_id', 'teams'),
    key('members', 'user_id', 'users', 'auth'),
    key('documents', 'team_id', 'teams'),
  ],
};

describe('findMemberships', () => {
  const membership = { schema: 'public', table: 'members', userColumn: 'user_id', memberColumn: 'team_id' };

  it('finds the table that assigns users to the rows of a table', () => {
    expect(findMemberships({ schema: 'public', name: 'teams' }, diagram)).toEqual([{ ...membership, ownColumn: 'id' }]);
  });

  it('finds the table that references the same table', () => {
    expect(findMemberships({ schema: 'public', name: 'documents' }, diagram)).toEqual([
      { ...membership, ownColumn: 'team_id' },
    ]);
  });

  it('finds none for an unrelated table', () => {
    expect(findMemberships({ schema: 'public', name: 'others' }, diagram)).toEqual([]);
  });
});

describe('policyTemplates', () => {
  const build = (id: string, column = 'owner', domain = ''): unknown =>
    policyTemplates
      .find((template) => template.id === id)
      ?.build({
        column,
        domain,
        membership: findMemberships({ schema: 'public', name: 'documents' }, diagram)[0],
      });

  it('quotes column names', () => {
    expect(build('owner', 'the "owner"')).toMatchObject({ condition: '"the ""owner""" = (select auth.uid())' });
  });

  it('quotes the domain as a text literal', () => {
    expect(build('domain', '', "O'Hara.example ")).toMatchObject({
      command: 'SELECT',
      condition: `split_part((select auth.email()), '@', 2) = 'o''hara.example'`,
    });
  });

  it('uses the membership table', () => {
    expect(build('membership')).toMatchObject({
      condition: '"team_id" in (select "team_id" from "public"."members" where "user_id" = (select auth.uid()))',
    });
  });
});

it('edits the written form of an expression, and restores the stored form', () => {
  const stored = {
    name: 'Owners',
    command: 'ALL',
    roles: ['authenticated'],
    isPermissive: true,
    condition: '(owner = ( SELECT auth.uid() AS uid))',
    check: null,
  };
  expect(toPolicyDraft(stored)).toMatchObject({ condition: 'owner = (select auth.uid())', check: '' });
  expect(toPolicyInput(stored)).toMatchObject({ condition: stored.condition, check: '' });
});
