import { RestError } from '../errors.ts';

/** What `Prefer` asks for. */
export interface Preferences {
  readonly resolution?: 'merge-duplicates' | 'ignore-duplicates';
  readonly missing?: 'default' | 'null';
  readonly return?: 'representation' | 'headers-only' | 'minimal';
  readonly count?: 'exact' | 'planned' | 'estimated';
  readonly tx?: 'commit' | 'rollback';
  readonly handling?: 'strict' | 'lenient';
  readonly timezone?: string;
  readonly maxAffected?: number;
}

const choices: Readonly<Record<string, readonly string[]>> = {
  resolution: ['merge-duplicates', 'ignore-duplicates'],
  missing: ['default', 'null'],
  return: ['representation', 'headers-only', 'minimal'],
  count: ['exact', 'planned', 'estimated'],
  tx: ['commit', 'rollback'],
  handling: ['strict', 'lenient'],
};

/** @throws RestError PGRST122 when `handling=strict` comes with what nobody knows. */
export function parsePreferences(header: string | undefined): Preferences {
  const found: Record<string, string | number> = {};
  const unknown: string[] = [];
  for (const text of header?.split(',') ?? []) {
    const preference = text.trim();
    if (preference === '') continue;
    const [name = '', value = ''] = preference.split('=').map((part) => part.trim());
    // The first of a kind counts.
    if (Object.hasOwn(choices, name) && choices[name]?.includes(value) === true) found[name] ??= value;
    // PostgreSQL knows names and offsets, and refuses what is neither.
    else if (name === 'timezone' && value !== '') found['timezone'] ??= value;
    else if (name === 'max-affected' && /^\d{1,15}$/.test(value)) found['maxAffected'] ??= Number(value);
    else if (name === 'params') continue;
    else unknown.push(preference);
  }
  if (found['handling'] === 'strict' && unknown.length > 0) {
    throw new RestError(400, 'PGRST122', 'Invalid preferences given with handling=strict', {
      details: `Invalid preferences: ${unknown.join(', ')}`,
    });
  }
  return found;
}

/** The header that says which preferences were honoured; undefined: none was. */
export function appliedHeader(applied: Preferences): string | undefined {
  const names = ['resolution', 'missing', 'return', 'count', 'tx', 'handling', 'timezone'] as const;
  const all = names.flatMap((name) => (applied[name] === undefined ? [] : [`${name}=${applied[name]}`]));
  if (applied.maxAffected !== undefined) all.push(`max-affected=${applied.maxAffected}`);
  return all.length === 0 ? undefined : all.join(', ');
}
