import type { DataOnDelete } from '../../../../services/contracts/data/rows.ts';

// What stands in quotes is a name, whatever it looks like.
const inQuotes = '"(?:[^"]|"")*"';
const ownColumn = new RegExp(`^FOREIGN KEY \\((?:${inQuotes}|[^"()])*\\) `);
const whenGone = new RegExp(
  `(${inQuotes})| ON DELETE (?:NO ACTION|RESTRICT|CASCADE|SET NULL|SET DEFAULT)(?: \\((?:${inQuotes}|[^"()])*\\))?`,
  'g',
);
const whenChecked = new RegExp(`^((?:${inQuotes}|[^"])*?)( (?:DEFERRABLE|INITIALLY|NOT VALID|NOT ENFORCED).*)?$`);

/** The definition of a foreign key, as PostgreSQL writes it, of this column (quoted) and with another end; all else stays. */
export function withOnDelete(definition: string, column: string, onDelete: DataOnDelete): string {
  const rest = definition.replace(ownColumn, '').replaceAll(whenGone, (_, name: string | undefined) => name ?? '');
  const [, target = rest, checked = ''] = whenChecked.exec(rest) ?? [];
  const end = onDelete === 'no action' ? '' : ` on delete ${onDelete}`;
  return `foreign key (${column}) ${target}${end}${checked}`;
}

/** Whether it says more than which row it names and what happens when that one goes. */
export function hasOtherRules(definition: string): boolean {
  return !withOnDelete(definition, '', 'no action').endsWith(')');
}
