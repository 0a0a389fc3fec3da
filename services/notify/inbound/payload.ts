/** A part of a stranger's JSON, read without trust: what is missing or of another type is empty, never an error. */
export interface Part {
  /** Text at a path such as `repository.full_name`; numbers are written out, everything else is `''`. One line, cut when long. */
  text(path: string): string;
  /** The same with its line breaks. */
  lines(path: string): string;
  /** The same, uncut. */
  whole(path: string): string;
  /** What is there, whatever it is. */
  value(path: string): unknown;
  number(path: string): number | undefined;
  isTrue(path: string): boolean;
  /** Whether there is anything but null at a path. */
  has(path: string): boolean;
  /** Whether the key is there at all, be it null. */
  names(key: string): boolean;
  /** An http(s) address; undefined for anything else. */
  link(path: string): string | undefined;
  /** What is at a path as a part; an empty one where there is no object. */
  part(path: string): Part;
  /** The objects of a list. */
  list(path: string): readonly Part[];
  /** Names and texts of an object, in its order. */
  pairs(path: string): readonly (readonly [name: string, text: string])[];
}

/** Characters of one text, items of one list: a notice is for a person. */
const longest = 4000;
const mostItems = 200;
const longestLink = 2000;

function follow(value: unknown, path: string): unknown {
  if (path === '') return value;
  return path.split('.').reduce<unknown>((at, key) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    return (at as Readonly<Record<string, unknown>>)[key];
  }, value);
}

function write(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' ? value : '';
}

function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '')}…` : text;
}

function oneLine(text: string): string {
  return cut(text)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/** Opens a value for reading. */
export function readPart(value: unknown): Part {
  const at = (path: string): unknown => follow(value, path);
  const lines = (path: string): string => cut(write(at(path))).trim();
  return {
    text: (path) => oneLine(lines(path)),
    lines,
    whole: (path) => write(at(path)),
    value: at,
    number: (path) => {
      const found = at(path);
      return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
    },
    isTrue: (path) => at(path) === true,
    has: (path) => at(path) !== undefined && at(path) !== null,
    names: (key) => typeof value === 'object' && value !== null && Object.hasOwn(value, key),
    link: (path) => {
      const text = lines(path);
      return /^https?:\/\/[^\s<>"]+$/i.test(text) && text.length <= longestLink ? text : undefined;
    },
    part: (path) => readPart(at(path)),
    list: (path) => {
      const found = at(path);
      if (!Array.isArray(found)) return [];
      return found
        .slice(0, mostItems)
        .filter((item) => typeof item === 'object' && item !== null)
        .map(readPart);
    },
    pairs: (path) => {
      const found = at(path);
      if (typeof found !== 'object' || found === null || Array.isArray(found)) return [];
      return Object.entries(found)
        .slice(0, mostItems)
        .map(([name, text]) => [oneLine(write(name)), oneLine(write(text))] as const);
    },
  };
}
