import { z } from 'zod';
import { splitLogin } from '../domain/address.ts';

/** Pictures of a video, the best one last. */
const pictures = {
  thumbnail: z.string().nullish(),
  thumbnails: z.array(z.object({ url: z.string().nullish() }).nullable()).nullish(),
};

/** An entry of a playlist that was not opened yet. */
const Entry = z.object({
  ...pictures,
  _type: z.string().nullish(),
  id: z.string().nullish(),
  url: z.string().nullish(),
  webpage_url: z.string().nullish(),
  title: z.string().nullish(),
  /** Which extractor would open it: a channel's tabs are entries, too. */
  ie_key: z.string().nullish(),
  availability: z.string().nullish(),
  live_status: z.string().nullish(),
  // Whether they are there is all that is asked.
  duration: z.unknown().optional(),
  timestamp: z.unknown().optional(),
  view_count: z.unknown().optional(),
});
export type Entry = z.infer<typeof Entry>;

/** The extractor's answer about an address, as far as it is read. */
export const Info = z.object({
  ...pictures,
  _type: z.string().nullish(),
  id: z.coerce.string().nullish(),
  title: z.string().nullish(),
  live_status: z.string().nullish(),
  /** Seconds since the epoch. */
  release_timestamp: z.number().nullish(),
  channel: z.string().nullish(),
  channel_id: z.string().nullish(),
  uploader: z.string().nullish(),
  uploader_id: z.string().nullish(),
  entries: z.array(Entry.nullable()).nullish(),
});

export type Info = z.infer<typeof Info>;

export type Probe =
  | {
      readonly kind: 'video';
      readonly id: string;
      readonly title: string;
      readonly liveStatus: string | null;
      readonly thumbnail: string | null;
      /** Of what has not begun yet: when to look again, ms since the epoch. */
      readonly startsAt: number | null;
    }
  | List;

export interface List {
  readonly kind: 'playlist';
  readonly id: string;
  readonly title: string;
  readonly entries: readonly Entry[];
  /** Address of a small picture of the list itself. */
  readonly picture: string | null;
  /** Where it is all that somebody has uploaded. */
  readonly channel?: { readonly name: string; readonly id: string };
}

/** Characters of a picture's address. */
const longestPicture = 4096;

/** A channel is a list that bears the id, or the handle, of the one who owns it. */
export function channelOf(info: Info): Pick<List, 'channel'> {
  const { id, channel_id: channel, uploader_id: uploader } = info;
  const own = id !== undefined && id !== null && (id === channel || id.toLowerCase() === uploader?.toLowerCase());
  if (!channel || !own) return {};
  return { channel: { name: info.channel ?? info.uploader ?? info.title ?? channel, id: channel } };
}

/** Address of the best picture; logins are no part of it, since it is stored as it is. */
export function pictureOf({ thumbnail, thumbnails }: Pick<Entry, 'thumbnail' | 'thumbnails'>): string | null {
  const address = thumbnail ?? thumbnails?.at(-1)?.url ?? '';
  return /^https?:\/\//.test(address) && address.length <= longestPicture ? splitLogin(address).shown : null;
}

/** Where the site gives no time, or one that has passed, it is asked again after this. */
const askAgainMs = 5 * 60_000;

/** When to look again at what has not begun, ms since the epoch; null for all else. */
export function startOf({ live_status: status, release_timestamp: seconds }: Info, now: number): number | null {
  if (status !== 'is_upcoming') return null;
  const release = (seconds ?? 0) * 1000;
  return release > now ? release : now + askAgainMs;
}
