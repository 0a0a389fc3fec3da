import type { AddonConfig } from '../config.ts';
import { looksAtRating, ratingProblem } from '../rating.ts';
import { bitrateOf, type ParsedStream } from '../stream.ts';
import { attributes, attributeWords, type Attribute } from './attributes.ts';
import { keywordTest } from './keywords.ts';
import { matchRules } from './match-rules.ts';
import { releaseProblem } from './release-filter.ts';
import type { Removal } from './removal.ts';
import { isAboutAddon, isOneOf } from './scope.ts';
import type { Wanted } from './title-request.ts';

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
  readonly wanted: Wanted;
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
  const title = looksAtRating(config) ? ratingProblem(input.wanted.rating, config) : undefined;
  if (title !== undefined) return () => title;
  const unreleased = releaseProblem(config, input.wanted);
  const includes = includingTests(config, patterns);
  const rules = [...listRules(config), ...patternRules(config, patterns), ...cacheRules(config), ...numberRules(input)];
  const { excludeSeasonPacks } = config;
  if (excludeSeasonPacks === true)
    rules.push(({ file }) => (file.seasonPack ? { rule: 'Excluded Season Pack', value: file.title ?? '' } : undefined));
  rules.push(...matchRules(config, input.wanted));
  return (stream, index) => {
    if (stream.addon.resultPassthrough) return undefined;
    if (unreleased !== undefined && isAboutAddon(config.digitalReleaseFilter, stream.addon)) return unreleased;
    if (input.included?.has(stream.id) === true) return undefined;
    if (includes.some((test) => test(stream, index) !== undefined)) return undefined;
    for (const rule of rules) {
      const removal = rule(stream, index);
      if (removal !== undefined) return removal;
    }
    return undefined;
  };
}

const names = Object.keys(attributes) as readonly Attribute[];

function includingTests(config: AddonConfig, patterns: FilterInput['patterns']): readonly Test[] {
  const tests: Test[] = [];
  for (const name of names) {
    const list = config[`included${name}`];
    if (list?.length) tests.push(listTest(name, list));
  }
  if (config.includedKeywords?.length) tests.push(keywordTest(config.includedKeywords));
  if (patterns !== undefined) tests.push((_stream, index) => patterns[index]?.included);
  const seeders = config.includeSeederRange;
  if (seeders) tests.push((stream) => (inRange(stream.seeders, seeders) ? 'seeders' : undefined));
  const age = config.includeAgeRange;
  const hasAge = agedTest(config);
  if (age) tests.push((stream) => (hasAge(stream) && inRange(stream.age, age) ? 'age' : undefined));
  return tests;
}

function listTest(name: Attribute, list: readonly string[]): Test {
  const wanted = new Set(list.map((item) => item.toLowerCase()));
  const values = attributes[name];
  return (stream) => values(stream).find((value) => wanted.has(value.toLowerCase()));
}

function listRules(config: AddonConfig): Rule[] {
  const rules: Rule[] = [];
  for (const name of names) {
    const excluded = config[`excluded${name}`];
    const required = config[`required${name}`];
    if (excluded?.length) rules.push(unlessNone(listTest(name, excluded), `Excluded ${attributeWords[name]}`));
    if (required?.length) {
      const test = listTest(name, required);
      const values = attributes[name];
      rules.push((stream, index) =>
        test(stream, index) === undefined
          ? { rule: `Required ${attributeWords[name]}`, value: values(stream).join(', ') }
          : undefined,
      );
    }
  }
  if (config.excludedKeywords?.length) rules.push(unlessNone(keywordTest(config.excludedKeywords), 'Excluded Keyword'));
  if (config.requiredKeywords?.length) {
    const test = keywordTest(config.requiredKeywords);
    const value = config.requiredKeywords.join(', ');
    rules.push((stream) => (test(stream) === undefined ? { rule: 'Required Keyword', value } : undefined));
  }
  return rules;
}

function unlessNone(test: Test, rule: string): Rule {
  return (stream, index) => {
    const value = test(stream, index);
    return value === undefined ? undefined : { rule, value };
  };
}

function patternRules(config: AddonConfig, patterns: FilterInput['patterns']): Rule[] {
  if (patterns === undefined) return [];
  const rules: Rule[] = [unlessNone((_stream, index) => patterns[index]?.excluded, 'Excluded Expression')];
  if (config.requiredRegexPatterns?.length)
    rules.push((_stream, index) =>
      patterns[index]?.required === true ? undefined : { rule: 'Required Expression', value: 'none matches' },
    );
  return rules;
}

