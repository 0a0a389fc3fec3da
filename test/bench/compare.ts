import { percentile } from './measure.ts';
import type { Figure } from './run.ts';

/** Measurements of Homeport and of the compared program. */
export interface Both<T> {
  readonly ours: T;
  /** Undefined if the program is not installed on this computer. */
  readonly peer: T | undefined;
}

export interface Results<T> {
  readonly ours: readonly [T, ...T[]];
  readonly peer: readonly T[];
}

/** Measures both in turn, so that what else the machine does touches both. */
export async function inTurn<S, T>(
  servers: Both<S>,
  rounds: number,
  measure: (server: S, name: keyof Both<S>) => Promise<T>,
): Promise<Results<T>> {
  const ours: T[] = [];
  const peer: T[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await measure(servers.ours, 'ours'));
    if (servers.peer !== undefined) peer.push(await measure(servers.peer, 'peer'));
  }
  return { ours: ours as [T, ...T[]], peer };
}

/** Medians of what was measured. `goal` is for the ratio of both. */
export function figure<T>(
  what: string,
  unit: string,
  results: Results<T>,
  value: (result: T) => number,
  goal?: NonNullable<Figure['goal']>,
): Figure {
  return {
    what,
    unit,
    measured: percentile(results.ours.map(value), 0.5),
    ...(results.peer.length > 0 && { peer: percentile(results.peer.map(value), 0.5) }),
    ...(goal !== undefined && { goal }),
  };
}

/** At least so many times what the peer has. */
export function least(value: number): Figure['goal'] & object {
  return { at: 'least', value, of: 'ratio' };
}

/** At most so many times what the peer has. */
export function atMost(value: number): Figure['goal'] & object {
  return { at: 'most', value, of: 'ratio' };
}
