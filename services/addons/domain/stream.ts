import type { ServiceId } from './debrid-services.ts';

/** What kind of source a stream has. */
export type StreamType =
  'p2p' | 'live' | 'usenet' | 'stremio-usenet' | 'archive' | 'debrid' | 'http' | 'external' | 'youtube';

/** What the name of a release says. Lists are empty, the others absent where it says nothing. */
export interface ParsedFile {
  readonly title?: string | undefined;
  readonly year?: string | undefined;
  readonly seasons?: readonly number[] | undefined;
  readonly episodes?: readonly number[] | undefined;
  readonly resolution?: string | undefined;
  readonly quality?: string | undefined;
  readonly encode?: string | undefined;
  readonly releaseGroup?: string | undefined;
  readonly network?: string | undefined;
  readonly container?: string | undefined;
  readonly extension?: string | undefined;
  readonly episodeTitle?: string | undefined;
  readonly editions: readonly string[];
  readonly visualTags: readonly string[];
  readonly audioTags: readonly string[];
  readonly audioChannels: readonly string[];
  readonly languages: readonly string[];
  readonly subtitles: readonly string[];
  readonly subbed: boolean;
  readonly dubbed: boolean;
  readonly proper?: true | undefined;
  readonly country?: string | undefined;
  /** Such as `2023-07-04`. */
  readonly date?: string | undefined;
  readonly regraded?: true | undefined;
  readonly uncensored?: true | undefined;
  readonly unrated?: true | undefined;
  /** What the name of the folder says where the file says something else. */
  readonly folderSeasons?: readonly number[] | undefined;
  readonly folderEpisodes?: readonly number[] | undefined;
  readonly repack?: true | undefined;
  readonly seasonPack: boolean;
}

/** The addon a stream came from. */
export interface StreamAddon {
  /** Unique within a configuration, also the prefix of its catalogs. */
  readonly instanceId: string;
  readonly presetType: string;
  readonly name: string;
  /** Its place among the addons of the configuration. */
  readonly index: number;
  readonly manifestUrl: string;
  readonly library: boolean;
  readonly formatPassthrough: boolean;
  readonly resultPassthrough: boolean;
  readonly pinPosition: 'top' | 'bottom' | undefined;
}

/** A stream as an upstream addon gave it; members we do not know pass through. */
export type UpstreamStream = Readonly<Record<string, unknown>>;

/** A stream with everything that could be read out of it. */
export interface ParsedStream {
  /** Instance id of its addon and its place in that addon's answer. */
  readonly id: string;
  readonly addon: StreamAddon;
  readonly upstream: UpstreamStream;
  readonly hints: Readonly<Record<string, unknown>>;
  readonly type: StreamType;
  readonly service: { readonly id: ServiceId; readonly cached: boolean } | undefined;
  readonly library: boolean;
  readonly proxied: boolean;
  /** Replaces the upstream's own where the stream goes through us. */
  readonly url: string | undefined;
  readonly infoHash: string | undefined;
  readonly fileIdx: number | undefined;
  readonly sources: readonly string[] | undefined;
  readonly filename: string | undefined;
  readonly folderName: string | undefined;
  readonly size: number | undefined;
  readonly folderSize: number | undefined;
  readonly seeders: number | undefined;
  /** Hours. */
  readonly age: number | undefined;
  /** Milliseconds. */
  readonly duration: number;
  readonly indexer: string | undefined;
  readonly message: string | undefined;
  readonly private: boolean;
  readonly freeleech?: boolean;
  /** Its addon found it by the id of the title. */
  readonly idMatched?: boolean;
  readonly file: ParsedFile;
  /** Name of the preferred expression it matches. */
  readonly regexMatched?: string | undefined;
  /** Which of the preferred expressions that is. */
  readonly regexIndex?: number | undefined;
  /** Scores of all ranked expressions that match it, added up. */
  readonly regexScore?: number | undefined;
  /** Names of the ranked expressions that match it. */
  readonly regexesRanked?: readonly string[] | undefined;
  /** The first preferred stream expression that chose it. */
  readonly expressionMatched?: { readonly index: number; readonly name: string } | undefined;
  /** Scores of all ranked stream expressions that chose it, added up. */
  readonly expressionScore?: number | undefined;
  /** Names of the ranked stream expressions that chose it. */
  readonly expressionsRanked?: readonly string[] | undefined;
  /** What SeaDex says of the release. */
  readonly seadex?: 'best' | 'alternative' | undefined;
}

/** Bits a second of a stream whose length is known. */
export function bitrateOf({ size, duration }: Pick<ParsedStream, 'size' | 'duration'>): number | undefined {
  return size === undefined || duration <= 0 ? undefined : Math.round((size * 8) / (duration / 1000));
}
