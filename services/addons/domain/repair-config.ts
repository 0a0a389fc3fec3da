import * as m from '#messages/addons-problems';
import type { z } from 'zod';

/** Omitted or changed part of a configuration, with a message for the user who imports it. */
export interface Repair {
  readonly path: readonly PropertyKey[];
  readonly sentence: string;
}

interface Finding {
  readonly issue: z.core.$ZodIssue;
  readonly path: readonly PropertyKey[];
}

/** Every round removes at least one value. The number of hidden errors is limited by the depth of the schema. */
const maxRounds = 24;
const maxShownPath = 120;

/**
 * Parses a value and omits invalid fields instead of refusing all of it. Lists that are too long are truncated, and
 * numbers outside of their range are set to the nearest limit. The input is not changed.
 *
 * @returns Undefined when a required field is missing.
 */
export function parseWithRepairs<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  options?: Parameters<Schema['safeParse']>[1],
): { readonly data: z.output<Schema>; readonly repairs: readonly Repair[] } | undefined {
  let value: unknown;
  const repairs: Repair[] = [];
  for (let round = 0; round < maxRounds; round += 1) {
    const result = schema.safeParse(round === 0 ? input : value, options);
    if (result.success) return { data: result.data, repairs };
    if (round === 0) value = structuredClone(input);
    // Later elements are removed first, so that the indexes of the others stay valid.
    const findings = result.error.issues.flatMap((issue) => findingsIn(issue, [])).toSorted(compareLaterFirst);
    for (const finding of findings) {
      const repair = repairOne(value, finding);
      if (repair === undefined) return undefined;
      repairs.push(repair);
    }
  }
  return undefined;
}

/** Returns the findings of an issue. For a union, these are the findings of the alternative with the matching type. */
function findingsIn(issue: z.core.$ZodIssue, basePath: readonly PropertyKey[]): readonly Finding[] {
  const path = [...basePath, ...issue.path];
  if (issue.code !== 'invalid_union') return [{ issue, path }];
  const matchingAlternative = issue.errors.find(
    (errors) => errors.length > 0 && errors.every((inner) => inner.path.length > 0),
  );
  return matchingAlternative === undefined
    ? [{ issue, path }]
    : matchingAlternative.flatMap((inner) => findingsIn(inner, path));
}

function compareLaterFirst(first: Finding, second: Finding): number {
  const length = Math.min(first.path.length, second.path.length);
  for (let index = 0; index < length; index += 1) {
    const [firstKey, secondKey] = [first.path[index], second.path[index]];
    if (firstKey === secondKey) continue;
    if (typeof firstKey === 'number' && typeof secondKey === 'number') return secondKey - firstKey;
    return String(firstKey) < String(secondKey) ? -1 : 1;
  }
  return second.path.length - first.path.length;
}

function repairOne(root: unknown, { issue, path }: Finding): Repair | undefined {
  const current = valueAt(root, path);
  // A removed element may have moved the value, or a former finding removed it.
  if (current === undefined)
    return removeAt(root, path.slice(0, -1), (removed) => m.fieldMissing({ path: formatPath(path), removed }));
  const bound = getBound(issue);
  if (bound !== undefined && typeof current === 'number') {
    setAt(root, path, bound);
    return {
      path,
      sentence: m.valueReplaced({ path: formatPath(path), value: String(current), replacement: String(bound) }),
    };
  }
  if (issue.code === 'too_big' && Array.isArray(current)) {
    const omittedCount = current.splice(Number(issue.maximum)).length;
    return {
      path,
      sentence: m.listShortened({ path: formatPath(path), count: omittedCount }),
    };
  }
  return removeAt(root, path, (removed) =>
    m.fieldNotSupported({ path: formatPath(path), reason: getIssueMessage(issue), removed }),
  );
}

function getBound(issue: z.core.$ZodIssue): number | undefined {
  if (issue.code === 'too_big' && issue.origin === 'number') return Number(issue.maximum);
  return issue.code === 'too_small' && issue.origin === 'number' ? Number(issue.minimum) : undefined;
}

function getIssueMessage({ message }: z.core.$ZodIssue): string {
  return message.replace(/\.$/, '').slice(0, 200);
}

/** Removes a field or a list item. Returns undefined for the root. */
function removeAt(
  root: unknown,
  path: readonly PropertyKey[],
  describe: (removed: string) => string,
): Repair | undefined {
  const key = path.at(-1);
  const parent = valueAt(root, path.slice(0, -1));
  if (key === undefined || typeof parent !== 'object' || parent === null) return undefined;
  const sentence = describe(formatPath(path));
  if (Array.isArray(parent)) {
    // A tuple cannot lose a single element.
    if (isTuple(parent, path)) return removeAt(root, path.slice(0, -1), describe);
    parent.splice(Number(key), 1);
  } else {
    Reflect.deleteProperty(parent, key);
  }
  return { path, sentence };
}

/** Ranges are lists of two numbers with these names. */
function isTuple(list: readonly unknown[], path: readonly PropertyKey[]): boolean {
  const name = String(path.at(-2));
  return (
    list.length <= 2 &&
    (/Range$/.test(name) || ['movies', 'series', 'anime'].includes(name)) &&
    path[0] !== 'sortCriteria'
  );
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

function setAt(root: unknown, path: readonly PropertyKey[], newValue: unknown): void {
  const parent = valueAt(root, path.slice(0, -1));
  const key = path.at(-1);
  if (key !== undefined && typeof parent === 'object' && parent !== null)
    (parent as Record<PropertyKey, unknown>)[key] = newValue;
}

function formatPath(path: readonly PropertyKey[]): string {
  const text = path.map(String).join('.');
  return text.length > maxShownPath ? `${text.slice(0, maxShownPath)}…` : text;
}
