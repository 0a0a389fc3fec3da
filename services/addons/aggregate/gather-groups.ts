import type { Context } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import { queryType } from '../domain/expression/variables.ts';
import type { Wanted } from '../domain/pipeline/title-request.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { Addon } from './addon.ts';
import type { Conditions } from './conditions.ts';
import type { AddonError, Gathered, Reached } from './gather-streams.ts';

export interface GroupsOptions {
  readonly context: Context;
  readonly config: AddonConfig;
  readonly wanted: Wanted;
  readonly conditions: Conditions;
  readonly deadlineMs: number;
  /** Requests the given addons within a deadline. */
  readonly gather: (addons: Reached['addons'], deadlineMs: number) => Promise<Gathered>;
  /** Prepares streams for conditions: adds the availability at services and removes filtered streams. */
  readonly ready: (streams: readonly ParsedStream[]) => Promise<readonly ParsedStream[]>;
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
export async function gatherGroups({ addons, errors }: Reached, options: GroupsOptions): Promise<Gathered> {
  const { context, config, wanted, conditions, deadlineMs, gather, ready } = options;
  const { clock } = context;
  const groupings = config.groups?.groupings ?? [];
  const began = clock.now();
  const sequential = config.groups?.behaviour === 'sequential';
  const members = groupings.map((group, at) => addons.filter(({ addon }) => placeOf(addon, groupings) === at));
  const asked = sequential ? [] : members.map((list) => gather(list, deadlineMs));
  const parts: Gathered[] = [];
  const told: AddonError[] = [...errors];
  const total: ParsedStream[] = [];
  let previous: readonly ParsedStream[] = [];
  let previousMs = 0;
  for (const [at, group] of groupings.entries()) {
    const list = members[at] ?? [];
    if (list.length === 0) continue;
    const elapsed = clock.now() - began;
    if (parts.length > 0) {
      const { holds, sentence } = await conditions.evaluate(
        group.condition,
        { queryType: queryType(wanted), previousGroupTimeTaken: previousMs, totalTimeTaken: elapsed },
        { previousStreams: previous, totalStreams: total },
      );
      if (sentence !== undefined)
        told.push({ addon: 'Groups', sentence: `The condition of group ${String(at + 1)} has no effect. ${sentence}` });
      // Parallel requests started at the beginning, so their responses are used even after the deadline.
      if (!holds || (sequential && elapsed >= deadlineMs)) break;
    }
    const from = sequential ? elapsed : 0;
    const gathered = await (asked[at] ?? gather(list, deadlineMs - elapsed));
    previousMs = clock.now() - began - from;
    previous = await ready(gathered.streams);
    total.push(...previous);
    parts.push(gathered);
  }
  return {
    streams: parts.flatMap(({ streams }) => streams),
    errors: [...told, ...parts.flatMap((part) => part.errors)],
    reports: parts.flatMap(({ reports }) => reports),
    answers: parts.flatMap(({ answers }) => answers),
  };
}

function placeOf({ presetId, instanceId }: Addon, groupings: readonly Group[]): number {
  const at = groupings.findIndex(({ addons }) => addons?.some((id) => id === presetId || id === instanceId) === true);
  return Math.max(0, at);
}