function cacheRules(config: AddonConfig): Rule[] {
  const rules: Rule[] = [];
  for (const [cached, word] of [
    [true, 'Cached'],
    [false, 'Uncached'],
  ] as const) {
    const rule = `Excluded ${word}`;
    const all = config[`exclude${word}`];
    const addons = new Set(config[`exclude${word}FromAddons`] ?? []);
    const services = new Set(config[`exclude${word}FromServices`] ?? []);
    const types = new Set(config[`exclude${word}FromStreamTypes`] ?? []);
    const asked = [addons.size > 0, services.size > 0, types.size > 0];
    if (all !== true && !asked.includes(true)) continue;
    const together = config[`exclude${word}Mode`] === 'and';
    rules.push(({ service, addon, type }) => {
      if (service?.cached !== cached) return undefined;
      const value = service.id;
      if (all === true) return { rule, value };
      const found = [isOneOf(addon, addons), services.has(service.id), types.has(type)];
      const applies = together ? asked.every((is, at) => !is || found[at] === true) : found.includes(true);
      return applies ? { rule, value } : undefined;
    });
  }
  return rules;
}

type Range = readonly [number, number];
type Kinds = NonNullable<NonNullable<AddonConfig['size']>['global']>;

function inRange(value: number | undefined, [least, most]: Range): boolean {
  return value !== undefined && value >= least && value <= most;
}

function numberRules({ config, wanted }: FilterInput): Rule[] {
  const rules: Rule[] = [];
  const kindOf = (kinds: Kinds | null | undefined): Range | null | undefined =>
    (wanted.anime ? kinds?.anime : undefined) ?? (wanted.type === 'movie' ? kinds?.movies : kinds?.series);
  for (const [what, word, valueOf] of [
    ['size', 'Size', (stream: ParsedStream) => stream.size],
    ['bitrate', 'Bitrate', bitrateOf],
  ] as const) {
    const limits = config[what];
    if (limits === null || limits === undefined) continue;
    rules.push((stream) => {
      const value = valueOf(stream);
      if (value === undefined) return undefined;
      const range = kindOf(limits.resolution?.[stream.file.resolution ?? 'Unknown']) ?? kindOf(limits.global);
      if (!range || inRange(value, range)) return undefined;
      return { rule: `${word} Limit`, value: value < range[0] ? 'too small' : 'too large' };
    });
  }
  const kinds = new Set<string>(config.seederRangeTypes ?? ['p2p', 'cached', 'uncached']);
  const hasSeeders = ({ type, service }: ParsedStream): boolean =>
    kinds.has(type === 'p2p' ? 'p2p' : service === undefined ? '' : service.cached ? 'cached' : 'uncached');
  const { excludeSeederRange, requiredSeederRange, excludeAgeRange, requiredAgeRange } = config;
  if (excludeSeederRange)
    rules.push((stream) =>
      hasSeeders(stream) && inRange(stream.seeders, excludeSeederRange)
        ? counted('Excluded Seeders', stream.seeders)
        : undefined,
    );
  if (requiredSeederRange)
    rules.push((stream) =>
      hasSeeders(stream) && !inRange(stream.seeders, requiredSeederRange)
        ? counted('Required Seeders', stream.seeders)
        : undefined,
    );
  const hasAge = agedTest(config);
  if (excludeAgeRange)
    rules.push((stream) =>
      hasAge(stream) && inRange(stream.age, excludeAgeRange) ? counted('Excluded Age', stream.age) : undefined,
    );
  if (requiredAgeRange)
    rules.push((stream) =>
      hasAge(stream) && !inRange(stream.age, requiredAgeRange) ? counted('Required Age', stream.age) : undefined,
    );
  return rules;
}

/** Returns a function that selects the streams that age ranges apply to. */
function agedTest({ ageRangeTypes }: AddonConfig): (stream: ParsedStream) => boolean {
  const kinds = new Set(ageRangeTypes ?? []);
  return ({ age, type }) => age !== undefined && (kinds.size === 0 || kinds.has(type));
}

function counted(rule: string, value: number | undefined): Removal {
  return { rule, value: value === undefined ? 'Unknown' : String(value) };
}
