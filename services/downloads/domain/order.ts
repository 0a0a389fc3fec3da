/** Type of a download. */
export const downloadTypes = ['audio', 'captions', 'thumbnail', 'video'] as const;
export type DownloadType = (typeof downloadTypes)[number];

/** Validated options of a requested download. */
export interface Order {
  readonly type: DownloadType;
  /** `auto`, or the preferred video codec. */
  readonly codec: string;
  readonly format: string;
  readonly quality: string;
  /** Path relative to the download folder; null for the folder itself. */
  readonly folder: string | null;
  readonly prefix: string;
  /** Maximum number of playlist entries; 0 for all. */
  readonly itemLimit: number;
  readonly autoStart: boolean;
  /** Sealed `name:password` of the address; null without a login. The address is stored and shown without it. */
  readonly login: string | null;
  /** Sealed secrets of the address's query; null without secrets. The address is stored and shown with placeholders. */
  readonly secrets: string | null;
  /** Language of a caption download. */
  readonly subtitleLanguage: string;
  readonly subtitleMode: SubtitleMode;
  /** Adds a separate file for each chapter. */
  readonly splitByChapters: boolean;
  readonly chapterTemplate: string;
  /** Removes sponsored segments according to SponsorBlock. */
  readonly sponsorblock: boolean;
  /** In seconds; null for the beginning or the end. */
  readonly clipStart: number | null;
  readonly clipEnd: number | null;
  /** Names of presets, in the order in which they are applied. */
  readonly presets: readonly string[];
  /** Validated options of the extractor for this download. */
  readonly overrides: Readonly<Record<string, unknown>>;
}

/** Preference between manual and automatic captions, sorted as in MeTube. */
export const subtitleModes = ['auto_only', 'manual_only', 'prefer_auto', 'prefer_manual'] as const;
export type SubtitleMode = (typeof subtitleModes)[number];

/** MeTube's file name template of chapters. */
export const chapterTemplate = '%(title)s - %(section_number)02d - %(section_title)s.%(ext)s';

/** Defaults for optional fields. Orders that were stored by earlier versions lack some of them. */
export const defaultOrderOptions = {
  secrets: null,
  subtitleLanguage: 'en',
  subtitleMode: 'prefer_manual',
  splitByChapters: false,
  chapterTemplate,
  sponsorblock: false,
  clipStart: null,
  clipEnd: null,
  presets: [],
  overrides: {},
} as const satisfies Partial<Order>;

/** Playlist that a video came from, and its position. */
export interface PlaylistEntry {
  readonly id: string;
  readonly title: string;
  /** Counted from 1. */
  readonly index: number;
  readonly count: number;
  /** Title of the entry in the playlist, which has precedence over the title of the media file. */
  readonly entryTitle: string | null;
  /** Address for the extractor if it differs from the shown one: with the extractor's internal data. */
  readonly entryAddress: string | null;
  /** True for an entry without an address: it is the video number `index` of the page. */
  readonly byIndex: boolean;
  /** Name and id if the list is a channel. */
  readonly channel?: { readonly name: string; readonly id: string };
}

/** Supported formats by type, sorted as in MeTube's messages. */
export const formats: Readonly<Record<DownloadType, readonly string[]>> = {
  video: ['any', 'avi', 'ios', 'mkv', 'mp4', 'webm'],
  audio: ['flac', 'm4a', 'mp3', 'ogg', 'opus', 'wav'],
  captions: ['dfxp', 'sbv', 'scc', 'srt', 'ttml', 'txt', 'vtt'],
  thumbnail: ['jpg'],
};

export const codecs = ['auto', 'av1', 'h264', 'h265', 'vp9'] as const;

/** Qualities in MeTube's order. Audio formats without an entry support only `best`. */
export const videoQualities = ['best', '2160', '1440', '1080', '720', '480', '360', '240', 'worst'] as const;
const audioQualities: Readonly<Record<string, readonly string[]>> = {
  mp3: ['128', '192', '320', 'best'],
  m4a: ['128', '192', 'best'],
};

export function getQualities(type: DownloadType, format: string): readonly string[] {
  if (type === 'video') return videoQualities;
  return type === 'audio' ? (audioQualities[format] ?? ['best']) : ['best'];
}

/**
 * Returns whether two orders are the same download, which is added only once. One video in two formats is two downloads.
 */
export function isSameOrder(first: Order, second: Order): boolean {
  const fields: readonly (keyof Order)[] = [
    'type',
    'codec',
    'format',
    'quality',
    'folder',
    'prefix',
    'clipStart',
    'clipEnd',
    'splitByChapters',
    'sponsorblock',
    'subtitleLanguage',
    'subtitleMode',
  ];
  const options = ({ presets, overrides }: Order): string => JSON.stringify([presets, overrides]);
  return fields.every((field) => first[field] === second[field]) && options(first) === options(second);
}
