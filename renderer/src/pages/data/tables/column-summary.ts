import * as m from '#messages/data';
import { formatList } from '../../../../../messages/format.ts';
import type { DataColumn } from '../../../../../services/contracts/data/rows.ts';

/** Describes the constraints of a column. */
export function describeColumn(column: DataColumn): string {
  const { isKey, isNullable, isIdentity, isGenerated, defaultValue, unique, reference, choices } = column;
  const table =
    reference === null ? '' : `${reference.schema === 'public' ? '' : `${reference.schema}.`}${reference.name}`;
  return [
    ...(isKey ? [m.key()] : isNullable ? [m.mayBeEmpty()] : [m.neverEmpty()]),
    ...(isIdentity ? [m.countsUpByItself()] : isGenerated ? [m.writtenByPostgreSQL()] : []),
    ...(unique !== null && !isKey ? [m.noTwoAlike()] : []),
    ...(defaultValue !== null && !isIdentity && !isGenerated ? [m.defaultOf({ defaultValue })] : []),
    ...(choices.length > 0 ? [m.oneOfChoices({ choices: formatList(choices, 'unit') })] : []),
    ...(reference === null ? [] : [m.reference({ table, rule: reference.onDelete.replace(' ', '_') })]),
  ].join(' · ');
}
