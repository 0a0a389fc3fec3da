import type { FailureCode } from '../../contracts/downloads/causes.ts';

// yt-dlp and ffmpeg report failures only as text. This is the only file that reads it; other code uses the codes that it
// returns, which are stored with the failure.

/** Patterns of error messages by failure code; the first match applies. */
const codePatterns: readonly (readonly [FailureCode, RegExp])[] = [
  ['disk_full', /no space left/i],
  // yt-dlp reports the refusal of worker.py within its own message.
  ['internal_address', /internal address/i],
  ['ffmpeg_missing', /ffmpeg[^.]*(not found|missing|not installed)|ffprobe[^.]*not found/i],
  ['drm_protected', /\bDRM\b|protected/i],
  ['geo_restricted', /not (made this video )?available (in|from) your (country|location)|geo.?restrict/i],
  ['sign_in_required', /private|sign in|log ?in|cookies|members?[- ]only|\bage\b|HTTP Error 401|account/i],
  ['no_video', /unsupported url|no video|no formats|requested format/i],
  ['not_found', /HTTP Error (404|410)/i],
  ['unavailable', /removed|unavailable|deleted/i],
  ['refused_by_site', /HTTP Error (403|429)|too many requests/i],
  ['site_error', /HTTP Error 5\d\d/i],
  ['unreachable', /timed out|timeout|connection|resolve|unreachable|not known/i],
];

/** Names in messages: the id of the video, addresses and quoted words. A site or user may choose any word for them. */
const namePattern = /^ERROR: \[[^\]]*\] [^\s:]+: |https?:\/\/\S+|'[^'\s]*'|"[^"\s]*"/g;

/** Returns the code of an error message of the extractor; undefined for an unknown cause. */
export function findFailureCode(message: string): FailureCode | undefined {
  const text = message.replaceAll(namePattern, '');
  return codePatterns.find(([, pattern]) => pattern.test(text))?.[0];
}

/** Returns whether the site has no page at the address, which is the cause of a failed check whatever else is reported. */
export function isPageMissing(message: string): boolean {
  return /HTTP Error (404|410)/.test(message);
}

/** Kinds of failures, few enough for a dashboard. */
export const failureKinds = ['refused', 'site', 'network', 'disk', 'format', 'engine', 'other'] as const;
export type FailureKind = (typeof failureKinds)[number];

/** Patterns of messages by kind; the first match applies. The messages of the extractor may change. */
const kindPatterns: readonly (readonly [FailureKind, RegExp])[] = [
  ['disk', /No space left/i],
  ['refused', /internal address/i],
  ['format', /format is not available|No video formats|ffmpeg|Postprocessing/i],
  ['network', /timed out|Connection|Temporary failure|Name or service|getaddrinfo|IncompleteRead|bytes read|retries/i],
  ['site', /HTTP Error|Unsupported URL|unavailable|Private video|Sign in|login|not exist|geo|DRM/i],
  ['engine', /yt-dlp|extractor/i],
];

/** Returns the kind of an error message of the extractor, for the metrics. */
export function findFailureKind(message: string): FailureKind {
  return kindPatterns.find(([, pattern]) => pattern.test(message))?.[0] ?? 'other';
}

/** Failures of a run after which it is continued in another way. */
export type RunFailure = 'upcoming' | 'name_too_long' | 'media_expired' | 'conversion';

const runPatterns: readonly (readonly [RunFailure, RegExp])[] = [
  ['name_too_long', /file ?name too long|File name or extension is too long|Errno 36\b|Errno 63\b|WinError 206/i],
  ['conversion', /^ERROR: Postprocessing:/],
  ['media_expired', /HTTP Error 4(01|03|10)/],
  [
    'upcoming',
    /will begin in|Premieres? (will|in)|has not (yet )?(begun|started)|not yet (begun|started)|is upcoming/i,
  ],
];

/** Returns the failure of a run that a message reports; undefined for any other. The first match applies. */
export function findRunFailure(message: string): RunFailure | undefined {
  return runPatterns.find(([, pattern]) => pattern.test(message))?.[0];
}

/** Failures of a run that are explained to the user in place of the message. */
export type ExplainedFailure = 'disk_full' | 'work_folder' | 'address_refused';

const explainedPatterns: readonly (readonly [ExplainedFailure, RegExp])[] = [
  ['disk_full', /Errno 28|No space left on device/],
  ['work_folder', /\[Errno (2|13|17|20|30)\]/],
  ['address_refused', /CONNECT tunnel failed, response 403/],
];

/** Returns the failure that a line of the extractor reports; undefined for any other. */
export function findExplainedFailure(line: string): ExplainedFailure | undefined {
  return explainedPatterns.find(([, pattern]) => pattern.test(line))?.[0];
}

/** Returns true for an error line without a reason; the line before it has the reason. */
export function isConsequence(line: string): boolean {
  return /^ERROR: fragment \d+ not found, unable to continue$/.test(line);
}

/** Longer lines are cut: titles that a site chooses must not make the search slow. */
const maxLineLength = 10_000;
const archivedPattern = /has already been recorded in the archive$/;
const reasonPatterns = [
  archivedPattern,
  / does not pass filter .*, skipping/,
  / title (did not match pattern|matched reject pattern) /,
  /^File is (smaller than min|larger than max)-filesize/,
];

/** Returns the reason why a download was skipped if the line states one; undefined for any other line. */
export function findSkipReason(line: string): string | undefined {
  const message = /^\r?\[download\] (.*)$/.exec(line.slice(0, maxLineLength))?.[1]?.trim();
  return message !== undefined && reasonPatterns.some((each) => each.test(message))
    ? message.slice(0, 1000)
    : undefined;
}

/** Returns whether the reason is an earlier download. */
export function isArchived(reason: string): boolean {
  return archivedPattern.test(reason);
}
