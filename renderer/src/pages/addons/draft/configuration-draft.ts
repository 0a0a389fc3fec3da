import * as m from '#messages/addons-rules';
import type { AddonKinds } from '../../../../../services/contracts/addons/api.ts';
import { listNames, sortLists } from './filter-kinds.ts';
import { defaultSortKeys } from './new-config.ts';
import { flagFields, limitFields, readRange, rangeFields, toRangeValue, getValue, withValue } from './number-fields.ts';
import { pictureFlags, pictureTexts } from './picture-fields.ts';
import { toRulesDraft, withRules, type RulesDraft } from './rules-draft.ts';
import { toRecord } from '../../../../../services/contracts/is-record.ts';

/** Addon of a configuration in the editor. Unknown members are preserved. */
export interface DraftPreset {
  type: string;
  instanceId: string;
  enabled: boolean;
  options: Record<string, unknown> & { name?: string; manifestUrl?: string };
}

/** Debrid service of a configuration. */
export interface DraftService {
  id: string;
  enabled: boolean;
  credentials: Record<string, string>;
}

/** Criterion of the sort order of streams. */
export interface DraftCriterion {
  key: string;
  direction: 'asc' | 'desc';
}

/** Position, name and visibility of a catalog. Unknown members are preserved. */
export interface DraftCatalog {
  id: string;
  type: string;
  name?: string | undefined;
  enabled: boolean;
}

/** Editable part of a configuration; everything else is preserved. */
export interface Draft {
  addonName: string;
  presets: DraftPreset[];
  services: DraftService[];
  formatter: { id: string; name: string; description: string };
  excludeUncached: boolean;
  deduplicate: boolean;
  /** Values by list name, such as `excludedQualities`. */
  lists: Record<string, string[]>;
  sorts: Record<string, DraftCriterion[]>;
  ranges: Record<string, { min: number | null; max: number | null }>;
  limits: Record<string, number | null>;
  flags: Record<string, boolean>;
  /** Texts by field name, such as `tmdbApiKey`. */
  texts: Record<string, string>;
  catalogs: DraftCatalog[];
  rules: RulesDraft;
  /** Configuration that this one inherits from, with a strategy per part; an empty `uuid` means none. */
  parent: { uuid: string; strategies: Record<string, string> };
}

/** Predefined sort orders. */
export const sortPresets: readonly (readonly [id: string, label: () => string, keys: readonly string[]])[] = [
  ['quality', m.whatPlaysAtOnceBest, defaultSortKeys],
  ['size', m.whatPlaysAtOnceLargest, ['cached', 'size']],
  ['seeders', m.mostSeedersFirst, ['cached', 'seeders']],
  ['', m.asTheAddonsHaveIt, []],
];
type Config = Readonly<Record<string, unknown>>;

const flagPaths = [...flagFields.map(([path]) => path), ...pictureFlags];

/** Converts a configuration to a draft. */
export function toDraft(config: Config): Draft {
  const formatter = toRecord(config['formatter']);
  // Older configurations have their custom texts in `definition`.
  const custom = toRecord(toRecord(formatter['definitions'])['custom'] ?? formatter['definition']);
  return {
    addonName: toText(config['addonName']),
    presets: toList(config['presets']).map(toDraftPreset),
    services: toList(config['services']).map(toDraftService),
    formatter: {
      id: toText(formatter['id']) || 'torrentio',
      name: toText(custom['name']),
      description: toText(custom['description']),
    },
    excludeUncached: config['excludeUncached'] === true,
    deduplicate: toRecord(config['deduplicator'])['enabled'] === true,
    lists: Object.fromEntries(listNames.map((name) => [name, toList(config[name]).map(getPattern)])),
    sorts: Object.fromEntries(
      sortLists.map(([name]) => [name, toList(toRecord(config['sortCriteria'])[name]).map(toCriterion)]),
    ),
    ranges: Object.fromEntries(rangeFields.map((field) => [field.path, readRange(config, field)])),
    limits: Object.fromEntries(
      limitFields.map(([path]) => {
        const value = getValue(config, path);
        return [path, typeof value === 'number' && value > 0 ? value : null];
      }),
    ),
    flags: Object.fromEntries(flagPaths.map((path) => [path, getValue(config, path) === true])),
    texts: Object.fromEntries(pictureTexts.map((name) => [name, toText(config[name])])),
    catalogs: toList(config['catalogModifications']).map(toDraftCatalog),
    rules: toRulesDraft(config),
    parent: {
      uuid: toText(toRecord(config['parentConfig'])['uuid']),
      strategies: { ...(toRecord(toRecord(config['parentConfig'])['mergeStrategies']) as Record<string, string>) },
    },
  };
}

