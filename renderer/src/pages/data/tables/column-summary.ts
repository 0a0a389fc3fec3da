import type { DataColumn, DataOnDelete } from '../../../../../services/contracts/data/rows.ts';

const onDeleteNotes: Readonly<Partial<Record<DataOnDelete, string>>> = {
  cascade: ', and goes with it',
  'set null': ', and is empty once that is gone',
  'set default': ', and has its default once that is gone',
};

/** Describes the constraints of a column. */
export function describeColumn(column: DataColumn): string {
  const { isKey, isNullable, isIdentity, isGenerated, defaultValue, unique, reference, choices } = column;
  const table =
    reference === null ? '' : `${reference.schema === 'public' ? '' : `${reference.schema}.`}${reference.name}`;
  return [
    ...(isKey ? ['Key'] : isNullable ? ['May be empty'] : ['Never empty']),
    ...(isIdentity ? ['counts up by itself'] : isGenerated ? ['written by PostgreSQL'] : []),
    ...(unique !== null && !isKey ? ['no two alike'] : []),
    ...(defaultValue !== null && !isIdentity && !isGenerated ? [`default ${defaultValue}`] : []),
    ...(choices.length > 0 ? [`one of ${choices.join(', ')}`] : []),
    ...(reference === null ? [] : [`names a row of ${table}${onDeleteNotes[reference.onDelete] ?? ''}`]),
  ].join(' · ');
}
