import { formatLocation } from './location.ts';
import { parseJson } from '../../contracts/parse-json.ts';

/** Placeholder of a secret, as in `rclone config redacted`. */
export const redactedValue = 'XXX';
const secretPattern =
  /pass|secret|token|credential|private|(?:^|[_.-]|[a-z])key|clear|^auth|obscured|sas_url|bearer|cookie|headers/i;
const publicPattern = /^(?:key_use_agent|keyword|keep|passive)/i;

/** Returns a copy in which possible secrets are replaced, by the names of their keys. Options in locations are removed. */
export function redact(value: unknown, isSecret: (key: string) => boolean = isSecretName): unknown {
  if (Array.isArray(value)) return value.map((part) => redact(part, isSecret));
  if (typeof value === 'string') return redactText(value, isSecret);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      return [key, isSecret(key) ? redactLeaves(part) : redact(part, isSecret)];
    }),
  );
}

/** Replaces the values of a group of options and keeps the names, because clients expect a group. */
function redactLeaves(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redactLeaves);
  if (typeof value !== 'object' || value === null)
    return value === '' || value === null || typeof value === 'boolean' ? value : redactedValue;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, redactLeaves(part)]));
}

function redactText(text: string, isSecret: (key: string) => boolean): string {
  if (!text.startsWith('{')) return formatLocation(text).replace(/\/\/[^/\s@]+@/g, `//${redactedValue}@`);
  const value = parseJson(text);
  return value === undefined ? text : JSON.stringify(redact(value, isSecret));
}

/** Returns true if a value with this name may be a secret. */
export function isSecretName(key: string): boolean {
  return secretPattern.test(key) && !publicPattern.test(key);
}

/** Removes placeholders that a client writes back, so that the stored values remain. */
export function removeRedacted(parameters: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== redactedValue));
}
