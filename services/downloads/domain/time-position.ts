import { isYouTube } from './address.ts';

/** Parses `885`, `14m45s` or `1:02:03.5` into seconds; undefined for other texts. */
export function parseSeconds(text: string): number | undefined {
  const normalized = text.trim().toLowerCase();
  if (normalized.length > 30) return undefined;
  if (/^\d+(\.\d+)?s?$/.test(normalized)) return Number.parseFloat(normalized);
  const unitMatch = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?$/.exec(normalized);
  const clockMatch = /^(?:(\d+):)?(\d{1,2}):(\d{1,2}(?:\.\d+)?)$/.exec(normalized);
  const [, hours = '0', minutes = '0', seconds = '0'] = (normalized === '' ? null : unitMatch) ??
    clockMatch ?? [undefined, 'x'];
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return Number.isNaN(total) ? undefined : total;
}

/** Returns the start position in seconds of a link to a YouTube video (`t=`); undefined without one. */
export function findStartPosition(address: string): number | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const text = url !== undefined && isYouTube(url) ? url.searchParams.get('t') : null;
  const seconds = text === null ? undefined : parseSeconds(text);
  return seconds === undefined || seconds <= 0 ? undefined : seconds;
}
