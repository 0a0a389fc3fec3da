import * as m from '#messages/addons-problems';
import type { AddonConfig } from '../domain/config.ts';
import { getExpressionRules } from '../domain/expression/rules.ts';
import type { FilterInput } from '../domain/pipeline/filter.ts';
import { runPipeline, type PipelineResult } from '../domain/pipeline/pipeline.ts';
import type { ParsedStream } from '../domain/stream.ts';
import { toSandboxStreams, type Sandbox } from '../sandbox/sandbox.ts';

/** Returns true when a configuration has valid stream expressions. */
export function hasExpressions(config: AddonConfig): boolean {
  const { included, excluded, required, preferred, ranked } = getExpressionRules(config);
  return [included, excluded, required, preferred, ranked].some((rules) => rules.length > 0);
}

/**
 * Filters and sorts streams. Expressions run in the sandbox. When they exceed its limits, streams are listed without
 * them and the result contains a problem.
 */
export async function filterStreams(
  sandbox: Sandbox,
  streams: readonly ParsedStream[],
  input: Pick<FilterInput, 'config' | 'titleRequest' | 'patterns'>,
): Promise<PipelineResult> {
  const { config } = input;
  if (streams.length === 0 || !hasExpressions(config)) return runPipeline(streams, input);
  const sandboxResult = await sandbox.run({
    kind: 'pipeline',
    config: removeCredentials(config),
    streams: toSandboxStreams(streams),
    titleRequest: input.titleRequest,
    patterns: input.patterns,
  });
  if (sandboxResult === undefined) {
    const fallbackResult = runPipeline(streams, { ...input, config: removeExpressions(config) });
    return { ...fallbackResult, problems: [...fallbackResult.problems, m.expressionsTooSlow()] };
  }
  return {
    visible: sandboxResult.visible.flatMap(({ index, attributes }) => {
      const stream = streams[index];
      return stream === undefined ? [] : [{ ...stream, ...attributes }];
    }),
    hidden: sandboxResult.hidden.flatMap(({ index, removal }) => {
      const stream = streams[index];
      return stream === undefined ? [] : [{ stream, removal }];
    }),
    problems: sandboxResult.problems,
  };
}

/** Removes the parts of a configuration that filters do not use, including all credentials. */
function removeCredentials(config: AddonConfig): AddonConfig {
  const { proxy: _proxy, parentConfig: _parent, variants: _variants, formatter: _formatter, ...rest } = config;
  return {
    ...rest,
    presets: [],
    services: (config.services ?? []).map(({ id, enabled }) => ({ id, enabled, credentials: {} })),
    formatter: { id: 'torrentio' },
  };
}

function removeExpressions(config: AddonConfig): AddonConfig {
  return {
    ...config,
    includedStreamExpressions: null,
    excludedStreamExpressions: null,
    requiredStreamExpressions: null,
    preferredStreamExpressions: null,
    rankedStreamExpressions: null,
  };
}

/** Returns whether a configuration has expressions or patterns, which run in the sandbox. */
export function needsSandbox(config: AddonConfig): boolean {
  const { groups, dynamicAddonFetching, precacheNextEpisode } = config;
  const lists = ['included', 'excluded', 'required', 'preferred', 'ranked'] as const;
  return (
    lists.some((verb) => (config[`${verb}RegexPatterns`]?.length ?? 0) > 0) ||
    hasExpressions(config) ||
    groups?.groupings?.some(({ condition }) => Boolean(condition)) === true ||
    Boolean(dynamicAddonFetching?.condition) ||
    precacheNextEpisode === true
  );
}
