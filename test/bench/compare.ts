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

/** Measures both alternately, so that other load on the computer affects both. */
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

/** Builds a row with the medians of the measurements. `goal` applies to the ratio of both. */
export function measureFigure<T>(
  label: string,
  unit: string,
  results: Results<T>,
  value: (result: T) => number,
  goal?: NonNullable<Figure['goal']>,
): Figure {
  return {
    what: label,
    unit,
    measured: percentile(results.ours.map(value), 0.5),
    ...(results.peer.length > 0 && { peer: percentile(results.peer.map(value), 0.5) }),
    ...(goal !== undefined && { goal }),
  };
}

/** Minimum ratio to the peer. */
export function least(value: number): Figure['goal'] & object {
  return { at: 'least', value, of: 'ratio' };
}

/** Maximum ratio to the peer. */
export function atMost(value: number): Figure['goal'] & object {
  return { at: 'most', value, of: 'ratio' };
}
