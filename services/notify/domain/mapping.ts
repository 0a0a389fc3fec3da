import { isRecord } from '../../contracts/is-record.ts';

/** Rule of a payload mapping: `?:source=target`. */
export interface MappingRule {
  readonly source: string;
  /** Field of a notification, a value for the field `source`, or empty to remove `source`. */
  readonly target: string;
}

type Fields = Readonly<Record<string, unknown>>;

const maxPathLength = 1000;

/** Fields of a notification; any other target is a value. */
const notificationFields = new Set([
  ...['body', 'title', 'type', 'format', 'tag', 'tags', 'urls', 'attach', 'attachment', 'attachments'],
]);

/** Returns the rules of a query in order: parameters whose name begins with a colon. */
export function mappingRules(query: URLSearchParams): readonly MappingRule[] {
  return [...query]
    .filter(([name]) => name.startsWith(':'))
    .map(([name, target]) => ({ source: name.slice(1).trim(), target: target.trim() }));
}

/** Parses `a.b[0].c` to its steps. Returns undefined for an invalid path. */
function parsePath(path: string, maxDepth: number): readonly (string | number)[] | undefined {
  if (path.length > maxPathLength) return undefined;
  const steps: (string | number)[] = [];
  for (const part of path.split('.')) {
    const [, name, indexes] = /^([^[\]]+)((?:\[\d{1,6}\])*)$/.exec(part) ?? [];
    if (name === undefined || indexes === undefined) return undefined;
    steps.push(name, ...[...indexes.matchAll(/\d+/g)].map(([digits]) => Number(digits)));
  }
  return steps.length <= maxDepth ? steps : undefined;
}

function getValue(fields: Fields, steps: readonly (string | number)[]): unknown {
  return steps.reduce<unknown>((value, step) => {
    if (typeof step === 'number') return Array.isArray(value) ? (value as readonly unknown[])[step] : undefined;
    if (!isRecord(value)) return undefined;
    return Object.hasOwn(value, step) ? (value as Fields)[step] : undefined;
  }, fields);
}

/**
 * Applies the mapping of a call to its fields, rule by rule: moves a field, swaps two existing ones, copies from a
 * nested path (JSON only), sets a constant, or removes a field. A missing flat field is skipped. Returns undefined if
 * a path is malformed, too deep or not found.
 */
export function mapFields(
  original: Fields,
  rules: readonly MappingRule[],
  { nested, maxDepth }: { readonly nested: boolean; readonly maxDepth: number },
): Fields | undefined {
  const fields = new Map(Object.entries(original));
  for (const { source, target } of rules) {
    const name = source.toLowerCase();
    const targetName = target.toLowerCase();
    const fieldName = fields.has(source) ? source : name;
    if (fields.has(fieldName)) {
      const value = fields.get(fieldName);
      if (target === '') fields.delete(fieldName);
      else if (!notificationFields.has(targetName)) fields.set(fieldName, target);
      else if (notificationFields.has(name) && fields.has(targetName)) {
        fields.set(fieldName, fields.get(targetName));
        fields.set(targetName, value);
      } else {
        fields.delete(fieldName);
        fields.set(targetName, value);
      }
    } else if (nested && /[.[\]]/.test(source)) {
      const steps = parsePath(source, maxDepth);
      const value = steps === undefined ? undefined : getValue(original, steps);
      if (value === undefined) return undefined;
      if (notificationFields.has(targetName)) fields.set(targetName, value);
    } else if (notificationFields.has(name) && target !== '' && !notificationFields.has(targetName)) {
      fields.set(name, target);
    }
  }
  return Object.fromEntries(fields);
}
