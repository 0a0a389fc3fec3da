import type { Wish } from '../../state/downloads.svelte.ts';

export const qualities = [
  ['best', 'Best'],
  ['2160', '4K'],
  ['1080', '1080p'],
  ['720', '720p'],
  ['480', '480p'],
  ['audio', 'Audio'],
] as const;
export type Quality = (typeof qualities)[number][0];

const videoFormats = [
  ['mp4', 'MP4'],
  ['webm', 'WebM'],
  ['mkv', 'MKV'],
] as const;
const audioFormats = [
  ['m4a', 'M4A'],
  ['mp3', 'MP3'],
  ['ogg', 'OGG'],
  ['flac', 'FLAC'],
] as const;
export type Format = (typeof videoFormats)[number][0] | (typeof audioFormats)[number][0];

const key = 'homeport.downloads.wish';

/** What links are to become; remembered in this browser. */
class Chosen {
  quality = $state<Quality>('best');
  video = $state<Format>('mp4');
  audio = $state<Format>('m4a');

  constructor() {
    const [quality, video, audio] = (localStorage.getItem(key) ?? '').split(' ');
    this.quality = one(qualities, quality) ?? this.quality;
    this.video = one(videoFormats, video) ?? this.video;
    this.audio = one(audioFormats, audio) ?? this.audio;
  }

  get formats(): readonly (readonly [Format, string])[] {
    return this.quality === 'audio' ? audioFormats : videoFormats;
  }

  get format(): Format {
    return this.quality === 'audio' ? this.audio : this.video;
  }

  get wish(): Wish {
    return { quality: this.quality === 'audio' ? 'best' : this.quality, format: this.format };
  }

  choose(change: { readonly quality?: Quality; readonly format?: Format }): void {
    if (change.quality !== undefined) this.quality = change.quality;
    if (change.format !== undefined && this.quality === 'audio') this.audio = change.format;
    else if (change.format !== undefined) this.video = change.format;
    localStorage.setItem(key, `${this.quality} ${this.video} ${this.audio}`);
  }
}

function one<Value extends string>(
  choices: readonly (readonly [Value, string])[],
  text: string | undefined,
): Value | undefined {
  return choices.find(([value]) => value === text)?.[0];
}

export const chosen = new Chosen();
