/** A part of a stranger's JSON, read without trust: what is missing or of another type is empty, never an error. */
export interface Payload {
  /** Text at a path such as `repository.full_name`; numbers are written out, everything else is `''`. One line, cut when long. */
  text(path: string): string;
  /** The same with its line breaks. */
  lines(path: string): string;
  /** The same, uncut. */
  fullText(path: string): string;
  /** What is there, whatever it is. */
  value(path: string): unknown;
  number(path: string): number | undefined;
  isTrue(path: string): boolean;
  /** Whether there is anything but null at a path. */
  has(path: string): boolean;
  /** Whether the key is there at all, be it null. */
  hasKey(key: string): boolean;
  /** An http(s) address; undefined for anything else. */
  link(path: string): string | undefined;
  /** What is at a path as a part; an empty one where there is no object. */
  object(path: string): Payload;
  /** The objects of a list. */
  list(path: string): readonly Payload[];
  /** Names and texts of an object, in its order. */
  pairs(path: string): readonly (readonly [name: string, text: string])[];
}

/** Characters of one text, items of one list: a notice is for a person. */
const maxTextLength = 4000;
const maxItems = 200;
const maxLinkLength = 2000;

function getValue(value: unknown, path: string): unknown {
  if (path === '') return value;
  return path.split('.').reduce<unknown>((at, key) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    return (at as Readonly<Record<string, unknown>>)[key];
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

/** Opens a value for reading. */
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
      if (typeof target !== 'object' || target === null || Array.isArray(target)) return [];
      return Object.entries(target)
        .slice(0, maxItems)
        .map(([name, text]) => [toLine(toText(name)), toLine(toText(text))] as const);
    },
  };
}
