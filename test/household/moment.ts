import type { TestHost } from '../support/host.ts';

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

/** Event of the household and its age in milliseconds. */
export interface Moment {
  readonly ago: number;
  readonly run: () => Promise<unknown>;
}

/** Context of the parts of the household. */
export interface House {
  readonly host: TestHost;
  /** Folder for files of people and programs. */
  readonly folder: string;
  /** Calls the app API as the administrator; the path does not contain `/api`. */
  readonly ask: (method: string, path: string, body?: unknown) => Promise<any>;
  /** Disposes a resource at the end of the household. */
  readonly keep: <T extends AsyncDisposable | Disposable>(open: T) => T;
}

/** Repeats an event on several days at about the same hour. */
export function daily(
  days: Iterable<number>,
  hours: number,
  run: (daysAgo: number) => Promise<unknown>,
): readonly Moment[] {
  return [...days].map((daysAgo) => ({ ago: daysAgo * day + hours * hour, run: () => run(daysAgo) }));
}

/** Returns the numbers from `first` up to but not including `last`, in steps of `step`. */
export function range(first: number, last: number, step = 1): readonly number[] {
  return Array.from({ length: Math.max(0, Math.ceil((last - first) / step)) }, (_, index) => first + index * step);
}

/** Returns a pseudo-random number that is the same in every run. */
export function pseudoRandom(index: number, max: number): number {
  return Math.floor((Math.abs(Math.sin(index * 12.9898 + 4.1) * 43_758.5453) % 1) * max);
}
