import * as m from '#messages/downloads';
import type { DownloadOptions } from '../../../../../services/contracts/downloads/api.ts';
import { writeLocalStorage, readLocalStorageJson } from '../../../state/local-storage.ts';

/** Qualities of the API, with their labels. */
const getAllQualities = () =>
  [
    ['best', m.best()],
    ['2160', '4K'],
    ['1440', '1440p'],
    ['1080', '1080p'],
    ['720', '720p'],
    ['480', '480p'],
    ['360', '360p'],
    ['240', '240p'],
    ['worst', m.smallest()],
    ['audio', m.audio()],
  ] as const;
export type Quality = ReturnType<typeof getAllQualities>[number][0];
/** Qualities that are always visible; another one is added while it is selected. */
const commonQualities: readonly Quality[] = ['best', '2160', '1080', '720', '480', 'audio'];

const getVideoFormats = () =>
  [
    ['mp4', 'MP4'],
    ['webm', 'WebM'],
    ['mkv', 'MKV'],
    ['avi', 'AVI'],
    ['any', m.originalFormat()],
    ['ios', 'iPhone'],
  ] as const;
const audioFormats = [
  ['m4a', 'M4A'],
  ['mp3', 'MP3'],
  ['ogg', 'OGG'],
  ['flac', 'FLAC'],
  ['opus', 'Opus'],
  ['wav', 'WAV'],
] as const;
/** Explanations of formats whose labels are not enough. */
export const formatHints = {
  any: m.anyFormatHint,
  ios: m.iosFormatHint,
} as const;
/** Returns the label of a quality of the API. */
export function getQualityLabel(quality: string): string {
  return getAllQualities().find(([value]) => value === quality)?.[1] ?? quality;
}
/** Returns the label of a format of the API. */
export function getFormatLabel(format: string): string {
  return [...getVideoFormats(), ...audioFormats].find(([value]) => value === format)?.[1] ?? format.toUpperCase();
}
export type Format = ReturnType<typeof getVideoFormats>[number][0] | (typeof audioFormats)[number][0];

/** Less common options, saved and reset together. */
export interface ExtraOptions {
  readonly fetch: 'media' | 'captions' | 'thumbnail';
  readonly codec: string;
  /** Bit rate of MP3 and M4A, in kbit/s. */
  readonly bitrate: string;
  readonly folder: string;
  readonly prefix: string;
  readonly from: string;
  readonly to: string;
  readonly chapters: boolean;
  readonly sponsors: boolean;
  readonly language: string;
  readonly mode: NonNullable<DownloadOptions['subtitle_mode']>;
  readonly captions: string;
  /** Maximum number of playlist entries, in digits; empty for all. */
  readonly most: string;
  readonly presets: readonly string[];
  readonly later: boolean;
}

export const defaultOptions: ExtraOptions = {
  fetch: 'media',
  codec: 'auto',
  bitrate: 'best',
  folder: '',
  prefix: '',
  from: '',
  to: '',
  chapters: false,
  sponsors: false,
  language: 'en',
  mode: 'prefer_manual',
  captions: 'srt',
  most: '',
  presets: [],
  later: false,
};

const storageKey = 'homeport.downloads.choices';

/** Options of new downloads, saved in this browser except for those of a single video. */
class MediaOptions {
  quality = $state<Quality>('best');
  video = $state<Format>('mp4');
  audio = $state<Format>('m4a');
  options = $state.raw<ExtraOptions>(defaultOptions);

  constructor() {
    const { quality, video, audio, options } = readStoredChoices();
    this.quality = findChoice(getAllQualities(), quality) ?? this.quality;
    this.video = findChoice(getVideoFormats(), video) ?? this.video;
    this.audio = findChoice(audioFormats, audio) ?? this.audio;
    this.options = { ...defaultOptions, ...options };
  }

  get qualities(): readonly (readonly [Quality, string])[] {
    return getAllQualities().filter(([value]) => commonQualities.includes(value) || value === this.quality);
  }

  get formats(): readonly (readonly [Format, string])[] {
    return this.quality === 'audio' ? audioFormats : getVideoFormats();
  }

  get format(): Format {
    return this.quality === 'audio' ? this.audio : this.video;
  }

