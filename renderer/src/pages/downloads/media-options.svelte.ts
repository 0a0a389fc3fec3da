import type { DownloadOptions } from '../../../../services/contracts/downloads/api.ts';
import { writeLocalStorage, readLocalStorageJson } from '../../state/local-storage.ts';

const allQualities = [
  ['best', 'Best'],
  ['2160', '4K'],
  ['1440', '1440p'],
  ['1080', '1080p'],
  ['720', '720p'],
  ['480', '480p'],
  ['360', '360p'],
  ['240', '240p'],
  ['worst', 'Smallest'],
  ['audio', 'Audio'],
] as const;
export type Quality = (typeof allQualities)[number][0];
/** In sight; another one comes in when it was chosen. */
const usual: readonly Quality[] = ['best', '2160', '1080', '720', '480', 'audio'];

const videoFormats = [
  ['mp4', 'MP4'],
  ['webm', 'WebM'],
  ['mkv', 'MKV'],
  ['avi', 'AVI'],
  ['any', 'As it is'],
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
/** What the names of formats do not say. */
export const formatHints = {
  any: 'The format that the site has, unchanged',
  ios: 'MP4 in a form that every iPhone and iPad plays',
} as const;
/** A quality in words, by what the server calls it. */
export function qualityName(quality: string): string {
  return allQualities.find(([value]) => value === quality)?.[1] ?? quality;
}
/** A format in words, by what the server calls it. */
export function formatName(format: string): string {
  return [...videoFormats, ...audioFormats].find(([value]) => value === format)?.[1] ?? format.toUpperCase();
}
export type Format = (typeof videoFormats)[number][0] | (typeof audioFormats)[number][0];

/** What few people need; kept together, so that it is remembered and taken back together. */
export interface Options {
  readonly fetch: 'media' | 'captions' | 'thumbnail';
  readonly codec: string;
  /** kbit/s of MP3 and M4A. */
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
  /** Digits, or nothing. */
  readonly most: string;
  readonly presets: readonly string[];
  readonly later: boolean;
}

export const noOptions: Options = {
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

const key = 'homeport.downloads.choices';

/** What links are to become; remembered in this browser, but for what belongs to one video alone. */
class MediaOptions {
  quality = $state<Quality>('best');
  video = $state<Format>('mp4');
  audio = $state<Format>('m4a');
  options = $state.raw<Options>(noOptions);

  constructor() {
    const { quality, video, audio, options } = remembered();
    this.quality = one(allQualities, quality) ?? this.quality;
    this.video = one(videoFormats, video) ?? this.video;
    this.audio = one(audioFormats, audio) ?? this.audio;
    this.options = { ...noOptions, ...options };
  }

  get qualities(): readonly (readonly [Quality, string])[] {
    return allQualities.filter(([value]) => usual.includes(value) || value === this.quality);
  }

  get formats(): readonly (readonly [Format, string])[] {
    return this.quality === 'audio' ? audioFormats : videoFormats;
  }

  get format(): Format {
    return this.quality === 'audio' ? this.audio : this.video;
  }

  get asked(): DownloadOptions {
    const { options } = this;
    const { fetch, folder, prefix, most, presets } = options;
    const general = given({
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
      const subtitle_language = language.trim() || noOptions.language;
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
    const cut = given({
      clip_start: options.from.trim(),
      clip_end: options.to.trim(),
      split_by_chapters: options.chapters,
      sponsorblock: options.sponsors,
    });
    return { ...this.#media, ...general, ...cut, ...start };
  }

  get #media(): DownloadOptions {
    const { format, options } = this;
    if (this.quality !== 'audio') {
      const codec = options.codec === 'auto' ? {} : { codec: options.codec };
      return { download_type: 'video', quality: this.quality, format, ...codec };
    }
    const quality = bitratesOf(format).some(([value]) => value === options.bitrate) ? options.bitrate : 'best';
    return { download_type: 'audio', quality, format };
  }

  choose(change: { readonly quality?: Quality; readonly format?: Format }): void {
    if (change.quality !== undefined) this.quality = change.quality;
    if (change.format !== undefined && this.quality === 'audio') this.audio = change.format;
    else if (change.format !== undefined) this.video = change.format;
    this.#remember();
  }

  /** By what the site has: the height of a picture. */
  chooseHeight(height: number): void {
    const quality = one(allQualities, String(height));
    if (quality !== undefined) this.choose({ quality });
  }

  change(change: Partial<Options>): void {
    this.options = { ...this.options, ...change };
    this.#remember();
  }

  /** What belonged to the video that was just added. */
  forgetVideo(): void {
    this.change({ from: '', to: '', prefix: '' });
  }

  #remember(): void {
    const { quality, video, audio, options } = this;
    const kept = { quality, video, audio, options: { ...options, from: '', to: '', prefix: '' } };
    writeLocalStorage(key, JSON.stringify(kept));
  }
}

/** The options that differ from none, in words. */
export function optionWords(options: Options, quality: Quality): readonly string[] {
  const media = options.fetch === 'media';
  return [
    options.fetch === 'captions' && 'subtitles only',
    options.fetch === 'thumbnail' && 'picture only',
    media && quality !== 'audio' && options.codec !== 'auto' && options.codec.toUpperCase(),
    options.folder.trim() !== '' && `in ${options.folder.trim()}`,
    options.prefix.trim() !== '' && `named ${options.prefix.trim()}…`,
    media && (options.from !== '' || options.to !== '') && `${options.from || '0:00'}–${options.to || 'end'}`,
    media && options.chapters && 'a file a chapter',
    media && options.sponsors && 'without sponsors',
    (Number.parseInt(options.most, 10) || 0) > 0 && `${options.most} of a playlist`,
    ...options.presets,
    options.later && 'starts later',
  ].filter((words) => words !== false);
}

/** kbit/s that can be asked for. */
export function bitratesOf(format: Format): readonly (readonly [string, string])[] {
  const kbits = { mp3: ['320', '192', '128'], m4a: ['192', '128'] }[format as string] ?? [];
  return [['best', 'Best'], ...kbits.map((kbit) => [kbit, `${kbit} kbit/s`] as const)];
}

interface Remembered {
  readonly quality?: string;
  readonly video?: string;
  readonly audio?: string;
  readonly options?: Partial<Options>;
}

function remembered(): Remembered {
  const kept = readLocalStorageJson(key);
  return typeof kept === 'object' && kept !== null ? kept : {};
}

function one<Value extends string>(
  choices: readonly (readonly [Value, string])[],
  text: string | undefined,
): Value | undefined {
  return choices.find(([value]) => value === text)?.[0];
}

/** Without what says nothing. */
function given(fields: DownloadOptions): DownloadOptions {
  const said = Object.entries(fields).filter(
    ([, value]) => value !== '' && value !== 0 && value !== false && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(said);
}

export const chosen = new MediaOptions();
