const archived = /has already been recorded in the archive$/;
const reasons = [
  archived,
  / does not pass filter .*, skipping/,
  /title .* (did not match pattern|matched reject pattern)/,
  /^File is (smaller than min|larger than max)-filesize/,
];

/** Why there was nothing to download, by a line in which the extractor says so; undefined for every other line. */
export function skipReason(line: string): string | undefined {
  const said = /^\r?\[download\] (.*)$/.exec(line)?.[1]?.trim();
  return said !== undefined && reasons.some((each) => each.test(said)) ? said.slice(0, 1000) : undefined;
}

/** Whether the reason is that it was downloaded before. */
export function isArchived(reason: string): boolean {
  return archived.test(reason);
}
