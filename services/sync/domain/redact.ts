import { shownPlace } from './location.ts';

/** Placeholder of a secret, as in `rclone config redacted`. */
export const hidden = 'XXX';
const secret =
  /pass|secret|token|credential|private|(?:^|[_.-]|[a-z])key|clear|^auth|obscured|sas_url|bearer|cookie|headers/i;
const plain = /^(?:key_use_agent|keyword|keep|passive)/i;

/** Returns a copy in which possible secrets are replaced, by the names of their keys. Options in locations are removed. */
export function redacted(value: unknown, isSecret: (key: string) => boolean = looksSecret): unknown {
  if (Array.isArray(value)) return value.map((part) => redacted(part, isSecret));
  if (typeof value === 'string') return redactedText(value, isSecret);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      return [key, isSecret(key) ? withoutLeaves(part) : redacted(part, isSecret)];
    }),
  );
}

/** Replaces the values of a group of options and keeps the names, because clients expect a group. */
function withoutLeaves(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLeaves);
  if (typeof value !== 'object' || value === null)
    return value === '' || value === null || typeof value === 'boolean' ? value : hidden;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutLeaves(part)]));
}

function redactedText(text: string, isSecret: (key: string) => boolean): string {
  if (!text.startsWith('{')) return shownPlace(text).replace(/\/\/[^/\s@]+@/g, `//${hidden}@`);
  try {
    return JSON.stringify(redacted(JSON.parse(text), isSecret));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return text;
  }
}

/** Returns true if a value with this name may be a secret. */
export function looksSecret(key: string): boolean {
  return secret.test(key) && !plain.test(key);
}

/** Removes placeholders that a client writes back, so that the stored values remain. */
export function withoutHidden(parameters: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== hidden));
}
