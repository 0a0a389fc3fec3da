import type { DataColumn, DataOnDelete } from '../../../../services/contracts/data/rows.ts';
import { hasOtherRules, withOnDelete } from './foreign-key.ts';
import { quoted } from './owner-statement.ts';

/** A column as it is typed into the form of a table. */
export interface ColumnDraft {
  /** What it was called before; undefined: it is new. */
  readonly was: string | undefined;
  name: string;
  type: string;
  /** An expression of SQL; empty: none. */
  defaultValue: string;
  isKey: boolean;
  isRequired: boolean;
  isUnique: boolean;
  isCounted: boolean;
  /** The quoted name of the table whose row it names; empty: none. */
  reference: string;
  onDelete: DataOnDelete;
  /** That reference has rules that the form does not know, and would lose them with another table. */
  readonly isBound: boolean;
}

/** A table as it is typed into its form. */
export interface TableDraft {
  schema: string;
  name: string;
  /** New tables only. */
  isProtected: boolean;
  columns: ColumnDraft[];
}

/** What a table was before it was changed. */
export interface TableBefore {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly DataColumn[];
}

/** Types that are proposed; PostgreSQL knows more. */
export const usualTypes = [
  'text',
  'bigint',
  'integer',
  'boolean',
  'uuid',
  'timestamptz',
  'date',
  'time',
  'numeric',
  'double precision',
  'jsonb',
  'text[]',
  'bytea',
] as const;

/** Expressions that columns of a type often begin with. */
export function usualDefaults(type: string): readonly string[] {
  if (type === 'uuid') return ['gen_random_uuid()', 'auth.uid()'];
  if (/^(?:timestamp|date|time)/.test(type)) return ['now()'];
  if (type === 'boolean') return ['false', 'true'];
  if (/^json/.test(type)) return ["'{}'", "'[]'"];
  if (/\[\]$/.test(type)) return ["'{}'"];
  return type === 'text' ? ["''"] : ['0'];
}

export function newColumn(more: Partial<ColumnDraft> = {}): ColumnDraft {
  return {
    was: undefined,
    name: '',
    type: 'text',
    defaultValue: '',
    isKey: false,
    isRequired: false,
    isUnique: false,
    isCounted: false,
    reference: '',
    onDelete: 'no action' as const,
    isBound: false,
    ...more,
  };
}

/** What a new table begins with: a key that counts up, and when a row was made. */
export function newTable(schema: string): TableDraft {
  return {
    schema,
    name: '',
    isProtected: true,
    columns: [
      newColumn({ name: 'id', type: 'bigint', isKey: true, isRequired: true, isCounted: true }),
      newColumn({ name: 'created_at', type: 'timestamptz', defaultValue: 'now()', isRequired: true }),
    ],
  };
}

export function draftOfTable({ schema, name, columns }: TableBefore): TableDraft {
  return { schema, name, isProtected: true, columns: columns.map(draftOfColumn) };
}

function draftOfColumn(column: DataColumn): ColumnDraft {
  const { name, type, isKey, isIdentity, reference } = column;
  return {
    was: name,
    name,
    type,
    isKey,
    defaultValue: isIdentity ? '' : (column.defaultValue ?? ''),
    isRequired: !column.isNullable,
    isUnique: column.unique !== null,
    isCounted: isIdentity,
    reference: reference === null ? '' : `${quoted(reference.schema)}.${quoted(reference.name)}`,
    onDelete: reference?.onDelete ?? 'no action',
    isBound: reference !== null && hasOtherRules(reference.definition),
  };
}

/** Statements that make the table. */
export function createStatements({ schema, name, isProtected, columns }: TableDraft): string {
  const table = `${quoted(schema)}.${quoted(name)}`;
  const keys = columns.filter(({ isKey }) => isKey).map((column) => quoted(column.name));
  const lines = [...columns.map(definition), ...(keys.length === 0 ? [] : [`primary key (${keys.join(', ')})`])];
  const made = `create table ${table} (\n  ${lines.join(',\n  ')}\n);`;
  return isProtected ? `${made}\nalter table ${table} enable row level security;` : made;
}

/** Statements that change the table into what is drafted; empty: nothing is another than before. */
export function alterStatements(before: TableBefore, draft: TableDraft): string {
  const table = `${quoted(before.schema)}.${quoted(before.name)}`;
  const kept = new Set(draft.columns.map(({ was }) => was));
  const all = before.columns
    .filter(({ name }) => !kept.has(name))
    .map(({ name }) => `alter table ${table} drop column ${quoted(name)};`);
  for (const column of draft.columns) {
    const old = before.columns.find(({ name }) => name === column.was);
    if (old === undefined) all.push(`alter table ${table} add column ${definition(column)};`);
    else all.push(...changesOf(old, column).map((change) => `alter table ${table} ${change};`));
  }
  if (draft.name !== before.name) all.push(`alter table ${table} rename to ${quoted(draft.name)};`);
  return all.join('\n');
}

function definition(column: ColumnDraft): string {
  const { name, type, defaultValue, isKey, isRequired, isUnique, isCounted } = column;
  return [
    `${quoted(name)} ${type}`,
    ...(isCounted ? ['generated by default as identity'] : []),
    ...(isRequired && !isKey && !isCounted ? ['not null'] : []),
    ...(defaultValue.trim() === '' || isCounted ? [] : [`default ${defaultValue.trim()}`]),
    ...(isUnique ? ['unique'] : []),
    ...(column.reference === '' ? [] : [referenceOf(column)]),
  ].join(' ');
}

function referenceOf({ reference, onDelete }: ColumnDraft): string {
  return `references ${reference}${onDelete === 'no action' ? '' : ` on delete ${onDelete}`}`;
}

/** What stands after `alter table …`, in an order in which each can be done. */
function changesOf(old: DataColumn, now: ColumnDraft): readonly string[] {
  const before = draftOfColumn(old);
  const column = quoted(now.name);
  const hasType = now.type.trim() !== before.type;
  const hasDefault = now.defaultValue.trim() !== before.defaultValue.trim();
  const hasReference = now.reference !== before.reference || (now.reference !== '' && now.onDelete !== before.onDelete);
  const changes = [
    ...(now.name === before.name ? [] : [`rename column ${quoted(before.name)} to ${column}`]),
    ...(old.reference !== null && hasReference ? [`drop constraint ${quoted(old.reference.constraint)}`] : []),
    ...(old.unique !== null && !now.isUnique ? [`drop constraint ${quoted(old.unique)}`] : []),
  ];
  // A default of the old type need not fit the new one.
  if ((hasType || hasDefault) && before.defaultValue !== '') changes.push(`alter column ${column} drop default`);
  if (hasType) changes.push(`alter column ${column} type ${now.type.trim()} using ${column}::${now.type.trim()}`);
  if ((hasType || hasDefault) && now.defaultValue.trim() !== '')
    changes.push(`alter column ${column} set default ${now.defaultValue.trim()}`);
  if (now.isRequired !== before.isRequired)
    changes.push(`alter column ${column} ${now.isRequired ? 'set' : 'drop'} not null`);
  if (now.isUnique && old.unique === null) changes.push(`add unique (${column})`);
  if (now.reference !== '' && hasReference) {
    const added =
      old.reference !== null && now.reference === before.reference
        ? `constraint ${quoted(old.reference.constraint)} ${withOnDelete(old.reference.definition, column, now.onDelete)}`
        : `foreign key (${column}) ${referenceOf(now)}`;
    changes.push(`add ${added}`);
  }
  return changes;
}
