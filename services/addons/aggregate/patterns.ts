import * as m from '#messages/addons-problems';
import type { AddonConfig } from '../domain/config.ts';
import { getSearchText } from '../domain/stream-attributes.ts';
import type { PatternMatch } from '../domain/pipeline/filter.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

const maxSearchedLength = 600;
const maxNamedPatterns = 5;

interface Pattern {
  readonly name: string;
  readonly source: string;
  readonly score: number;
}
type Verb = 'included' | 'excluded' | 'required' | 'preferred' | 'ranked';
const verbs: readonly Verb[] = ['included', 'excluded', 'required', 'preferred', 'ranked'];

type ConfigurationAccess = { readonly uuid: string | undefined; readonly trusted: boolean };

export interface PatternResult {
  readonly matches: readonly PatternMatch[] | undefined;
  /** Explains which patterns have no effect. */
  readonly sentence: string | undefined;
}

/** Matches the regular expressions that users configure, in the sandbox. */
export class PatternMatcher {
  readonly #sandbox: Sandbox;
  readonly #access: () => string;

  /**
   * Creates the matcher.
   *
   * @param access Reads the setting that decides which configurations may use regular expressions.
   */
  constructor(sandbox: Sandbox, access: () => string) {
    this.#sandbox = sandbox;
    this.#access = access;
  }

  async match(
    config: AddonConfig,
    streams: readonly ParsedStream[],
    user: ConfigurationAccess,
  ): Promise<PatternResult> {
    const lists = verbs.map((verb) => ({ verb, patterns: getPatterns(config, verb) }));
    const all = lists.flatMap(({ patterns }) => patterns);
    if (all.length === 0 || streams.length === 0) return { matches: undefined, sentence: undefined };
    if (!(await this.#isAllowed(user)))
      return {
        matches: undefined,
        sentence: m.patternsNotAllowed(),
      };
    const texts = streams.map((stream) => getSearchText(stream).slice(0, maxSearchedLength));
    const result = await this.#sandbox.run({ kind: 'patterns', sources: all.map(({ source }) => source), texts });
    if (result === undefined)
      return {
        matches: undefined,
        sentence: m.patternsTooSlow(),
      };
    const invalidNames = result.invalid.map(({ index }) => (all[index]?.name ?? '').slice(0, 60));
    return {
      matches: result.matches.map((matchedIndexes) => toPatternMatch(matchedIndexes, lists)),
      sentence: invalidNames.length === 0 ? undefined : formatInvalidPatterns(invalidNames),
    };
  }

  /** Evaluates the setting: `all`, `none`, `trusted`, or a regular expression for IDs of configurations. */
  async #isAllowed({ uuid, trusted }: ConfigurationAccess): Promise<boolean> {
    const access = this.#access();
    if (access === 'all') return true;
    if (access === 'none') return false;
    if (access === 'trusted') return trusted;
    if (uuid === undefined) return false;
    const result = await this.#sandbox.run({ kind: 'patterns', sources: [`/(?:${access})/`], texts: [uuid] });
    return result?.matches[0]?.includes(0) === true;
  }
}

function formatInvalidPatterns(names: readonly string[]): string {
  const [firstName = ''] = names;
  if (names.length === 1) return m.patternInvalid({ name: firstName });
  const listedNames = names.slice(0, maxNamedPatterns).join(', ');
  return m.patternsInvalid({ count: names.length, names: listedNames });
}

function getPatterns(config: AddonConfig, verb: Verb): readonly Pattern[] {
  return (config[`${verb}RegexPatterns`] ?? []).map((pattern) =>
    typeof pattern === 'string'
      ? { name: pattern, source: pattern, score: 0 }
      : { name: pattern.name ?? pattern.pattern, source: pattern.pattern, score: pattern.score ?? 0 },
  );
}

function toPatternMatch(
  matchedIndexes: readonly number[],
  lists: readonly { readonly verb: Verb; readonly patterns: readonly Pattern[] }[],
): PatternMatch {
  let offset = 0;
  let score: number | undefined;
  let ranked: readonly string[] | undefined;
  const firstMatches: Partial<Record<Verb, { index: number; name: string }>> = {};
  for (const { verb, patterns } of lists) {
    const [from, to] = [offset, offset + patterns.length];
    const matchedIndex = matchedIndexes.find((index) => index >= from && index < to);
    if (verb === 'ranked' && matchedIndex !== undefined) {
      const matching = patterns.filter((_pattern, index) => matchedIndexes.includes(from + index));
      score = matching.reduce((sum, pattern) => sum + pattern.score, 0);
      ranked = matching.map(({ name }) => name);
    }
    if (matchedIndex !== undefined)
      firstMatches[verb] = { index: matchedIndex - from, name: patterns[matchedIndex - from]?.name ?? '' };
    offset = to;
  }
  return {
    included: firstMatches.included?.name,
    excluded: firstMatches.excluded?.name,
    required: firstMatches.required !== undefined,
    preferred: firstMatches.preferred,
    score,
    ranked,
  };
}
