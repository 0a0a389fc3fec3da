const archivedPattern = /has already been recorded in the archive$/;
const reasonPatterns = [
  archivedPattern,
  / does not pass filter .*, skipping/,
  /title .* (did not match pattern|matched reject pattern)/,
  /^File is (smaller than min|larger than max)-filesize/,
];

/** Returns the reason why a download was skipped if the line states one; undefined for any other line. */
export function findSkipReason(line: string): string | undefined {
  const message = /^\r?\[download\] (.*)$/.exec(line)?.[1]?.trim();
  return message !== undefined && reasonPatterns.some((each) => each.test(message))
    ? message.slice(0, 1000)
    : undefined;
}

/** Tells whether the reason is an earlier download. */
export function isArchived(reason: string): boolean {
  return archivedPattern.test(reason);
}
