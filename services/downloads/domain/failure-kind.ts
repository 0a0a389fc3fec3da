/** Kinds of failures, few enough for a dashboard. */
export const failureKinds = ['refused', 'site', 'network', 'disk', 'format', 'engine', 'other'] as const;
export type FailureKind = (typeof failureKinds)[number];

/** Patterns of messages by kind; the first match applies. The messages of the extractor may change. */
const patterns: readonly (readonly [FailureKind, RegExp])[] = [
  ['disk', /disk (of the [a-z ]+ )?is full|cannot be written|No space left/i],
  ['refused', /^Refusing|internal address|would lie outside/i],
  ['format', /format is not available|No video formats|ffmpeg|Postprocessing/i],
  ['network', /timed out|Connection|Temporary failure|Name or service|getaddrinfo|IncompleteRead|bytes read|retries/i],
  ['site', /HTTP Error|Unsupported URL|unavailable|Private video|Sign in|login|not exist|geo|DRM|within five minutes/i],
  ['engine', /yt-dlp|extractor/i],
];

/** Returns the kind of a failure for the metrics. */
export function findFailureKind(message: string): FailureKind {
  return patterns.find(([, pattern]) => pattern.test(message))?.[0] ?? 'other';
}