/** Returns the configuration with the changes of a draft. */
export function toConfig(before: Config, draft: Draft): Record<string, unknown> {
  const { formatter } = draft;
  const definitions = {
    ...toRecord(toRecord(before['formatter'])['definitions']),
    custom: { name: formatter.name, description: formatter.description },
  };
  let base: Record<string, unknown> = { ...before };
  for (const name of listNames) base = withValue(base, name, toListValue(before[name], draft.lists[name] ?? []));
  for (const field of rangeFields) {
    const range = draft.ranges[field.path];
    if (range !== undefined) base = withValue(base, field.path, toRangeValue(range, field));
  }
  for (const [path] of limitFields) base = withValue(base, path, draft.limits[path] ?? null);
  for (const path of flagPaths)
    if ((getValue(before, path) === true) !== draft.flags[path]) base = withValue(base, path, draft.flags[path]);
  for (const name of pictureTexts) base = withValue(base, name, draft.texts[name]?.trim() || null);
  if (draft.catalogs.length > 0) base = { ...base, catalogModifications: draft.catalogs };
  base = withRules(base, draft.rules);
  if ((before['excludeUncached'] === true) !== draft.excludeUncached)
    base = { ...base, excludeUncached: draft.excludeUncached };
  const deduplicator = toRecord(before['deduplicator']);
  if ((deduplicator['enabled'] === true) !== draft.deduplicate)
    base = { ...base, deduplicator: { ...deduplicator, enabled: draft.deduplicate } };
  base = withValue(base, 'parentConfig', toParentConfig(toRecord(before['parentConfig']), draft.parent));
  return {
    ...base,
    // An empty name would override the one of the parent.
    addonName: draft.addonName.trim() || (draft.parent.uuid === '' ? '' : null),
    presets: draft.presets,
    services: draft.services,
    formatter: {
      ...toRecord(before['formatter']),
      id: formatter.id,
      ...(formatter.id === 'custom' ? { definitions } : {}),
    },
    sortCriteria: { ...toRecord(before['sortCriteria']), ...draft.sorts },
  };
}

/** Returns the name of an addon, by default that of its kind. */
export function getAddonName({ type, options }: DraftPreset, kinds: AddonKinds['kinds']): string {
  return options.name || (findAddonKind(type, kinds)?.name ?? type);
}

/** Finds the kind of an addon by its ID or by the alias of imported configurations. */
export function findAddonKind(type: string, kinds: AddonKinds['kinds']): AddonKinds['kinds'][number] | undefined {
  return kinds.find(({ id, alsoCalled }) => id === type || alsoCalled.includes(type));
}

/** Creates an ID that is unique in the configuration. */
export function createInstanceId(type: string, presets: readonly DraftPreset[]): string {
  const usedIds = new Set(presets.map(({ instanceId }) => instanceId));
  const base = type.replaceAll(/[^a-z0-9]/gi, '').slice(0, 12) || 'addon';
  for (let number = 1; ; number += 1) if (!usedIds.has(`${base}${String(number)}`)) return `${base}${String(number)}`;
}

/** Returns the ID of the predefined order that matches the criteria, or `own`. */
export function getSortPreset(criteria: readonly DraftCriterion[]): string {
  const criteriaKeys = criteria.map(({ key, direction }) => (direction === 'desc' ? key : `-${key}`)).join();
  return sortPresets.find(([, , keys]) => keys.join() === criteriaKeys)?.[0] ?? 'own';
}

/** Parts that every configuration defines, so that the parent would never apply without an explicit strategy. */
const inheritedParts = ['sorting', 'formatter'];

/** Selects a parent. The first parent also provides the parts that cannot be empty. */
export function selectParent({ uuid: before, strategies }: Draft['parent'], uuid: string): Draft['parent'] {
  if (before !== '' || uuid === '') return { uuid, strategies };
  return {
    uuid,
    strategies: { ...Object.fromEntries(inheritedParts.map((part) => [part, 'inherit'])), ...strategies },
  };
}

/** Converts the parent to its configuration fields. The password is preserved if the parent is still the same. */
function toParentConfig(before: Config, { uuid, strategies }: Draft['parent']): Config | null {
  if (uuid === '') return null;
  const password = before['uuid'] === uuid ? toText(before['password']) : '';
  const mergeStrategies = Object.fromEntries(Object.entries(strategies).filter(([, strategy]) => strategy !== ''));
  return { ...before, uuid, password, mergeStrategies };
}

function toDraftPreset(item: unknown): DraftPreset {
  const preset = toRecord(item);
  return {
    ...preset,
    type: toText(preset['type']),
    instanceId: toText(preset['instanceId']),
    enabled: preset['enabled'] !== false,
    options: { ...toRecord(preset['options']) },
  };
}

function toDraftService(item: unknown): DraftService {
  const service = toRecord(item);
  const credentials = Object.entries(toRecord(service['credentials'])).map(([name, value]) => [name, toText(value)]);
  return {
    ...service,
    id: toText(service['id']),
    enabled: service['enabled'] !== false,
    credentials: Object.fromEntries(credentials) as Record<string, string>,
  };
}

function toDraftCatalog(item: unknown): DraftCatalog {
  const { name, ...change } = toRecord(item);
  return {
    ...change,
    id: toText(change['id']),
    type: toText(change['type']),
    enabled: change['enabled'] !== false,
    ...(typeof name === 'string' ? { name } : {}),
  };
}

function toCriterion(item: unknown): DraftCriterion {
  const { key, direction } = toRecord(item);
  return { key: toText(key), direction: direction === 'asc' ? 'asc' : 'desc' };
}

/** Returns the pattern of an expression, which may have a name. */
function getPattern(item: unknown): string {
  return typeof item === 'string' ? item : toText(toRecord(item)['pattern']);
}

/** Returns the edited list with the other fields of its entries; `null` when it was and is empty. */
function toListValue(before: unknown, edited: readonly string[]): readonly unknown[] | null {
  if (edited.length === 0 && !Array.isArray(before)) return null;
  return edited.map((value) => toList(before).find((item) => getPattern(item) === value) ?? value);
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
