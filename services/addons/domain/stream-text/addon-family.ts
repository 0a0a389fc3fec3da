import type { StreamType } from '../stream.ts';
import type { DetectedService } from './detect-service.ts';
import type { FileNames } from './file-names.ts';
import type { SizeBase } from './sizes.ts';

/** Texts of a stream that addons use for facts. */
export interface StreamTexts {
  readonly name: string;
  readonly description: string;
  /** File name in the hints of the stream. */
  readonly hintedName: string | undefined;
  readonly hintedFolder: string | undefined;
}

/**
 * Languages listed in a description.
 *
 * @param replaces The list is complete and replaces languages from names.
 */
export interface ListedLanguages {
  readonly audio: readonly string[];
  readonly subtitles: readonly string[];
  readonly replaces: boolean;
}

/** Format of the streams of one family of addons. Fields that are absent use the general rules. */
export interface AddonFamily {
  readonly id: string;
  /** Matches the preset, the name or address of the addon, or the name of a stream. */
  readonly pattern: RegExp;
  readonly sizeBase?: SizeBase;
  readonly fileNames?: (texts: StreamTexts) => FileNames;
  readonly service?: (texts: StreamTexts) => DetectedService | undefined;
  /** Icons before the name of the indexer, instead of the default icons. */
  readonly indexerIcons?: readonly string[];
  readonly indexer?: (texts: StreamTexts) => string | undefined;
  /** Icons before the size of the complete torrent. */
  readonly folderSizeIcons?: readonly string[];
  readonly languages?: (texts: StreamTexts) => ListedLanguages | undefined;
  readonly type?: (texts: StreamTexts) => StreamType | undefined;
  readonly isInLibrary?: (texts: StreamTexts) => boolean;
  readonly isPrivate?: (texts: StreamTexts) => boolean;
  readonly message?: (texts: StreamTexts) => string | undefined;
  /** Returns true for entries that are notes of the addon instead of streams. */
  readonly isNote?: (texts: StreamTexts) => boolean;
}
