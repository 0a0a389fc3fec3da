import type { DataColumn } from '../../../../services/contracts/data/rows.ts';
import type { Values } from './rows.svelte.ts';

/** What a field of a row stands for: its text, nothing, or what the table gives by itself. */
export type FieldMode = 'value' | 'null' | 'default';

export interface FieldDraft {
  mode: FieldMode;
  text: string;
}

export type RowDraft = Record<string, FieldDraft>;

/** The fields of a new row, or of one that is there. */
export function draftOf(columns: readonly DataColumn[], values: Values | undefined): RowDraft {
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

/** The modes that a column knows. */
export function modesOf({ isNullable, defaultValue }: DataColumn, isNew: boolean): readonly FieldMode[] {
  return [
    'value',
    ...(isNullable ? (['null'] as const) : []),
    ...(isNew && defaultValue !== null ? (['default'] as const) : []),
  ];
}

/** What is to be written: of a row that is there only what is another than before. */
export function changesOf(draft: RowDraft, before: Values | undefined): Values {
  return Object.fromEntries(
    Object.entries(draft).flatMap(([name, { mode, text }]) => {
      if (mode === 'default') return [];
      const value = mode === 'null' ? null : text;
      return before !== undefined && before[name] === value ? [] : [[name, value] as const];
    }),
  );
}

/** How a value is typed in. */
export function controlOf({ type, choices }: DataColumn): 'choice' | 'flag' | 'long' | 'number' | 'line' {
  if (choices.length > 0) return 'choice';
  if (type === 'boolean') return 'flag';
  if (/^(?:json|jsonb|text|xml)$|\[\]$/.test(type)) return 'long';
  return /^(?:smallint|integer|bigint|numeric|real|double)/.test(type) ? 'number' : 'line';
}
