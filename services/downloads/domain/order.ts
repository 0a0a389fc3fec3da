/** What is to be made of a video. */
export const downloadTypes = ['audio', 'captions', 'thumbnail', 'video'] as const;
export type DownloadType = (typeof downloadTypes)[number];

/** One validated request: what the peer calls the options of a record. */
export interface Order {
  readonly type: DownloadType;
  /** `auto`, or the video codec that is preferred. */
  readonly codec: string;
  readonly format: string;
  readonly quality: string;
  /** Below the download folder; null: the folder itself. */
  readonly folder: string | null;
  readonly prefix: string;
  /** Most entries of a playlist that are taken, 0: all. */
  readonly itemLimit: number;
  readonly autoStart: boolean;
  /** `name:password` of the address, sealed; null when it has none. The address itself is shown, and kept, without. */
  readonly login: string | null;
  /** What was secret in the address's query, sealed; null when nothing was. The address is shown, and kept, with marks in its place. */
  readonly secrets: string | null;
  /** Of captions that are downloaded alone. */
  readonly subtitleLanguage: string;
  readonly subtitleMode: SubtitleMode;
  /** One more file for each chapter. */
  readonly splitByChapters: boolean;
  readonly chapterTemplate: string;
  /** Leaves out what SponsorBlock knows to be advertising. */
  readonly sponsorblock: boolean;
  /** Seconds; null: from the beginning, to the end. */
  readonly clipStart: number | null;
  readonly clipEnd: number | null;
  /** Names of the settings' sets of options, in the order they are applied. */
  readonly presets: readonly string[];
  /** Options of the extractor for this download, checked. */
  readonly overrides: Readonly<Record<string, unknown>>;
}

/** Which captions are taken where people and a machine have written some, sorted as the peer lists them. */
export const subtitleModes = ['auto_only', 'manual_only', 'prefer_auto', 'prefer_manual'] as const;
export type SubtitleMode = (typeof subtitleModes)[number];

/** How the peer names the files of chapters. */
export const chapterTemplate = '%(title)s - %(section_number)02d - %(section_title)s.%(ext)s';

/** What is not said is not wished for; orders that were stored before an option was known lack it. */
export const noWishes = {
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

/** A video's place in the playlist it came from. */
export interface PlaylistPlace {
  readonly id: string;
  readonly title: string;
  /** From 1. */
  readonly index: number;
  readonly count: number;
  /** The title that the playlist gives the entry; it wins over the one of the media file. */
  readonly entryTitle: string | null;
  /** What the extractor is given where that is not what we show: the address with the extractor's own notes in it. */
  readonly entryAddress: string | null;
  /** True for an entry without an address of its own: it is the page's video number `index`. */
  readonly byIndex: boolean;
  /** Name and id, where the list is a channel. */
  readonly channel?: { readonly name: string; readonly id: string };
}

/** Formats by type, the peer's and those of the specification, sorted as the peer lists them in its messages. */
export const formats: Readonly<Record<DownloadType, readonly string[]>> = {
  video: ['any', 'avi', 'ios', 'mkv', 'mp4', 'webm'],
  audio: ['flac', 'm4a', 'mp3', 'ogg', 'opus', 'wav'],
  captions: ['dfxp', 'sbv', 'scc', 'srt', 'ttml', 'txt', 'vtt'],
  thumbnail: ['jpg'],
};

export const codecs = ['auto', 'av1', 'h264', 'h265', 'vp9'] as const;

/** Qualities in the peer's order; an audio format that is not named has `best` alone. */
export const videoQualities = ['best', '2160', '1440', '1080', '720', '480', '360', '240', 'worst'] as const;
const audioQualities: Readonly<Record<string, readonly string[]>> = {
  mp3: ['128', '192', '320', 'best'],
  m4a: ['128', '192', 'best'],
};

export function qualitiesOf(type: DownloadType, format: string): readonly string[] {
  if (type === 'video') return videoQualities;
  return type === 'audio' ? (audioQualities[format] ?? ['best']) : ['best'];
}

/** Two requests for the same thing: the second is "already in queue". One video in two formats is two things. */
export function isSameOrder(one: Order, other: Order): boolean {
  const same: readonly (keyof Order)[] = [
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
  return same.every((field) => one[field] === other[field]) && options(one) === options(other);
}
