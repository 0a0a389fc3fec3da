import type { FailureCode } from '../../contracts/downloads/causes.ts';

/**
 * Patterns of messages by failure code. yt-dlp and ffmpeg report failures only as text, and downloads store only the
 * message, so messages are classified here; other code uses the codes. The first match applies.
 */
const patterns: readonly (readonly [FailureCode, RegExp])[] = [
  ['disk_full', /disk (of the download folder )?is full|no space left/i],
  ['internal_address', /internal address|private address/i],
  ['folder_not_writable', /folder[^.]* cannot be written/i],
  ['ffmpeg_missing', /ffmpeg[^.]*(not found|missing|not installed)|ffprobe[^.]*not found/i],
  ['yt_dlp_missing', /yt-dlp[^.]*(missing|too old)/i],
  ['drm_protected', /\bDRM\b|protected/i],
  ['geo_restricted', /not (made this video )?available (in|from) your (country|location)|geo.?restrict/i],
  ['sign_in_required', /private|sign in|log ?in|cookies|members?[- ]only|\bage\b|HTTP Error 401|account/i],
  ['no_video', /unsupported url|no video|no formats|requested format/i],
  ['not_found', /HTTP Error (404|410)/i],
  ['unavailable', /removed|unavailable|deleted/i],
  ['refused_by_site', /HTTP Error (403|429)|too many requests/i],
  ['site_error', /HTTP Error 5\d\d/i],
  ['unreachable', /timed out|timeout|connection|resolve|unreachable|not known|did not say within/i],
];

/** Names in messages: the id of the video, addresses and quoted words. A site or user may choose any word for them. */
const namePattern = /^ERROR: \[[^\]]*\] [^\s:]+: |https?:\/\/\S+|'[^'\s]*'|"[^"\s]*"/g;

/** Returns the code of a failed download; undefined for an unknown cause. */
export function findFailureCode(message: string | null): FailureCode | undefined {
  const text = message?.replaceAll(namePattern, '');
  return text === undefined ? undefined : patterns.find(([, pattern]) => pattern.test(text))?.[0];
}

/** Returns the code of a failed check of a subscription, for which a missing page has precedence. */
export function findCheckFailureCode(message: string | null): FailureCode | undefined {
  return message !== null && /HTTP Error (404|410)/.test(message) ? 'not_found' : findFailureCode(message);
}

/** Returns the code of a refused link. Messages of the service itself have none, except for internal addresses. */
export function findRefusalCode(message: string): FailureCode | undefined {
  return /^ERROR:|internal address|private address/i.test(message) ? findFailureCode(message) : undefined;
}
