import type { AddonConfig } from '../config.ts';
import { usesRating, findRatingRemoval } from '../rating.ts';
import { getBitrate, type ParsedStream } from '../stream.ts';
import { attributes, attributeLabels, type Attribute } from '../stream-attributes.ts';
import { createKeywordTest } from '../keywords.ts';
import { createMatchRules } from './match-rules.ts';
import { findReleaseRemoval } from './release-filter.ts';
import type { Removal, RemovalRule } from '../removal.ts';
import { appliesToAddon, includesAddon } from './scope.ts';
import type { TitleRequest } from '../title-request.ts';

/** Matches of the patterns of a configuration in one stream. */
export interface PatternMatch {
  readonly included: string | undefined;
  readonly excluded: string | undefined;
  readonly required: boolean;
  readonly preferred: { readonly index: number; readonly name: string } | undefined;
  /** Sum of the scores of all matching ranked patterns, or undefined when none matches. */
  readonly score: number | undefined;
  /** Names of the matching ranked patterns. */
  readonly ranked?: readonly string[] | undefined;
}

export interface FilterInput {
  readonly config: AddonConfig;
  readonly titleRequest: TitleRequest;
  /** Matches by index of the stream; undefined when the configuration has no patterns. */
  readonly patterns: readonly PatternMatch[] | undefined;
  /** IDs of the streams that bypass all filters. */
  readonly included?: ReadonlySet<string>;
}

type Rule = (stream: ParsedStream, index: number) => Removal | undefined;
type Test = (stream: ParsedStream, index: number) => string | undefined;

/** Compiles the filters of a configuration. The result returns the reason of a removal, or undefined. */
export function compileFilter(input: FilterInput): Rule {
  const { config, patterns } = input;
  // Filters by title apply to all streams, including those that bypass other filters.
  const titleRemoval = usesRating(config) ? findRatingRemoval(input.titleRequest.rating, config) : undefined;
  if (titleRemoval !== undefined) return () => titleRemoval;
  const releaseRemoval = findReleaseRemoval(config, input.titleRequest);
  const includeTests = createIncludeTests(config, patterns);
  const rules = [
    ...createListRules(config),
    ...createPatternRules(config, patterns),
    ...createCacheRules(config),
    ...createNumberRules(input),
  ];
  const { excludeSeasonPacks } = config;
  if (excludeSeasonPacks === true)
    rules.push(({ file }) => (file.seasonPack ? { rule: 'Excluded Season Pack', value: file.title ?? '' } : undefined));
  rules.push(...createMatchRules(config, input.titleRequest));
  return (stream, index) => {
    if (stream.addon.resultPassthrough) return undefined;
    if (releaseRemoval !== undefined && appliesToAddon(config.digitalReleaseFilter, stream.addon))
      return releaseRemoval;
    if (input.included?.has(stream.id) === true) return undefined;
    if (includeTests.some((test) => test(stream, index) !== undefined)) return undefined;
    for (const rule of rules) {
      const removal = rule(stream, index);
      if (removal !== undefined) return removal;
    }
    return undefined;
  };
}

const attributeNames = Object.keys(attributes) as readonly Attribute[];

function createIncludeTests(config: AddonConfig, patterns: FilterInput['patterns']): readonly Test[] {
  const tests: Test[] = [];
  for (const name of attributeNames) {
    const list = config[`included${name}`];
    if (list?.length) tests.push(createListTest(name, list));
  }
  if (config.includedKeywords?.length) tests.push(createKeywordTest(config.includedKeywords));
  if (patterns !== undefined) tests.push((_stream, index) => patterns[index]?.included);
  const seeders = config.includeSeederRange;
  if (seeders) tests.push((stream) => (inRange(stream.seeders, seeders) ? 'seeders' : undefined));
  const age = config.includeAgeRange;
  const hasAge = createAgeTest(config);
  if (age) tests.push((stream) => (hasAge(stream) && inRange(stream.age, age) ? 'age' : undefined));
  return tests;
}

function createListTest(name: Attribute, list: readonly string[]): Test {
  const listedValues = new Set(list.map((item) => item.toLowerCase()));
  const values = attributes[name];
  return (stream) => values(stream).find((value) => listedValues.has(value.toLowerCase()));
}

function createListRules(config: AddonConfig): Rule[] {
  const rules: Rule[] = [];
  for (const name of attributeNames) {
    const excluded = config[`excluded${name}`];
    const required = config[`required${name}`];
    if (excluded?.length)
      rules.push(excludeMatches(createListTest(name, excluded), `Excluded ${attributeLabels[name]}`));
    if (required?.length) {
      const test = createListTest(name, required);
      const values = attributes[name];
      rules.push((stream, index) =>
        test(stream, index) === undefined
          ? { rule: `Required ${attributeLabels[name]}`, value: values(stream).join(', ') }
          : undefined,
      );
    }
  }
  if (config.excludedKeywords?.length)
    rules.push(excludeMatches(createKeywordTest(config.excludedKeywords), 'Excluded Keyword'));
  if (config.requiredKeywords?.length) {
    const test = createKeywordTest(config.requiredKeywords);
    const value = config.requiredKeywords.join(', ');
    rules.push((stream) => (test(stream) === undefined ? { rule: 'Required Keyword', value } : undefined));
  }
  return rules;
}

