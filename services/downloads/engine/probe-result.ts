import { z } from 'zod';
import type { MediaDetails } from '../../contracts/downloads/media-details.ts';
import { splitLogin } from '../domain/address.ts';

/** Fields for the pictures of a video, best one last. */
const pictures = {
  thumbnail: z.string().nullish(),
  thumbnails: z.array(z.object({ url: z.string().nullish() }).nullable()).nullish(),
};

/** Entry of a playlist that has not been opened. */
const PlaylistEntryInfo = z.object({
  ...pictures,
  _type: z.string().nullish(),
  id: z.string().nullish(),
  url: z.string().nullish(),
  webpage_url: z.string().nullish(),
  title: z.string().nullish(),
  /** Extractor of the entry: tabs of a channel are entries as well. */
  ie_key: z.string().nullish(),
  availability: z.string().nullish(),
  live_status: z.string().nullish(),
  channel: z.string().nullish().catch(undefined),
  uploader: z.string().nullish().catch(undefined),
  duration: z.unknown().optional(),
  // Only the presence of these fields is used.
  timestamp: z.unknown().optional(),
  view_count: z.unknown().optional(),
});
export type PlaylistEntryInfo = z.infer<typeof PlaylistEntryInfo>;

/** Used fields of the extractor's output for an address. */
export const Info = z.object({
  ...pictures,
  _type: z.string().nullish(),
  id: z.coerce.string().nullish(),
  title: z.string().nullish(),
  live_status: z.string().nullish(),
  /** In seconds since the epoch. */
  release_timestamp: z.number().nullish(),
  channel: z.string().nullish(),
  channel_id: z.string().nullish(),
  uploader: z.string().nullish(),
  duration: z.unknown().optional(),
  uploader_id: z.string().nullish(),
  entries: z.array(PlaylistEntryInfo.nullable()).nullish(),
});

export type Info = z.infer<typeof Info>;

export type Probe =
  | {
      readonly kind: 'video';
      readonly id: string;
      readonly title: string;
      readonly liveStatus: string | null;
      readonly thumbnail: string | null;
      readonly media: MediaDetails;
      /** Time of the next probe of an upcoming stream in ms since the epoch. */
      readonly startsAt: number | null;
    }
  | PlaylistProbe;

export interface PlaylistProbe {
  readonly kind: 'playlist';
  readonly id: string;
  readonly title: string;
  readonly entries: readonly PlaylistEntryInfo[];
  /** Address of a thumbnail of the list. */
  readonly picture: string | null;
  /** Set when the list is a channel. */
  readonly channel?: { readonly name: string; readonly id: string };
}

/** Maximum length of a picture's address in characters. */
const maxPictureUrlLength = 4096;

/** Returns the channel of a list that has the id or handle of its uploader. */
export function findChannel(info: Info): Pick<PlaylistProbe, 'channel'> {
  const { id, channel_id: channel, uploader_id: uploader } = info;
  const isOwn = id !== undefined && id !== null && (id === channel || id.toLowerCase() === uploader?.toLowerCase());
  if (!channel || !isOwn) return {};
  return { channel: { name: info.channel ?? info.uploader ?? info.title ?? channel, id: channel } };
}

/** Returns the address of the best picture without its login, since it is stored in plain text. */
export function findPicture({
  thumbnail,
  thumbnails,
}: Pick<PlaylistEntryInfo, 'thumbnail' | 'thumbnails'>): string | null {
  const address = thumbnail ?? thumbnails?.at(-1)?.url ?? '';
  return /^https?:\/\//.test(address) && address.length <= maxPictureUrlLength ? splitLogin(address).displayUrl : null;
}

/** Delay of the next probe when the site gives no time, or a time in the past. */
const probeIntervalMs = 5 * 60_000;

/** Returns the time of the next probe of an upcoming stream in ms since the epoch; otherwise null. */
export function getNextProbeTime(
  { live_status: status, release_timestamp: seconds }: Info,
  now: number,
): number | null {
  if (status !== 'is_upcoming') return null;
  const release = (seconds ?? 0) * 1000;
  return release > now ? release : now + probeIntervalMs;
}
