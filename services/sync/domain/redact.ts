import { shownPlace } from './place.ts';

/** What stands where a secret was, as `rclone config redacted` writes it. */
export const hidden = 'XXX';
const secret =
  /pass|secret|token|credential|private|(?:^|[_.-]|[a-z])key|clear|^auth|obscured|sas_url|bearer|cookie|headers/i;
const plain = /^(?:key_use_agent|keyword|keep|passive)/i;

/** A copy without what may be a secret, by the names of its keys; of places the options in their text are left out. */
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

/** Of a group of options the values go and the names stay: a client that reads them expects a group. */
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

/** Whether a value under this name may be a secret. */
export function looksSecret(key: string): boolean {
  return secret.test(key) && !plain.test(key);
}

/** Leaves out what a client read as hidden and now writes back: what is stored stays. */
export function withoutHidden(parameters: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== hidden));
}
