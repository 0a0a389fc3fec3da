import { Worker } from 'node:worker_threads';
import type { Clock } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import { searchedText } from '../domain/pipeline/attributes.ts';
import type { PatternMatch } from '../domain/pipeline/filter.ts';
import type { ParsedStream } from '../domain/stream.ts';

/** For all names of an answer together; an expression that backtracks for ever is given up after it. */
const patienceMs = 1000;
/** The packed app has no types in it, and other file names. */
const workerFile = new URL(`./pattern-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);
const idleMs = 30_000;

interface Pattern {
  readonly name: string;
  readonly source: string;
  readonly score: number;
}
type Verb = 'included' | 'excluded' | 'required' | 'preferred' | 'ranked';
const verbs: readonly Verb[] = ['included', 'excluded', 'required', 'preferred', 'ranked'];

/** What the thread answers: for each text the numbers of the expressions that match it, or which one is none. */
export type PatternAnswer = { readonly matches: readonly (readonly number[])[] } | { readonly broken: number };

export interface PatternResult {
  readonly matches: readonly PatternMatch[] | undefined;
  /** Why they have no effect. */
  readonly sentence: string | undefined;
}

/**
 * Runs the expressions people configure, in a thread of its own that is ended when it takes too long. Without expressions
 * there is no thread; with them it stays for a while, since the next episode follows.
 */
export class Patterns implements Disposable {
  readonly #clock: Clock;
  readonly #mayUse: (asker: { readonly uuid: string | undefined; readonly trusted: boolean }) => boolean;
  #worker: Worker | undefined;
  #idle: Disposable | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock, access: string) {
    this.#clock = clock;
    this.#mayUse = accessOf(access);
  }

  async match(
    config: AddonConfig,
    streams: readonly ParsedStream[],
    asker: { readonly uuid: string | undefined; readonly trusted: boolean },
  ): Promise<PatternResult> {
    const lists = verbs.map((verb) => ({ verb, patterns: patternsOf(config, verb) }));
    const all = lists.flatMap(({ patterns }) => patterns);
    if (all.length === 0 || streams.length === 0) return { matches: undefined, sentence: undefined };
    if (!this.#mayUse(asker))
      return {
        matches: undefined,
        sentence: 'Regular expressions are not allowed for this configuration, so they have no effect.',
      };
    const texts = streams.map((stream) => searchedText(stream).slice(0, 600));
    const answer = await this.#ask(
      all.map(({ source }) => source),
      texts,
    );
    if (answer === undefined)
      return {
        matches: undefined,
        sentence:
          'The regular expressions take too long, so they have no effect: one tries too many ways to match. Make it simpler.',
      };
    if ('broken' in answer)
      return {
        matches: undefined,
        sentence: `The regular expression ${all[answer.broken]?.name ?? ''} cannot be read, so none has an effect.`,
      };
    return { matches: answer.matches.map((found) => matchOf(found, lists)), sentence: undefined };
  }

  [Symbol.dispose](): void {
    this.#idle?.[Symbol.dispose]();
    void this.#worker?.terminate();
    this.#worker = undefined;
  }

  /** One question after another: a slow one must not cost others their time. */
  #ask(sources: readonly string[], texts: readonly string[]): Promise<PatternAnswer | undefined> {
    const answer = this.#turn.then(() => this.#run({ sources, texts }));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  async #run(question: {
    readonly sources: readonly string[];
    readonly texts: readonly string[];
  }): Promise<PatternAnswer | undefined> {
    this.#idle?.[Symbol.dispose]();
    const worker = (this.#worker ??= this.#begin());
    const { promise, resolve } = Promise.withResolvers<PatternAnswer | undefined>();
    const take = (answer: PatternAnswer): void => resolve(answer);
    const fail = (): void => resolve(undefined);
    worker.once('message', take);
    worker.once('error', fail);
    worker.once('exit', fail);
    using _limit = this.#clock.after(patienceMs, fail);
    worker.postMessage(question);
    const answer = await promise;
    worker.off('message', take);
    worker.off('error', fail);
    worker.off('exit', fail);
    if (answer === undefined) {
      this.#worker = undefined;
      await worker.terminate();
    } else
      this.#idle = this.#clock.after(idleMs, () => {
        this.#worker = undefined;
        void worker.terminate();
      });
    return answer;
  }

  #begin(): Worker {
    const worker = new Worker(workerFile, { resourceLimits: { maxOldGenerationSizeMb: 64 }, execArgv: [] });
    worker.unref();
    // Its end is told to whoever waits.
    worker.on('error', () => undefined);
    return worker;
  }
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
  const first: Partial<Record<Verb, { index: number; name: string }>> = {};
  for (const { verb, patterns } of lists) {
    const [from, to] = [offset, offset + patterns.length];
    const number = found.find((one) => one >= from && one < to);
    if (verb === 'ranked' && number !== undefined)
      score = patterns.reduce((sum, one, at) => (found.includes(from + at) ? sum + one.score : sum), 0);
    if (number !== undefined) first[verb] = { index: number - from, name: patterns[number - from]?.name ?? '' };
    offset = to;
  }
  return {
    included: first.included?.name,
    excluded: first.excluded?.name,
    required: first.required !== undefined,
    preferred: first.preferred,
    score,
  };
}

function accessOf(
  access: string,
): (asker: { readonly uuid: string | undefined; readonly trusted: boolean }) => boolean {
  if (access === 'all') return () => true;
  if (access === 'none') return () => false;
  if (access === 'trusted') return ({ trusted }) => trusted;
  let expression: RegExp;
  try {
    expression = new RegExp(access);
  } catch {
    return () => false;
  }
  return ({ uuid }) => uuid !== undefined && expression.test(uuid);
}
