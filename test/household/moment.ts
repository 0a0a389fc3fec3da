import type { TestHost } from '../support/host.ts';

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

/** Event of the household and its age in milliseconds. */
export interface Moment {
  readonly ago: number;
  readonly happens: () => Promise<unknown>;
}

/** Context of the parts of the household. */
export interface House {
  readonly host: TestHost;
  /** Its own folder, for files of people and programs. */
  readonly folder: string;
  /** Our own API, as the administrator; the path without `/api`. */
  readonly ask: (method: string, path: string, body?: unknown) => Promise<any>;
  /** Ends with the household. */
  readonly keep: <T extends AsyncDisposable | Disposable>(open: T) => T;
}

/** The same thing on several days, at this hour of the day or so. */
export function daily(
  days: Iterable<number>,
  hours: number,
  happens: (daysAgo: number) => Promise<unknown>,
): readonly Moment[] {
  return [...days].map((back) => ({ ago: back * day + hours * hour, happens: () => happens(back) }));
}

/** From the first to before the last, each `step`. */
export function range(first: number, last: number, step = 1): readonly number[] {
  return Array.from({ length: Math.max(0, Math.ceil((last - first) / step)) }, (_, at) => first + at * step);
}

/** Numbers that look as if by chance and are the same in every run. */
export function scattered(at: number, most: number): number {
  return Math.floor((Math.abs(Math.sin(at * 12.9898 + 4.1) * 43_758.5453) % 1) * most);
}
