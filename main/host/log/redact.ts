import { toSourcePosition } from './source-positions.ts';

const redacted = '[redacted]';

const secretName =
  /pass(?:word|wd|phrase|code)|^(?:pass|pwd|auth|seal|cookies?|otp|totp)$|token|secret|session[-_]?id|authorization|cookie|credential|api[-_]?key|(?:private|master|vault|data|secret|signing|encryption|access|auth|seal|wrapping)[-_]?key|sealed|signature/i;

/** Returns whether a field, header or query parameter with this name may contain a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name);
}

// Every pattern is bounded, so that a hostile string takes linear time.
/** Matches `scheme://user:password@host` up to the `@`, since some addresses contain only a token there. */
const userInfo = /([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#@"'<>]{1,1024}@/gi;
/** Matches `auth=…`, `access_token=…`, `"password": "…"` in queries, forms and JSON. */
const assignment =
  /(\b[\w-]{0,40}(?:auth|token|passw(?:or)?d|passphrase|secret|api[-_]?key|signature|credential)[\w-]{0,40}(?:=|\\?["']\s{0,4}:\s{0,4}\\?["']))[^\s&"'<>#;]{1,8192}/gi;
/** Matches `Authorization: Basic …`, `Cookie: …` and `Bearer …`. */
const headerLine = /(\b(?:proxy-)?(?:authorization|set-cookie|cookie)\s{0,4}:\s{0,4})[^\r\n]{1,8192}/gi;
const scheme = /(\b(?:bearer|basic)\s{1,4})[\w.~+/=-]{6,8192}/gi;
/** Matches access tokens (`tk_` and 29 characters) and seals of the vault anywhere. */
const tokenPattern = /\btk_[A-Za-z0-9]{10,64}/g;
const sealPattern = /\bv1\.[A-Za-z0-9_-]{16,8192}(?:\.[A-Za-z0-9_-]{1,8192}){0,4}/g;

/** Removes text that looks like a credential. */
export function redactText(text: string): string {
  // Most lines contain none of these characters; one cheap test saves six passes.
  if (!/[=@:]|bearer|basic|tk_|v1\./i.test(text)) return text;
  return text
    .replace(userInfo, `$1${redacted}@`)
    .replace(assignment, `$1${redacted}`)
    .replace(headerLine, `$1${redacted}`)
    .replace(scheme, `$1${redacted}`)
    .replace(tokenPattern, `tk_${redacted}`)
    .replace(sealPattern, `v1.${redacted}`);
}

const maxDepth = 6;
const maxEntries = 100;
const maxText = 8192;

/** Logged form of an error; `cause` has the same form. */
interface LoggedError {
  name: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: unknown;
  errors?: unknown;
}

/**
 * Converts any value to JSON: secrets replaced by name and pattern, errors with their causes, depth, width and length
 * limited. Never throws, regardless of getters and `toJSON`.
 */
export function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return toPlainObject(fields, 0, new Set());
}

function toPlainObject(value: object, depth: number, above: Set<object>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  let count = 0;
  for (const name of Object.keys(value)) {
    if ((count += 1) > maxEntries) {
      plain['…'] = 'more left out';
      break;
    }
    const inner = read(value, name);
    if (inner === undefined || typeof inner === 'function') continue;
    const key = redactText(name);
    plain[key] = isSecretName(name) && containsText(inner) ? redacted : toPlainValue(inner, depth + 1, above);
  }
  return plain;
}

/** `hasPassword: true` and `token: null` contain no secret and are useful. */
function containsText(value: unknown): boolean {
  return value !== null && typeof value !== 'boolean' && value !== '';
}

function read(value: object, name: string): unknown {
  try {
    return (value as Record<string, unknown>)[name];
  } catch (error) {
    return `[unreadable: ${error instanceof Error ? error.name : 'error'}]`;
  }
}

function toPlainValue(value: unknown, depth: number, above: Set<object>): unknown {
  if (typeof value === 'string') return toPlainText(value);
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (above.has(value)) return '[circular]';
  if (depth > maxDepth) return '[too deep]';
  above.add(value);
  try {
    return toPlainThing(value, depth, above);
  } finally {
    above.delete(value);
  }
}

function toPlainThing(value: object, depth: number, above: Set<object>): unknown {
  if (value instanceof Error) return toLoggedError(value, depth, above);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (value instanceof URL || value instanceof RegExp) return toPlainText(String(value));
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Map) return toPlainObject(Object.fromEntries(value), depth, above);
  if (value instanceof Set) return toPlainValue([...value], depth, above);
  if (Array.isArray(value)) {
    const items = value.slice(0, maxEntries).map((item) => toPlainValue(item, depth + 1, above) ?? null);
    if (value.length > maxEntries) items.push(`… ${value.length - maxEntries} more`);
    return items;
  }
  return toPlainObject(value, depth, above);
}

function toPlainText(text: string): string {
  const short = text.length > maxText ? `${text.slice(0, maxText)}… (${text.length} characters)` : text;
  return redactText(short);
}

function toLoggedError(error: Error, depth: number, above: Set<object>): LoggedError {
  const plain: LoggedError = { name: error.name, message: toPlainText(error.message) };
  const code = read(error, 'code');
  if (typeof code === 'string' || typeof code === 'number') plain.code = toPlainText(String(code));
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  if (frames.length > 0)
    plain.stack = redactText(
      frames
        .slice(0, 12)
        .map((line) => toSourcePosition(line.trim()))
        .join('\n'),
    );
  if (error.cause !== undefined) plain.cause = toPlainValue(error.cause, depth + 1, above);
  if (error instanceof AggregateError) plain.errors = toPlainValue(error.errors, depth + 1, above);
  return plain;
}
