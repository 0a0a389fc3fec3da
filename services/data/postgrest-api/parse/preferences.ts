import { RestError } from '../errors.ts';

/** Preferences of a `Prefer` header. */
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

/**
 * Parses a `Prefer` header.
 *
 * @throws RestError PGRST122 when `handling=strict` is combined with unknown preferences
 */
export function parsePreferences(header: string | undefined): Preferences {
  const preferences: Record<string, string | number> = {};
  const unknown: string[] = [];
  for (const text of header?.split(',') ?? []) {
    const preference = text.trim();
    if (preference === '') continue;
    const [name = '', value = ''] = preference.split('=').map((part) => part.trim());
    // The first preference of a name is used.
    if (Object.hasOwn(choices, name) && choices[name]?.includes(value) === true) preferences[name] ??= value;
    // PostgreSQL validates the time zone.
    else if (name === 'timezone' && value !== '') preferences['timezone'] ??= value;
    else if (name === 'max-affected' && /^\d{1,15}$/.test(value)) preferences['maxAffected'] ??= Number(value);
    else if (name === 'params') continue;
    else unknown.push(preference);
  }
  if (preferences['handling'] === 'strict' && unknown.length > 0) {
    throw new RestError(400, 'PGRST122', 'Invalid preferences given with handling=strict', {
      details: `Invalid preferences: ${unknown.join(', ')}`,
    });
  }
  return preferences;
}

/** Builds the `Preference-Applied` header; undefined when no preference was applied. */
export function buildAppliedHeader(applied: Preferences): string | undefined {
  const names = ['resolution', 'missing', 'return', 'count', 'tx', 'handling', 'timezone'] as const;
  const applications = names.flatMap((name) => (applied[name] === undefined ? [] : [`${name}=${applied[name]}`]));
  if (applied.maxAffected !== undefined) applications.push(`max-affected=${applied.maxAffected}`);
  return applications.length === 0 ? undefined : applications.join(', ');
}
