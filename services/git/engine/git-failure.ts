/** Failures that git reports only as text. */
export type GitFailure = 'disk_full' | 'out_of_memory' | 'unrelated_histories';

/** Messages of git, and of the operating system, by failure. The first match applies. */
const patterns: readonly (readonly [GitFailure, RegExp])[] = [
  ['disk_full', /No space left on device|Disk quota exceeded|Out of diskspace/i],
  ['out_of_memory', /attempting to allocate|out of memory/i],
  ['unrelated_histories', /unrelated histories/i],
];

/** Returns the failure that the error output of git reports; undefined for any other. */
export function findGitFailure(stderr: string): GitFailure | undefined {
  return patterns.find(([, pattern]) => pattern.test(stderr))?.[0];
}
