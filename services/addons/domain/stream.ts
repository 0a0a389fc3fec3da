import type { StreamServiceId } from './debrid-services.ts';

/** Source of a stream. */
export type StreamType =
  'p2p' | 'live' | 'usenet' | 'stremio-usenet' | 'archive' | 'debrid' | 'http' | 'external' | 'youtube';

/** Attributes in the name of a release. Lists are empty and other fields absent when the name does not contain them. */
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
  /** Date in the format `2023-07-04`. */
  readonly date?: string | undefined;
  readonly regraded?: true | undefined;
  readonly uncensored?: true | undefined;
  readonly unrated?: true | undefined;
  /** Seasons and episodes in the name of the folder, if they differ from the file. */
  readonly folderSeasons?: readonly number[] | undefined;
  readonly folderEpisodes?: readonly number[] | undefined;
  readonly repack?: true | undefined;
  readonly seasonPack: boolean;
}

/** Addon that returned a stream. */
export interface StreamAddon {
  /** Unique within a configuration. Prefix of the IDs of its catalogs. */
  readonly instanceId: string;
  readonly presetType: string;
  readonly name: string;
  /** Position in the configuration. */
  readonly index: number;
  readonly manifestUrl: string;
  readonly library: boolean;
  readonly formatPassthrough: boolean;
  readonly resultPassthrough: boolean;
  readonly pinPosition: 'top' | 'bottom' | undefined;
}

/** Unchanged stream of an addon. Unknown fields are passed to clients. */
export type UpstreamStream = Readonly<Record<string, unknown>>;

/** Stream with all parsed attributes. */
export interface ParsedStream {
  /** Instance ID of the addon and index in its response. */
  readonly id: string;
  readonly addon: StreamAddon;
  readonly upstream: UpstreamStream;
  readonly hints: Readonly<Record<string, unknown>>;
  readonly type: StreamType;
  readonly service: { readonly id: StreamServiceId; readonly cached: boolean } | undefined;
  readonly library: boolean;
  readonly proxied: boolean;
  /** Replaces the address of the addon for streams that pass this service. */
  readonly url: string | undefined;
  readonly infoHash: string | undefined;
  readonly fileIdx: number | undefined;
  readonly sources: readonly string[] | undefined;
  readonly filename: string | undefined;
  readonly folderName: string | undefined;
  readonly size: number | undefined;
  readonly folderSize: number | undefined;
  readonly seeders: number | undefined;
  /** Age in hours. */
  readonly age: number | undefined;
  /** Duration in milliseconds. */
  readonly duration: number;
  readonly indexer: string | undefined;
  readonly message: string | undefined;
  readonly private: boolean;
  readonly freeleech?: boolean;
  /** The addon found the stream by the ID of the title. */
  readonly idMatched?: boolean;
  readonly file: ParsedFile;
  /** Name of the preferred pattern that matches. */
  readonly regexMatched?: string | undefined;
  /** Index of the preferred pattern that matches. */
  readonly regexIndex?: number | undefined;
  /** Sum of the scores of all matching ranked patterns. */
  readonly regexScore?: number | undefined;
  /** Names of the matching ranked patterns. */
  readonly regexesRanked?: readonly string[] | undefined;
  /** First preferred stream expression that selected the stream. */
  readonly expressionMatched?: { readonly index: number; readonly name: string } | undefined;
  /** Sum of the scores of all ranked stream expressions that selected the stream. */
  readonly expressionScore?: number | undefined;
  /** Names of the ranked stream expressions that selected the stream. */
  readonly expressionsRanked?: readonly string[] | undefined;
  /** Recommendation of SeaDex. */
  readonly seadex?: 'best' | 'alternative' | undefined;
}

/** Returns the bitrate in bits per second, if size and duration are known. */
export function getBitrate({ size, duration }: Pick<ParsedStream, 'size' | 'duration'>): number | undefined {
  return size === undefined || duration <= 0 ? undefined : Math.round((size * 8) / (duration / 1000));
}
