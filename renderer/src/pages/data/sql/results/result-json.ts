import type { DataResult } from '../../../../../../services/contracts/data/api.ts';
import { parseJson } from '../../../../../../services/contracts/parse-json.ts';

/**
 * Formats rows as a JSON array of objects. Numbers are written as PostgreSQL sends them, so that large ones stay exact.
 * Columns with the same name are numbered: `id`, `id_2`.
 */
export function formatJson({ columns, rows, kinds }: Pick<DataResult, 'columns' | 'rows' | 'kinds'>): string {
  const names = columns.map((name, index) => {
    const count = columns.slice(0, index).filter((each) => each === name).length;
    return JSON.stringify(count === 0 ? name : `${name}_${String(count + 1)}`);
  });
  const lines = rows.map((row) => {
    const fields = row.map((value, index) => `${names[index] ?? '""'}: ${formatValue(value, kinds[index] ?? 'text')}`);
    return `  { ${fields.join(', ')} }`;
  });
  return lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n]`;
}

function formatValue(value: string | null, kind: DataResult['kinds'][number]): string {
  if (value === null) return 'null';
  // JSON has no NaN and no Infinity.
  if (kind === 'number' && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)) return value;
  if (kind === 'boolean') return value === 't' || value === 'true' ? 'true' : 'false';
  if (kind === 'json' && parseJson(value) !== undefined) return value;
  return JSON.stringify(value);
}
