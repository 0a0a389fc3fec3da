import * as m from '#messages/data-connect';
import type { DataColumn } from '../../../../../services/contracts/data/rows.ts';

/** Template of a policy that can be edited before it is created. */
export interface PolicyTemplate {
  readonly title: string;
  readonly note: string;
  /** Columns that the template can use. */
  readonly column?: (column: DataColumn) => boolean;
  readonly statement: (table: string, column: string) => string;
}

const isId = ({ type }: DataColumn): boolean => type === 'uuid';
const isText = ({ type }: DataColumn): boolean => /^(?:text|character varying)/.test(type);

export const policyTemplates: readonly PolicyTemplate[] = [
  {
    get title() {
      return m.ownersReadAndChangeTheir();
    },
    get note() {
      return m.aColumnOfTypeUuid();
    },
    column: isId,
    statement: (table, column) =>
      `create policy "Owners" on ${table}\n` +
      `  for all to authenticated\n` +
      `  using (${column} = (select auth.uid()))\n` +
      `  with check (${column} = (select auth.uid()));`,
  },
  {
    get title() {
      return m.everybodyReads();
    },
    get note() {
      return m.alsoWhoIsNotSigned();
    },
    statement: (table) => `create policy "Everybody reads" on ${table}\n  for select using (true);`,
  },
  {
    get title() {
      return m.whoIsSignedInReads();
    },
    get note() {
      return m.allRowsAndNobodyChanges();
    },
    statement: (table) => `create policy "Users read" on ${table}\n  for select to authenticated using (true);`,
  },
  {
    get title() {
      return m.whoIsSignedInAdds();
    },
    get note() {
      return m.inTheirOwnNameA();
    },
    column: isId,
    statement: (table, column) =>
      `create policy "Users add" on ${table}\n` +
      `  for insert to authenticated\n` +
      `  with check (${column} = (select auth.uid()));`,
  },
  {
    get title() {
      return m.byEMailAddress();
    },
    get note() {
      return m.aColumnOfTextHolds();
    },
    column: isText,
    statement: (table, column) =>
      `create policy "By address" on ${table}\n` +
      `  for all to authenticated\n` +
      `  using (${column} = (select auth.email()))\n` +
      `  with check (${column} = (select auth.email()));`,
  },
  {
    get title() {
      return m.onlyPeopleWithAName();
    },
    get note() {
      return m.restrictsTheOthersAnonymousUsers();
    },
    statement: (table) =>
      `create policy "No anonymous users" on ${table}\n` +
      `  as restrictive for all to authenticated\n` +
      `  using ((select (auth.jwt() ->> 'is_anonymous')::boolean) is not true);`,
  },
];
