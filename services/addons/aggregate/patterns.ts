import type { AddonConfig } from '../domain/config.ts';
import { searchedText } from '../domain/pipeline/attributes.ts';
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

type User = { readonly uuid: string | undefined; readonly trusted: boolean };

export interface PatternResult {
  readonly matches: readonly PatternMatch[] | undefined;
  /** Explains which patterns have no effect. */
  readonly sentence: string | undefined;
}

/** Matches the regular expressions that users configure, in the sandbox. */
export class Patterns {
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

  async match(config: AddonConfig, streams: readonly ParsedStream[], user: User): Promise<PatternResult> {
    const lists = verbs.map((verb) => ({ verb, patterns: patternsOf(config, verb) }));
    const all = lists.flatMap(({ patterns }) => patterns);
    if (all.length === 0 || streams.length === 0) return { matches: undefined, sentence: undefined };
    if (!isAllowed(this.#access(), user))
      return {
        matches: undefined,
        sentence: 'Regular expressions are not allowed for this configuration, so they have no effect.',
      };
    const texts = streams.map((stream) => searchedText(stream).slice(0, maxSearchedLength));
    const answer = await this.#sandbox.run({ kind: 'patterns', sources: all.map(({ source }) => source), texts });
    if (answer === undefined)
      return {
        matches: undefined,
        sentence:
          'The regular expressions take too long, so they have no effect: one tries too many ways to match. Make it simpler.',
      };
    const broken = answer.broken.map(({ index }) => (all[index]?.name ?? '').slice(0, 60));
    return {
      matches: answer.matches.map((found) => matchOf(found, lists)),
      sentence: broken.length === 0 ? undefined : brokenSentence(broken),
    };
  }
}

function brokenSentence(names: readonly string[]): string {
  const [first = ''] = names;
  if (names.length === 1) return `The regular expression ${first} cannot be read and has no effect.`;
  const shown = names.slice(0, maxNamedPatterns).join(', ');
  return `${String(names.length)} regular expressions cannot be read and have no effect: ${shown}.`;
}

function patternsOf(config: AddonConfig, verb: Verb): readonly Pattern[] {
  return (config[`${verb}RegexPatterns`] ?? []).map((pattern) =>
    typeof pattern === 'string'
      ? { name: pattern, source: pattern, score: 0 }
      : { name: pattern.name ?? pattern.pattern, source: pattern.pattern, score: pattern.score ?? 0 },
  );
}

function matchOf(
  found: readonly number[],
  lists: readonly { readonly verb: Verb; readonly patterns: readonly Pattern[] }[],
): PatternMatch {
  let offset = 0;
  let score: number | undefined;
  let ranked: readonly string[] | undefined;
  const first: Partial<Record<Verb, { index: number; name: string }>> = {};
  for (const { verb, patterns } of lists) {
    const [from, to] = [offset, offset + patterns.length];
    const number = found.find((one) => one >= from && one < to);
    if (verb === 'ranked' && number !== undefined) {
      const matching = patterns.filter((_pattern, index) => found.includes(from + index));
      score = matching.reduce((sum, one) => sum + one.score, 0);
      ranked = matching.map(({ name }) => name);
    }
    if (number !== undefined) first[verb] = { index: number - from, name: patterns[number - from]?.name ?? '' };
    offset = to;
  }
  return {
    included: first.included?.name,
    excluded: first.excluded?.name,
    required: first.required !== undefined,
    preferred: first.preferred,
    score,
    ranked,
  };
}

/** Evaluates the setting: `all`, `none`, `trusted`, or a regular expression for IDs of configurations. */
function isAllowed(access: string, { uuid, trusted }: User): boolean {
  if (access === 'all') return true;
  if (access === 'none') return false;
  if (access === 'trusted') return trusted;
  try {
    return uuid !== undefined && new RegExp(access).test(uuid);
  } catch {
    return false;
  }
}
