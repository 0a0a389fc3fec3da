import * as m from '#messages/data-policies';
import type { DataPolicyInput } from '../../../../../services/contracts/data/policies.ts';
import { quoteIdentifier, quoteQualified } from '../../../../../services/contracts/data/sql-names.ts';
import type { DataColumn } from '../../../../../services/contracts/data/rows.ts';
import type { Membership } from './memberships.ts';

/** Choices that fill in a template. */
export interface TemplateChoices {
  readonly column: string;
  readonly domain: string;
  readonly membership: Membership | undefined;
}

/** Template that fills in the form of a new policy. */
export interface PolicyTemplate {
  readonly id: string;
  readonly title: () => string;
  readonly note: () => string;
  /** Columns that the template can use. */
  readonly acceptsColumn?: (column: DataColumn) => boolean;
  readonly needs?: 'domain' | 'membership';
  readonly build: (choices: TemplateChoices) => Partial<DataPolicyInput>;
}

const isUuid = ({ type }: DataColumn): boolean => type === 'uuid';
const isText = ({ type }: DataColumn): boolean => /^(?:text|character varying)/.test(type);
const signedIn = ['authenticated'];

/** Quotes an SQL text literal. */
const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
// A subselect is evaluated once for each statement instead of once for each row.
const matchesUser = (column: string): string => `${quoteIdentifier(column)} = (select auth.uid())`;
const matchesEmail = (column: string): string => `${quoteIdentifier(column)} = (select auth.email())`;

function matchesMembership(membership: Membership | undefined): string {
  const { schema, table, ownColumn, memberColumn, userColumn } = membership ?? {
    schema: 'public',
    table: 'members',
    ownColumn: 'team_id',
    memberColumn: 'team_id',
    userColumn: 'user_id',
  };
  const members = `select ${quoteIdentifier(memberColumn)} from ${quoteQualified(schema, table)}`;
  return `${quoteIdentifier(ownColumn)} in (${members} where ${matchesUser(userColumn)})`;
}

export const policyTemplates: readonly PolicyTemplate[] = [
  {
    id: 'owner',
    title: m.ownersReadAndChange,
    note: m.ownersNote,
    acceptsColumn: isUuid,
    build: ({ column }) => ({
      name: 'Owners',
      roles: signedIn,
      condition: matchesUser(column),
      check: matchesUser(column),
    }),
  },
  {
    id: 'public',
    title: m.everyoneReads,
    note: m.everyoneReadsNote,
    build: () => ({ name: 'Everyone reads', command: 'SELECT', condition: 'true' }),
  },
  {
    id: 'users',
    title: m.signedInRead,
    note: m.signedInReadNote,
    build: () => ({ name: 'Users read', command: 'SELECT', roles: signedIn, condition: 'true' }),
  },
  {
    id: 'insert',
    title: m.signedInAdd,
    note: m.signedInAddNote,
    acceptsColumn: isUuid,
    build: ({ column }) => ({ name: 'Users add', command: 'INSERT', roles: signedIn, check: matchesUser(column) }),
  },
  {
    id: 'email',
    title: m.byEmail,
    note: m.byEmailNote,
    acceptsColumn: isText,
    build: ({ column }) => ({
      name: 'By address',
      roles: signedIn,
      condition: matchesEmail(column),
      check: matchesEmail(column),
    }),
  },
  {
    id: 'domain',
    title: m.byDomain,
    note: m.byDomainNote,
    needs: 'domain',
    build: ({ domain }) => ({
      name: 'By domain',
      command: 'SELECT',
      roles: signedIn,
      condition: `split_part((select auth.email()), '@', 2) = ${quoteText(domain.trim().toLowerCase())}`,
    }),
  },
  {
    id: 'membership',
    title: m.byMembership,
    note: m.byMembershipNote,
    needs: 'membership',
    build: ({ membership }) => ({
      name: 'Members',
      roles: signedIn,
      condition: matchesMembership(membership),
      check: matchesMembership(membership),
    }),
  },
  {
    id: 'named',
    title: m.noAnonymousUsers,
    note: m.noAnonymousUsersNote,
    build: () => ({
      name: 'No anonymous users',
      isPermissive: false,
      roles: signedIn,
      condition: `(select (auth.jwt() ->> 'is_anonymous')::boolean) is not true`,
    }),
  },
  {
    id: 'second-factor',
    title: m.secondFactor,
    note: m.secondFactorNote,
    build: () => ({
      name: 'Second factor',
      isPermissive: false,
      roles: signedIn,
      condition: `(select auth.jwt() ->> 'aal') = 'aal2'`,
    }),
  },
  { id: 'empty', title: m.emptyPolicy, note: m.emptyPolicyNote, build: () => ({}) },
];