function excludeMatches(test: Test, rule: RemovalRule): Rule {
  return (stream, index) => {
    const value = test(stream, index);
    return value === undefined ? undefined : { rule, value };
  };
}

function createPatternRules(config: AddonConfig, patterns: FilterInput['patterns']): Rule[] {
  if (patterns === undefined) return [];
  const rules: Rule[] = [excludeMatches((_stream, index) => patterns[index]?.excluded, 'Excluded Expression')];
  if (config.requiredRegexPatterns?.length)
    rules.push((_stream, index) =>
      patterns[index]?.required === true ? undefined : { rule: 'Required Expression', value: 'none matches' },
    );
  return rules;
}

function createCacheRules(config: AddonConfig): Rule[] {
  const rules: Rule[] = [];
  for (const [cached, label] of [
    [true, 'Cached'],
    [false, 'Uncached'],
  ] as const) {
    const rule = `Excluded ${label}` as const;
    const all = config[`exclude${label}`];
    const addons = new Set(config[`exclude${label}FromAddons`] ?? []);
    const services = new Set(config[`exclude${label}FromServices`] ?? []);
    const types = new Set(config[`exclude${label}FromStreamTypes`] ?? []);
    const activeConditions = [addons.size > 0, services.size > 0, types.size > 0];
    if (all !== true && !activeConditions.includes(true)) continue;
    const isConjunctive = config[`exclude${label}Mode`] === 'and';
    rules.push(({ service, addon, type }) => {
      if (service?.cached !== cached) return undefined;
      const value = service.id;
      if (all === true) return { rule, value };
      const results = [includesAddon(addon, addons), services.has(service.id), types.has(type)];
      const isExcluded = isConjunctive
        ? activeConditions.every((isActive, index) => !isActive || results[index] === true)
        : results.includes(true);
      return isExcluded ? { rule, value } : undefined;
    });
  }
  return rules;
}

type Range = readonly [number, number];
type TypeRanges = NonNullable<NonNullable<AddonConfig['size']>['global']>;

function inRange(value: number | undefined, [min, max]: Range): boolean {
  return value !== undefined && value >= min && value <= max;
}

function createNumberRules({ config, titleRequest }: FilterInput): Rule[] {
  const rules: Rule[] = [];
  const getRange = (typeRanges: TypeRanges | null | undefined): Range | null | undefined =>
    (titleRequest.anime ? typeRanges?.anime : undefined) ??
    (titleRequest.type === 'movie' ? typeRanges?.movies : typeRanges?.series);
  for (const [property, label, getValue] of [
    ['size', 'Size', (stream: ParsedStream) => stream.size],
    ['bitrate', 'Bitrate', getBitrate],
  ] as const) {
    const limits = config[property];
    if (limits === null || limits === undefined) continue;
    rules.push((stream) => {
      const value = getValue(stream);
      if (value === undefined) return undefined;
      const range = getRange(limits.resolution?.[stream.file.resolution ?? 'Unknown']) ?? getRange(limits.global);
      if (!range || inRange(value, range)) return undefined;
      const rule = `${label} Limit` as const;
      return value < range[0]
        ? { rule, value: 'too small', note: 'too_small' }
        : { rule, value: 'too large', note: 'too_large' };
    });
  }
  const kinds = new Set<string>(config.seederRangeTypes ?? ['p2p', 'cached', 'uncached']);
  const hasSeeders = ({ type, service }: ParsedStream): boolean =>
    kinds.has(type === 'p2p' ? 'p2p' : service === undefined ? '' : service.cached ? 'cached' : 'uncached');
  const { excludeSeederRange, requiredSeederRange, excludeAgeRange, requiredAgeRange } = config;
  if (excludeSeederRange)
    rules.push((stream) =>
      hasSeeders(stream) && inRange(stream.seeders, excludeSeederRange)
        ? createNumberRemoval('Excluded Seeders', stream.seeders)
        : undefined,
    );
  if (requiredSeederRange)
    rules.push((stream) =>
      hasSeeders(stream) && !inRange(stream.seeders, requiredSeederRange)
        ? createNumberRemoval('Required Seeders', stream.seeders)
        : undefined,
    );
  const hasAge = createAgeTest(config);
  if (excludeAgeRange)
    rules.push((stream) =>
      hasAge(stream) && inRange(stream.age, excludeAgeRange)
        ? createNumberRemoval('Excluded Age', stream.age)
        : undefined,
    );
  if (requiredAgeRange)
    rules.push((stream) =>
      hasAge(stream) && !inRange(stream.age, requiredAgeRange)
        ? createNumberRemoval('Required Age', stream.age)
        : undefined,
    );
  return rules;
}

/** Returns a function that selects the streams that age ranges apply to. */
function createAgeTest({ ageRangeTypes }: AddonConfig): (stream: ParsedStream) => boolean {
  const kinds = new Set(ageRangeTypes ?? []);
  return ({ age, type }) => age !== undefined && (kinds.size === 0 || kinds.has(type));
}

function createNumberRemoval(rule: RemovalRule, value: number | undefined): Removal {
  return value === undefined ? { rule, value: 'Unknown', note: 'unknown' } : { rule, value: String(value) };
}
