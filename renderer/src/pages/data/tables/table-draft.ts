import type { DataColumn, DataOnDelete } from '../../../../../services/contracts/data/rows.ts';
import { hasOtherRules, withOnDelete } from './foreign-key.ts';
import { quoteIdentifier } from '../owner-statement.ts';

/** Column in the table form. */
export interface ColumnDraft {
  /** Stored name; undefined for a new column. */
  readonly previousName: string | undefined;
  name: string;
  type: string;
  /** SQL expression; empty for none. */
  defaultValue: string;
  isKey: boolean;
  isRequired: boolean;
  isUnique: boolean;
  isIdentity: boolean;
  /** Quoted name of the referenced table; empty for none. */
  reference: string;
  onDelete: DataOnDelete;
  /** The reference has rules that the form cannot show and that another target would lose. */
  readonly hasOtherRules: boolean;
}

/** Table in the form. */
export interface TableDraft {
  schema: string;
  name: string;
  /** Enables row security; new tables only. */
  isProtected: boolean;
  columns: ColumnDraft[];
}

/** Stored state of the edited table. */
export interface StoredTable {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly DataColumn[];
}

/** Suggested types; the field accepts any PostgreSQL type. */
export const suggestedTypes = [
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

/** Suggests default expressions for a type. */
export function suggestDefaults(type: string): readonly string[] {
  if (type === 'uuid') return ['gen_random_uuid()', 'auth.uid()'];
  if (/^(?:timestamp|date|time)/.test(type)) return ['now()'];
  if (type === 'boolean') return ['false', 'true'];
  if (/^json/.test(type)) return ["'{}'", "'[]'"];
  if (/\[\]$/.test(type)) return ["'{}'"];
  return type === 'text' ? ["''"] : ['0'];
}

export function createColumnDraft(fields: Partial<ColumnDraft> = {}): ColumnDraft {
  return {
    previousName: undefined,
    name: '',
    type: 'text',
    defaultValue: '',
    isKey: false,
    isRequired: false,
    isUnique: false,
    isIdentity: false,
    reference: '',
    onDelete: 'no action' as const,
    hasOtherRules: false,
    ...fields,
  };
}

/** Creates the draft of a new table with an identity key and a creation time. */
export function createTableDraft(schema: string): TableDraft {
  return {
    schema,
    name: '',
    isProtected: true,
    columns: [
      createColumnDraft({ name: 'id', type: 'bigint', isKey: true, isRequired: true, isIdentity: true }),
      createColumnDraft({ name: 'created_at', type: 'timestamptz', defaultValue: 'now()', isRequired: true }),
    ],
  };
}

export function toTableDraft({ schema, name, columns }: StoredTable): TableDraft {
  return { schema, name, isProtected: true, columns: columns.map(toColumnDraft) };
}

function toColumnDraft(column: DataColumn): ColumnDraft {
  const { name, type, isKey, isIdentity, reference } = column;
  return {
    previousName: name,
    name,
    type,
    isKey,
    defaultValue: isIdentity ? '' : (column.defaultValue ?? ''),
    isRequired: !column.isNullable,
    isUnique: column.unique !== null,
    isIdentity: isIdentity,
    reference: reference === null ? '' : `${quoteIdentifier(reference.schema)}.${quoteIdentifier(reference.name)}`,
    onDelete: reference?.onDelete ?? 'no action',
    hasOtherRules: reference !== null && hasOtherRules(reference.definition),
  };
}

/** Builds the statements that create the table. */
export function buildCreateStatements({ schema, name, isProtected, columns }: TableDraft): string {
  const table = `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
  const keys = columns.filter(({ isKey }) => isKey).map((column) => quoteIdentifier(column.name));
  const lines = [
    ...columns.map(buildColumnDefinition),
    ...(keys.length === 0 ? [] : [`primary key (${keys.join(', ')})`]),
  ];
  const statement = `create table ${table} (\n  ${lines.join(',\n  ')}\n);`;
  return isProtected ? `${statement}\nalter table ${table} enable row level security;` : statement;
}

/** Builds the statements that alter the stored table to match the draft; empty without changes. */
export function buildAlterStatements(before: StoredTable, draft: TableDraft): string {
  const table = `${quoteIdentifier(before.schema)}.${quoteIdentifier(before.name)}`;
  const keptNames = new Set(draft.columns.map(({ previousName: previousName }) => previousName));
  const statements = before.columns
    .filter(({ name }) => !keptNames.has(name))
    .map(({ name }) => `alter table ${table} drop column ${quoteIdentifier(name)};`);
  for (const column of draft.columns) {
    const old = before.columns.find(({ name }) => name === column.previousName);
    if (old === undefined) statements.push(`alter table ${table} add column ${buildColumnDefinition(column)};`);
    else statements.push(...buildColumnChanges(old, column).map((change) => `alter table ${table} ${change};`));
  }
  if (draft.name !== before.name) statements.push(`alter table ${table} rename to ${quoteIdentifier(draft.name)};`);
  return statements.join('\n');
}

function buildColumnDefinition(column: ColumnDraft): string {
  const { name, type, defaultValue, isKey, isRequired, isUnique, isIdentity: isCounted } = column;
  return [
    `${quoteIdentifier(name)} ${type}`,
    ...(isCounted ? ['generated by default as identity'] : []),
    ...(isRequired && !isKey && !isCounted ? ['not null'] : []),
    ...(defaultValue.trim() === '' || isCounted ? [] : [`default ${defaultValue.trim()}`]),
    ...(isUnique ? ['unique'] : []),
    ...(column.reference === '' ? [] : [buildReference(column)]),
  ].join(' ');
}

function buildReference({ reference, onDelete }: ColumnDraft): string {
  return `references ${reference}${onDelete === 'no action' ? '' : ` on delete ${onDelete}`}`;
}

/** Builds the `alter table` actions of a column in a valid order. */
function buildColumnChanges(old: DataColumn, draft: ColumnDraft): readonly string[] {
  const before = toColumnDraft(old);
  const column = quoteIdentifier(draft.name);
  const hasType = draft.type.trim() !== before.type;
  const hasDefault = draft.defaultValue.trim() !== before.defaultValue.trim();
  const hasReference =
    draft.reference !== before.reference || (draft.reference !== '' && draft.onDelete !== before.onDelete);
  const changes = [
    ...(draft.name === before.name ? [] : [`rename column ${quoteIdentifier(before.name)} to ${column}`]),
    ...(old.reference !== null && hasReference ? [`drop constraint ${quoteIdentifier(old.reference.constraint)}`] : []),
    ...(old.unique !== null && !draft.isUnique ? [`drop constraint ${quoteIdentifier(old.unique)}`] : []),
  ];
  // The old default may not be valid for the new type.
  if ((hasType || hasDefault) && before.defaultValue !== '') changes.push(`alter column ${column} drop default`);
  if (hasType) changes.push(`alter column ${column} type ${draft.type.trim()} using ${column}::${draft.type.trim()}`);
  if ((hasType || hasDefault) && draft.defaultValue.trim() !== '')
    changes.push(`alter column ${column} set default ${draft.defaultValue.trim()}`);
  if (draft.isRequired !== before.isRequired)
    changes.push(`alter column ${column} ${draft.isRequired ? 'set' : 'drop'} not null`);
  if (draft.isUnique && old.unique === null) changes.push(`add unique (${column})`);
  if (draft.reference !== '' && hasReference) {
    if (old.reference !== null && draft.reference === before.reference) {
      const constraint = withOnDelete(old.reference.definition, column, draft.onDelete);
      changes.push(`add constraint ${quoteIdentifier(old.reference.constraint)} ${constraint}`);
    } else {
      changes.push(`add foreign key (${column}) ${buildReference(draft)}`);
    }
  }
  return changes;
}