  get downloadOptions(): DownloadOptions {
    const { options } = this;
    const { fetch, folder, prefix, most, presets } = options;
    const general = omitEmpty({
      folder: folder.trim(),
      custom_name_prefix: prefix.trim(),
      playlist_item_limit: Number.parseInt(most, 10) || 0,
      ytdl_options_presets: [...presets],
    });
    const start = options.later ? { auto_start: false } : {};
    if (fetch === 'thumbnail')
      return { download_type: 'thumbnail', quality: 'best', format: 'jpg', ...general, ...start };
    if (fetch === 'captions') {
      const { language, mode: subtitle_mode, captions: format } = options;
      const subtitle_language = language.trim() || defaultOptions.language;
      return {
        download_type: 'captions',
        quality: 'best',
        format,
        subtitle_language,
        subtitle_mode,
        ...general,
        ...start,
      };
    }
    const cut = omitEmpty({
      clip_start: options.from.trim(),
      clip_end: options.to.trim(),
      split_by_chapters: options.chapters,
      sponsorblock: options.sponsors,
    });
    return { ...this.#mediaPart, ...general, ...cut, ...start };
  }

  get #mediaPart(): DownloadOptions {
    const { format, options } = this;
    if (this.quality !== 'audio') {
      const codec = options.codec === 'auto' ? {} : { codec: options.codec };
      return { download_type: 'video', quality: this.quality, format, ...codec };
    }
    const quality = getBitrates(format).some(([value]) => value === options.bitrate) ? options.bitrate : 'best';
    return { download_type: 'audio', quality, format };
  }

  select(change: { readonly quality?: Quality; readonly format?: Format }): void {
    if (change.quality !== undefined) this.quality = change.quality;
    if (change.format !== undefined && this.quality === 'audio') this.audio = change.format;
    else if (change.format !== undefined) this.video = change.format;
    this.#save();
  }

  /** Selects the quality with this picture height. */
  selectHeight(height: number): void {
    const quality = findChoice(getAllQualities(), String(height));
    if (quality !== undefined) this.select({ quality });
  }

  update(change: Partial<ExtraOptions>): void {
    this.options = { ...this.options, ...change };
    this.#save();
  }

  /** Clears the options of the video that was just added. */
  clearVideoOptions(): void {
    this.update({ from: '', to: '', prefix: '' });
  }

  #save(): void {
    const { quality, video, audio, options } = this;
    const stored = { quality, video, audio, options: { ...options, from: '', to: '', prefix: '' } };
    writeLocalStorage(storageKey, JSON.stringify(stored));
  }
}

/** Formats the part of a video that is kept; without an end it is the rest. */
function formatClip(from: string, to: string): string {
  return to === '' ? m.clipToEnd({ from }) : `${from}–${to}`;
}

/** Formats the options that differ from the defaults. */
export function formatOptions(options: ExtraOptions, quality: Quality): readonly string[] {
  const media = options.fetch === 'media';
  return [
    options.fetch === 'captions' && m.optionSubtitles(),
    options.fetch === 'thumbnail' && m.optionPicture(),
    media && quality !== 'audio' && options.codec !== 'auto' && options.codec.toUpperCase(),
    options.folder.trim() !== '' && m.optionFolder({ folder: options.folder.trim() }),
    options.prefix.trim() !== '' && m.optionPrefix({ prefix: options.prefix.trim() }),
    media && (options.from !== '' || options.to !== '') && formatClip(options.from || '0:00', options.to),
    media && options.chapters && m.optionChapters(),
    media && options.sponsors && m.optionSponsors(),
    (Number.parseInt(options.most, 10) || 0) > 0 && m.optionPlaylistLimit({ count: Number.parseInt(options.most, 10) }),
    ...options.presets,
    options.later && m.optionLater(),
  ].filter((label) => label !== false);
}

/** Returns the bit rates that a format offers, in kbit/s. */
export function getBitrates(format: Format): readonly (readonly [string, string])[] {
  const kbits = { mp3: ['320', '192', '128'], m4a: ['192', '128'] }[format as string] ?? [];
  return [['best', m.best()], ...kbits.map((kbit) => [kbit, m.kbitPerSecond({ kbit })] as const)];
}

interface StoredChoices {
  readonly quality?: string;
  readonly video?: string;
  readonly audio?: string;
  readonly options?: Partial<ExtraOptions>;
}

function readStoredChoices(): StoredChoices {
  const stored = readLocalStorageJson(storageKey);
  return typeof stored === 'object' && stored !== null ? stored : {};
}

function findChoice<Value extends string>(
  choices: readonly (readonly [Value, string])[],
  text: string | undefined,
): Value | undefined {
  return choices.find(([value]) => value === text)?.[0];
}

/** Omits empty options. */
function omitEmpty(fields: DownloadOptions): DownloadOptions {
  const entries = Object.entries(fields).filter(
    ([, value]) => value !== '' && value !== 0 && value !== false && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(entries);
}

export const mediaOptions = new MediaOptions();
