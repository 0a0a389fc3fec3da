import type { AddonConfig } from '../domain/config.ts';
import { expressionsOf } from '../domain/expression/rules.ts';
import type { FilterInput } from '../domain/pipeline/filter.ts';
import { runPipeline, type PipelineResult } from '../domain/pipeline/pipeline.ts';
import type { ParsedStream } from '../domain/stream.ts';
import { forSandbox, type Sandbox } from '../sandbox/sandbox.ts';

const tooSlow = 'The stream expressions take too long, so they have no effect. Make them simpler or use fewer of them.';

/** Returns true when a configuration has valid stream expressions. */
export function hasExpressions(config: AddonConfig): boolean {
  const { included, excluded, required, preferred, ranked } = expressionsOf(config);
  return [included, excluded, required, preferred, ranked].some((rules) => rules.length > 0);
}

/**
 * Filters and sorts streams. Expressions run in the sandbox. When they exceed its limits, streams are listed without
 * them and the result contains a problem.
 */
export async function filterStreams(
  sandbox: Sandbox,
  streams: readonly ParsedStream[],
  input: Pick<FilterInput, 'config' | 'wanted' | 'patterns'>,
): Promise<PipelineResult> {
  const { config } = input;
  if (streams.length === 0 || !hasExpressions(config)) return runPipeline(streams, input);
  const answer = await sandbox.run({
    kind: 'pipeline',
    config: withoutAccounts(config),
    streams: forSandbox(streams),
    wanted: input.wanted,
    patterns: input.patterns,
  });
  if (answer === undefined) {
    const result = runPipeline(streams, { ...input, config: withoutExpressions(config) });
    return { ...result, problems: [...result.problems, tooSlow] };
  }
  return {
    shown: answer.shown.flatMap(({ index, marks }) => {
      const stream = streams[index];
      return stream === undefined ? [] : [{ ...stream, ...marks }];
    }),
    hidden: answer.hidden.flatMap(({ index, removal }) => {
      const stream = streams[index];
      return stream === undefined ? [] : [{ stream, removal }];
    }),
    problems: answer.problems,
  };
}

/** Removes the parts of a configuration that filters do not use, including all credentials. */
function withoutAccounts(config: AddonConfig): AddonConfig {
  const { proxy: _proxy, parentConfig: _parent, variants: _variants, formatter: _formatter, ...rest } = config;
  return {
    ...rest,
    presets: [],
    services: (config.services ?? []).map(({ id, enabled }) => ({ id, enabled, credentials: {} })),
    formatter: { id: 'torrentio' },
  };
}

function withoutExpressions(config: AddonConfig): AddonConfig {
  return {
    ...config,
    includedStreamExpressions: null,
    excludedStreamExpressions: null,
    requiredStreamExpressions: null,
    preferredStreamExpressions: null,
    rankedStreamExpressions: null,
  };
}
