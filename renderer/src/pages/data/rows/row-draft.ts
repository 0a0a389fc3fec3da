import type { DataColumn } from '../../../../../services/contracts/data/rows.ts';
import type { Values } from './rows.svelte.ts';

/** Content of a field: its text, null, or the default of the column. */
export type FieldMode = 'value' | 'null' | 'default';

export interface FieldDraft {
  mode: FieldMode;
  text: string;
}

export type RowDraft = Record<string, FieldDraft>;

/** Creates the fields of a new or an existing row. */
export function toRowDraft(columns: readonly DataColumn[], values: Values | undefined): RowDraft {
  return Object.fromEntries(
    columns
      .filter(({ isGenerated }) => !isGenerated)
      .map(({ name, defaultValue, isNullable }): [string, FieldDraft] => {
        const value = values?.[name];
        if (values !== undefined) return [name, { mode: value === null ? 'null' : 'value', text: value ?? '' }];
        return [name, { mode: defaultValue !== null ? 'default' : isNullable ? 'null' : 'value', text: '' }];
      }),
  );
}

/** Returns the modes that a column supports. */
export function getFieldModes({ isNullable, defaultValue }: DataColumn): readonly FieldMode[] {
  return [
    'value',
    ...(isNullable ? (['null'] as const) : []),
    ...(defaultValue !== null ? (['default'] as const) : []),
  ];
}

/** Returns the columns of an existing row that are set to their default; a new row gets it without a value. */
export function getDefaulted(draft: RowDraft): readonly string[] {
  return Object.entries(draft).flatMap(([name, { mode }]) => (mode === 'default' ? [name] : []));
}

/** Returns the values to write: for an existing row only the changed ones. */
export function getChangedValues(draft: RowDraft, before: Values | undefined): Values {
  return Object.fromEntries(
    Object.entries(draft).flatMap(([name, { mode, text }]) => {
      if (mode === 'default') return [];
      const value = mode === 'null' ? null : text;
      return before !== undefined && before[name] === value ? [] : [[name, value] as const];
    }),
  );
}
