import { isYouTube } from './address.ts';

/** Seconds of `885`, `14m45s` or `1:02:03.5`; undefined when it is no time. */
export function secondsOf(text: string): number | undefined {
  const plain = text.trim().toLowerCase();
  if (plain.length > 30) return undefined;
  if (/^\d+(\.\d+)?s?$/.test(plain)) return Number.parseFloat(plain);
  const named = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?$/.exec(plain);
  const clock = /^(?:(\d+):)?(\d{1,2}):(\d{1,2}(?:\.\d+)?)$/.exec(plain);
  const [, hours = '0', minutes = '0', seconds = '0'] = (plain === '' ? null : named) ?? clock ?? [undefined, 'x'];
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return Number.isNaN(total) ? undefined : total;
}

/** The moment, in seconds, that a link to a video of YouTube leads to (`t=`); undefined when it names none. */
export function momentOf(address: string): number | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const text = url !== undefined && isYouTube(url) ? url.searchParams.get('t') : null;
  const seconds = text === null ? undefined : secondsOf(text);
  return seconds === undefined || seconds <= 0 ? undefined : seconds;
}
