import * as m from '#messages/addons-rules';
import { toRecord } from '../../../../../services/contracts/is-record.ts';

/** Expression in the editor. */
export interface DraftRule {
  /** Identifies the row while it is edited. */
  readonly key: number;
  text: string;
  name: string;
  enabled: boolean;
  score: number;
  /** Value in the saved configuration. */
  readonly before: unknown;
}

/** Addons that are requested together. */
export interface DraftGroup {
  readonly key: number;
  addons: string[];
  condition: string;
  readonly before: unknown;
}

/** Change of the configuration with a separate install address. */
export interface DraftVariant {
  readonly key: number;
  id: string;
  name: string;
  enabled: boolean;
  script: string;
  readonly before: unknown;
}

/** Catalog that combines several catalogs. */
export interface DraftMerged {
  readonly key: number;
  id: string;
  name: string;
  type: string;
  enabled: boolean;
  /** Catalogs in the format of {@link formatCatalogPart}. */
  parts: string[];
  method: string;
  twins: string[];
  readonly before: unknown;
}

/** Rules of a configuration in the editor. */
export interface RulesDraft {
  /** Expressions by list name, such as `excludedStreamExpressions`. */
  lists: Record<string, DraftRule[]>;
  groups: { enabled: boolean; sequential: boolean; list: DraftGroup[] };
  variants: DraftVariant[];
  merged: DraftMerged[];
}

/** Lists of expressions, with the action for matching streams and the summary of a list. */
export const ruleLists = [
  ['excludedStreamExpressions', m.hide, m.excludedStreamExpressionsSummary],
  ['requiredStreamExpressions', m.showNothingBut, m.requiredStreamExpressionsSummary],
  ['includedStreamExpressions', m.showInAnyCase, m.includedStreamExpressionsSummary],
  ['preferredStreamExpressions', m.preferInThisOrder, m.preferredStreamExpressionsSummary],
  ['rankedStreamExpressions', m.giveScores, m.rankedStreamExpressionsSummary],
  ['rankedRegexPatterns', m.scoresByExpressions, m.rankedRegexPatternsSummary],
] as const;
export type RuleList = (typeof ruleLists)[number][0];

/** Checks for a list with scores. */
export const isRanked = (list: RuleList): boolean => list.startsWith('ranked');
const isPattern = (list: string): boolean => list === 'rankedRegexPatterns';

type ConfigObject = Readonly<Record<string, unknown>>;
let lastKey = 0;
const nextKey = (): number => (lastKey += 1);

export function newRule(): DraftRule {
  return { key: nextKey(), text: '', name: '', enabled: true, score: 0, before: undefined };
}
export function newGroup(): DraftGroup {
  return { key: nextKey(), addons: [], condition: '', before: undefined };
}
export function newVariant(usedIds: readonly string[]): DraftVariant {
  const id = createUniqueId('variant', usedIds);
  return { key: nextKey(), id, name: '', enabled: true, script: '', before: undefined };
}
export function newMerged(usedIds: readonly string[]): DraftMerged {
  const id = createUniqueId('aiostreams.merged.list', usedIds);
  const base = { key: nextKey(), id, name: '', type: 'movie', enabled: true, parts: [] };
  return { ...base, method: 'sequential', twins: ['id'], before: undefined };
}

/** Formats the reference of a merged catalog to one of its parts. */
export function formatCatalogPart({ id, type }: { readonly id: string; readonly type: string }): string {
  return `id=${encodeURIComponent(id)}&type=${encodeURIComponent(type)}`;
}

/** Converts the rules of a configuration to a draft. */
export function toRulesDraft(config: ConfigObject): RulesDraft {
  const groups = toRecord(config['groups']);
  return {
    lists: Object.fromEntries(
      ruleLists.map(([name]) => [
        name,
        toList(config[name]).map((item): DraftRule => {
          const fields = toRecord(item);
          const text = typeof item === 'string' ? item : toText(fields[isPattern(name) ? 'pattern' : 'expression']);
          const score = typeof fields['score'] === 'number' ? fields['score'] : 0;
          return {
            key: nextKey(),
            text,
            name: toText(fields['name']),
            enabled: fields['enabled'] !== false,
            score,
            before: item,
          };
        }),
      ]),
    ),
    groups: {
      enabled: groups['enabled'] !== false && toList(groups['groupings']).length > 0,
      sequential: groups['behaviour'] === 'sequential',
      list: toList(groups['groupings']).map((before) => ({
        key: nextKey(),
        addons: toTexts(toRecord(before)['addons']),
        condition: toText(toRecord(before)['condition']),
        before,
      })),
    },
    variants: toList(config['variants']).map((before) => {
      const fields = toRecord(before);
      const base = {
        key: nextKey(),
        id: toText(fields['id']),
        name: toText(fields['name']),
        script: toText(fields['script']),
      };
      return { ...base, enabled: fields['enabled'] !== false, before };
    }),
    merged: toList(config['mergedCatalogs']).map((before) => {
      const fields = toRecord(before);
      return {
        key: nextKey(),
        id: toText(fields['id']),
        name: toText(fields['name']),
        type: toText(fields['type']),
        enabled: fields['enabled'] !== false,
        parts: toTexts(fields['catalogIds']),
        before,
        method: toText(fields['mergeMethod']) || 'sequential',
        twins: toTexts(fields['deduplicationMethods']),
      };
    }),
  };
}

/** Returns the configuration with the edited rules, without empty rows. */
export function withRules(
  config: ConfigObject,
  { lists, groups, variants, merged }: RulesDraft,
): Record<string, unknown> {
  const result: Record<string, unknown> = { ...config };
  const setList = (name: string, items: readonly unknown[]): void => {
    if (items.length > 0 || Array.isArray(config[name])) result[name] = items;
  };
  for (const [name] of ruleLists)
    setList(
      name,
      (lists[name] ?? []).filter(hasText).map((rule) => toRule(rule, name)),
    );
  const groupings = groups.list.map(({ addons, condition, before }) => ({ ...toRecord(before), addons, condition }));
  if (groupings.length > 0 || config['groups'] !== undefined)
    result['groups'] = {
      ...toRecord(config['groups']),
      enabled: groups.enabled,
      behaviour: groups.sequential ? 'sequential' : 'parallel',
      groupings,
    };
  setList(
    'variants',
    variants.map(({ id, name, enabled, script, before }) => ({
      ...toRecord(before),
      id: id.trim(),
      name,
      enabled,
      script,
    })),
  );
  setList(
    'mergedCatalogs',
    merged.map(({ id, name, type, enabled, parts, method, twins, before }) => ({
      ...toRecord(before),
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

/** Checks for a row that is not empty. */
export function hasText({ text }: Pick<DraftRule, 'text'>): boolean {
  return text.trim() !== '';
}

function toRule({ text, name, enabled, score, before }: DraftRule, listName: string): unknown {
  // Unchanged rules keep their format.
  if (typeof before === 'string' && enabled && score === 0 && name === '') return text;
  if (isPattern(listName)) {
    const { name: _before, ...rest } = toRecord(before);
    return { ...rest, ...(name === '' ? {} : { name }), pattern: text, score };
  }
  const scored = listName.startsWith('ranked') ? { score } : {};
  return { ...toRecord(before), expression: text, enabled, ...scored };
}

function createUniqueId(base: string, usedIds: readonly string[]): string {
  for (let number = 1; ; number += 1)
    if (!usedIds.includes(`${base}${String(number)}`)) return `${base}${String(number)}`;
}
function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
function toTexts(value: unknown): string[] {
  return toList(value).filter((item) => typeof item === 'string');
}
