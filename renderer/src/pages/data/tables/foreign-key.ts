import type { DataOnDelete } from '../../../../../services/contracts/data/rows.ts';

// Quoted identifiers may contain keywords.
const quotedName = '"(?:[^"]|"")*"';
const columnPattern = new RegExp(`^FOREIGN KEY \\((?:${quotedName}|[^"()])*\\) `);
const onDeletePattern = new RegExp(
  `(${quotedName})| ON DELETE (?:NO ACTION|RESTRICT|CASCADE|SET NULL|SET DEFAULT)(?: \\((?:${quotedName}|[^"()])*\\))?`,
  'g',
);
const timingPattern = new RegExp(`^((?:${quotedName}|[^"])*?)( (?:DEFERRABLE|INITIALLY|NOT VALID|NOT ENFORCED).*)?$`);

/**
 * Returns the definition of a foreign key as written by PostgreSQL, with the given column (quoted) and delete
 * rule.
 */
export function withOnDelete(definition: string, column: string, onDelete: DataOnDelete): string {
  const rest = definition
    .replace(columnPattern, '')
    .replaceAll(onDeletePattern, (_, name: string | undefined) => name ?? '');
  const [, target = rest, timing = ''] = timingPattern.exec(rest) ?? [];
  const onDeleteClause = onDelete === 'no action' ? '' : ` on delete ${onDelete}`;
  return `foreign key (${column}) ${target}${onDeleteClause}${timing}`;
}

/** Checks that a foreign key has rules other than its delete rule. */
export function hasOtherRules(definition: string): boolean {
  return !withOnDelete(definition, '', 'no action').endsWith(')');
}
