import * as t from '#messages/addons-texts';
import * as m from '#messages/addons-problems';
import type { Context } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import { getQueryType } from '../domain/expression/variables.ts';
import type { TitleRequest } from '../domain/title-request.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { Addon } from '../upstream/addon.ts';
import type { Conditions } from './conditions.ts';
import type { AddonError, GatheredStreams, ReachableAddons } from './gather-streams.ts';

export interface GatherGroupsOptions {
  readonly context: Context;
  readonly config: AddonConfig;
  readonly titleRequest: TitleRequest;
  readonly conditions: Conditions;
  readonly deadlineMs: number;
  /** Requests the given addons within a deadline. */
  readonly gather: (addons: ReachableAddons['addons'], deadlineMs: number) => Promise<GatheredStreams>;
  /** Prepares streams for conditions: adds the availability at services and removes filtered streams. */
  readonly prepareStreams: (streams: readonly ParsedStream[]) => Promise<readonly ParsedStream[]>;
}

type Group = NonNullable<NonNullable<NonNullable<AddonConfig['groups']>['groupings']>[number]>;

/** Returns true when a configuration requests its addons by groups. */
export function hasGroups({ groups }: AddonConfig): boolean {
  return groups?.enabled !== false && (groups?.groupings?.length ?? 0) > 0;
}

/**
 * Requests groups of addons as long as the condition of the next group is true. All groups start at the same time
 * unless the configuration requests them sequentially. Addons without a group belong to the first one.
 */
export async function gatherGroups(
  { addons, errors }: ReachableAddons,
  options: GatherGroupsOptions,
): Promise<GatheredStreams> {
  const { context, config, titleRequest, conditions, deadlineMs, gather, prepareStreams } = options;
  const { clock } = context;
  const groupings = config.groups?.groupings ?? [];
  const startedAt = clock.now();
  const isSequential = config.groups?.behaviour === 'sequential';
  const members = groupings.map((group, groupIndex) =>
    addons.filter(({ addon }) => findGroupIndex(addon, groupings) === groupIndex),
  );
  const runningRequests = isSequential ? [] : members.map((list) => gather(list, deadlineMs));
  const results: GatheredStreams[] = [];
  const problems: AddonError[] = [...errors];
  const allStreams: ParsedStream[] = [];
  let previousStreams: readonly ParsedStream[] = [];
  let previousMs = 0;
  for (const [index, group] of groupings.entries()) {
    const groupAddons = members[index] ?? [];
    if (groupAddons.length === 0) continue;
    const elapsed = clock.now() - startedAt;
    if (results.length > 0) {
      const { holds, sentence } = await conditions.evaluate(
        group.condition,
        { queryType: getQueryType(titleRequest), previousGroupTimeTaken: previousMs, totalTimeTaken: elapsed },
        { previousStreams, totalStreams: allStreams },
      );
      if (sentence !== undefined)
        problems.push({
          addon: t.groups(),
          sentence: m.groupConditionIgnored({ number: index + 1, problem: sentence }),
        });
      // Parallel requests started at the beginning, so their responses are used even after the deadline.
      if (!holds || (isSequential && elapsed >= deadlineMs)) break;
    }
    const requestedAtMs = isSequential ? elapsed : 0;
    const result = await (runningRequests[index] ?? gather(groupAddons, deadlineMs - elapsed));
    previousMs = clock.now() - startedAt - requestedAtMs;
    previousStreams = await prepareStreams(result.streams);
    allStreams.push(...previousStreams);
    results.push(result);
  }
  return {
    streams: results.flatMap(({ streams }) => streams),
    errors: [...problems, ...results.flatMap((part) => part.errors)],
    reports: results.flatMap(({ reports }) => reports),
    responses: results.flatMap(({ responses }) => responses),
  };
}

function findGroupIndex({ presetId, instanceId }: Addon, groupings: readonly Group[]): number {
  const groupIndex = groupings.findIndex(
    ({ addons }) => addons?.some((id) => id === presetId || id === instanceId) === true,
  );
  return Math.max(0, groupIndex);
}
