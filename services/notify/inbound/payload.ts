import { isRecord } from '../../contracts/is-record.ts';

/** Untrusted JSON: missing values and values of another type are empty, and reading them never throws. */
export interface Payload {
  /**
   * Returns the text at a path such as `repository.full_name` as one line, truncated; numbers are formatted, other
   * values are `''`.
   */
  text(path: string): string;
  /** Returns the text with its line breaks, truncated. */
  lines(path: string): string;
  /** Returns the complete text. */
  fullText(path: string): string;
  /** Returns the value at a path. */
  value(path: string): unknown;
  number(path: string): number | undefined;
  isTrue(path: string): boolean;
  /** Returns whether the value at a path is neither undefined nor null. */
  has(path: string): boolean;
  /** Returns whether the key exists, even if it is null. */
  hasKey(key: string): boolean;
  /** Returns an http(s) address; undefined for anything else. */
  link(path: string): string | undefined;
  /** Returns the object at a path; an empty one if there is none. */
  object(path: string): Payload;
  /** Returns the objects of a list. */
  list(path: string): readonly Payload[];
  /** Returns the names and texts of an object, in order. */
  pairs(path: string): readonly (readonly [name: string, text: string])[];
}

/** Maximum characters of a text and items of a list in a notification. */
const maxTextLength = 4000;
const maxItems = 200;
const maxLinkLength = 2000;

function getValue(value: unknown, path: string): unknown {
  if (path === '') return value;
  return path.split('.').reduce<unknown>((parent, key) => {
    if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key)) return undefined;
    return (parent as Readonly<Record<string, unknown>>)[key];
  }, value);
}

function toText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value : '';
}

function truncateText(text: string): string {
  return text.length > maxTextLength ? `${text.slice(0, maxTextLength).replace(/[\uD800-\uDBFF]$/, '')}…` : text;
}

function toLine(text: string): string {
  return truncateText(text)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/** Wraps a value for reading. */
export function readPayload(value: unknown): Payload {
  const getAt = (path: string): unknown => getValue(value, path);
  const lines = (path: string): string => truncateText(toText(getAt(path))).trim();
  return {
    text: (path) => toLine(lines(path)),
    lines,
    fullText: (path) => toText(getAt(path)),
    value: getAt,
    number: (path) => {
      const target = getAt(path);
      return typeof target === 'number' && Number.isFinite(target) ? target : undefined;
    },
    isTrue: (path) => getAt(path) === true,
    has: (path) => getAt(path) !== undefined && getAt(path) !== null,
    hasKey: (key) => typeof value === 'object' && value !== null && Object.hasOwn(value, key),
    link: (path) => {
      const text = lines(path);
      return /^https?:\/\/[^\s<>"]+$/i.test(text) && text.length <= maxLinkLength ? text : undefined;
    },
    object: (path) => readPayload(getAt(path)),
    list: (path) => {
      const target = getAt(path);
      if (!Array.isArray(target)) return [];
      return target
        .slice(0, maxItems)
        .filter((item) => typeof item === 'object' && item !== null)
        .map(readPayload);
    },
    pairs: (path) => {
      const target = getAt(path);
      if (!isRecord(target)) return [];
      return Object.entries(target)
        .slice(0, maxItems)
        .map(([name, text]) => [toLine(toText(name)), toLine(toText(text))] as const);
    },
  };
}
