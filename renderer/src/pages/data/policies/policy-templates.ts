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
    title: 'Owners read and change their own rows',
    note: 'A column of type uuid holds who a row belongs to.',
    column: isId,
    statement: (table, column) =>
      `create policy "Owners" on ${table}\n` +
      `  for all to authenticated\n` +
      `  using (${column} = (select auth.uid()))\n` +
      `  with check (${column} = (select auth.uid()));`,
  },
  {
    title: 'Everybody reads',
    note: 'Also who is not signed in.',
    statement: (table) => `create policy "Everybody reads" on ${table}\n  for select using (true);`,
  },
  {
    title: 'Who is signed in reads',
    note: 'All rows, and nobody changes them.',
    statement: (table) => `create policy "Users read" on ${table}\n  for select to authenticated using (true);`,
  },
  {
    title: 'Who is signed in adds rows',
    note: 'In their own name: a column of type uuid has to hold their id.',
    column: isId,
    statement: (table, column) =>
      `create policy "Users add" on ${table}\n` +
      `  for insert to authenticated\n` +
      `  with check (${column} = (select auth.uid()));`,
  },
  {
    title: 'By e-mail address',
    note: 'A column of text holds the address of who may read and change a row.',
    column: isText,
    statement: (table, column) =>
      `create policy "By address" on ${table}\n` +
      `  for all to authenticated\n` +
      `  using (${column} = (select auth.email()))\n` +
      `  with check (${column} = (select auth.email()));`,
  },
  {
    title: 'Only people with a name',
    note: 'Restricts the others: anonymous users see and change nothing.',
    statement: (table) =>
      `create policy "No anonymous users" on ${table}\n` +
      `  as restrictive for all to authenticated\n` +
      `  using ((select (auth.jwt() ->> 'is_anonymous')::boolean) is not true);`,
  },
];
