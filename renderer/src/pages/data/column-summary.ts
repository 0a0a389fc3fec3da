import type { DataColumn, DataOnDelete } from '../../../../services/contracts/data/rows.ts';

const whenGone: Readonly<Partial<Record<DataOnDelete, string>>> = {
  cascade: ', and goes with it',
  'set null': ', and is empty once that is gone',
  'set default': ', and has its default once that is gone',
};

/** What PostgreSQL asks of a column, in words. */
export function columnFacts(column: DataColumn): string {
  const { isKey, isNullable, isIdentity, isGenerated, defaultValue, unique, reference, choices } = column;
  const table =
    reference === null ? '' : `${reference.schema === 'public' ? '' : `${reference.schema}.`}${reference.name}`;
  return [
    ...(isKey ? ['Key'] : isNullable ? ['May be empty'] : ['Never empty']),
    ...(isIdentity ? ['counts up by itself'] : isGenerated ? ['written by PostgreSQL'] : []),
    ...(unique !== null && !isKey ? ['no two alike'] : []),
    ...(defaultValue !== null && !isIdentity && !isGenerated ? [`default ${defaultValue}`] : []),
    ...(choices.length > 0 ? [`one of ${choices.join(', ')}`] : []),
    ...(reference === null ? [] : [`names a row of ${table}${whenGone[reference.onDelete] ?? ''}`]),
  ].join(' · ');
}
