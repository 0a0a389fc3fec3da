/** An expression as the page edits it. */
export interface DraftRule {
  /** Tells rows apart while they are edited. */
  readonly key: number;
  text: string;
  name: string;
  enabled: boolean;
  score: number;
  /** As the configuration has it. */
  readonly before: unknown;
}

/** Addons that are asked together. */
export interface DraftGroup {
  readonly key: number;
  addons: string[];
  condition: string;
  readonly before: unknown;
}

/** A change to the configuration that an address chooses. */
export interface DraftVariant {
  readonly key: number;
  id: string;
  name: string;
  enabled: boolean;
  script: string;
  readonly before: unknown;
}

/** Several catalogs as one. */
export interface DraftMerged {
  readonly key: number;
  id: string;
  name: string;
  type: string;
  enabled: boolean;
  /** As {@link partOf} writes them. */
  parts: string[];
  method: string;
  twins: string[];
  readonly before: unknown;
}

/** What the page edits of the rules of a configuration. */
export interface RulesDraft {
  /** By their names in the configuration, such as `excludedStreamExpressions`. */
  lists: Record<string, DraftRule[]>;
  groups: { enabled: boolean; sequential: boolean; list: DraftGroup[] };
  variants: DraftVariant[];
  merged: DraftMerged[];
}

/** Lists of expressions, and what is done with what they choose. */
export const ruleLists = [
  ['excludedStreamExpressions', 'Hide'],
  ['requiredStreamExpressions', 'Show nothing but'],
  ['includedStreamExpressions', 'Show in any case'],
  ['preferredStreamExpressions', 'Prefer, in this order'],
  ['rankedStreamExpressions', 'Give scores'],
  ['rankedRegexPatterns', 'Give scores by regular expressions'],
] as const;
export type RuleList = (typeof ruleLists)[number][0];

/** Whether the rules of a list have scores. */
export const isRanked = (list: RuleList): boolean => list.startsWith('ranked');
const isPattern = (list: string): boolean => list === 'rankedRegexPatterns';

type Members = Readonly<Record<string, unknown>>;
let last = 0;
const nextKey = (): number => (last += 1);

export function newRule(): DraftRule {
  return { key: nextKey(), text: '', name: '', enabled: true, score: 0, before: undefined };
}
export function newGroup(): DraftGroup {
  return { key: nextKey(), addons: [], condition: '', before: undefined };
}
export function newVariant(taken: readonly string[]): DraftVariant {
  const id = freeId('variant', taken);
  return { key: nextKey(), id, name: '', enabled: true, script: '', before: undefined };
}
export function newMerged(taken: readonly string[]): DraftMerged {
  const id = freeId('aiostreams.merged.list', taken);
  const base = { key: nextKey(), id, name: '', type: 'movie', enabled: true, parts: [] };
  return { ...base, method: 'sequential', twins: ['id'], before: undefined };
}

/** How a merged catalog names one of its parts. */
export function partOf({ id, type }: { readonly id: string; readonly type: string }): string {
  return `id=${encodeURIComponent(id)}&type=${encodeURIComponent(type)}`;
}

/** The rules of a configuration as they are edited. */
export function rulesOf(config: Members): RulesDraft {
  const groups = record(config['groups']);
  return {
    lists: Object.fromEntries(
      ruleLists.map(([name]) => [
        name,
        list(config[name]).map((one): DraftRule => {
          const of = record(one);
          const text = typeof one === 'string' ? one : words(of[isPattern(name) ? 'pattern' : 'expression']);
          const score = typeof of['score'] === 'number' ? of['score'] : 0;
          return {
            key: nextKey(),
            text,
            name: words(of['name']),
            enabled: of['enabled'] !== false,
            score,
            before: one,
          };
        }),
      ]),
    ),
    groups: {
      enabled: groups['enabled'] !== false && list(groups['groupings']).length > 0,
      sequential: groups['behaviour'] === 'sequential',
      list: list(groups['groupings']).map((before) => ({
        key: nextKey(),
        addons: texts(record(before)['addons']),
        condition: words(record(before)['condition']),
        before,
      })),
    },
    variants: list(config['variants']).map((before) => {
      const of = record(before);
      const base = { key: nextKey(), id: words(of['id']), name: words(of['name']), script: words(of['script']) };
      return { ...base, enabled: of['enabled'] !== false, before };
    }),
    merged: list(config['mergedCatalogs']).map((before) => {
      const of = record(before);
      return {
        key: nextKey(),
        id: words(of['id']),
        name: words(of['name']),
        type: words(of['type']),
        enabled: of['enabled'] !== false,
        parts: texts(of['catalogIds']),
        before,
        method: words(of['mergeMethod']) || 'sequential',
        twins: texts(of['deduplicationMethods']),
      };
    }),
  };
}

/** The configuration with the rules as they were edited; rows that say nothing are left out. */
export function withRules(config: Members, { lists, groups, variants, merged }: RulesDraft): Record<string, unknown> {
  const result: Record<string, unknown> = { ...config };
  const put = (name: string, items: readonly unknown[]): void => {
    if (items.length > 0 || Array.isArray(config[name])) result[name] = items;
  };
  for (const [name] of ruleLists)
    put(
      name,
      (lists[name] ?? []).filter(says).map((rule) => ruleOf(rule, name)),
    );
  const groupings = groups.list.map(({ addons, condition, before }) => ({ ...record(before), addons, condition }));
  if (groupings.length > 0 || config['groups'] !== undefined)
    result['groups'] = {
      ...record(config['groups']),
      enabled: groups.enabled,
      behaviour: groups.sequential ? 'sequential' : 'parallel',
      groupings,
    };
  put(
    'variants',
    variants.map(({ id, name, enabled, script, before }) => ({
      ...record(before),
      id: id.trim(),
      name,
      enabled,
      script,
    })),
  );
  put(
    'mergedCatalogs',
    merged.map(({ id, name, type, enabled, parts, method, twins, before }) => ({
      ...record(before),
      id,
      name: name.trim() || id,
      type,
      enabled,
      catalogIds: parts,
      mergeMethod: method,
      deduplicationMethods: twins,
    })),
  );
  return result;
}

/** Whether a row says anything. */
export function says({ text }: Pick<DraftRule, 'text'>): boolean {
  return text.trim() !== '';
}

function ruleOf({ text, name, enabled, score, before }: DraftRule, listName: string): unknown {
  // What nobody touched stays as it was written.
  if (typeof before === 'string' && enabled && score === 0 && name === '') return text;
  if (isPattern(listName)) {
    const { name: _before, ...rest } = record(before);
    return { ...rest, ...(name === '' ? {} : { name }), pattern: text, score };
  }
  const scored = listName.startsWith('ranked') ? { score } : {};
  return { ...record(before), expression: text, enabled, ...scored };
}

function freeId(base: string, taken: readonly string[]): string {
  for (let number = 1; ; number += 1)
    if (!taken.includes(`${base}${String(number)}`)) return `${base}${String(number)}`;
}
function words(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
function texts(value: unknown): string[] {
  return list(value).filter((one) => typeof one === 'string');
}
function record(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}
