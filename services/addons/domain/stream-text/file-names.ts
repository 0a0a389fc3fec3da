const videoExtension = /\.(?:mkv|mp4|avi|mov|wmv|flv|webm|m4v|mpe?g|m2ts|mts|ts|vob|ogv|ogm|divx|rm|rmvb|3gp|iso)$/i;
const maxLines = 8;
/** Matches a line with a property of the stream, such as `Quality: 1080p`. */
const propertyLine = /^\s*(?:quality|resolution|size|source|languages?|type|age|seeders|hash)\s*:/i;

/** Matches a line with facts of the stream, such as its size and its indexer. */
const factLine = /^\s*[💾📦👤👥⚙🔎🔍🔗🌐🌎📅📺🎧🔊⏱📡]/u;

/** Names of a file and of the folder of its torrent. */
export interface FileNames {
  readonly file: string | undefined;
  readonly folder: string | undefined;
}

/** Returns true when a text ends with the extension of a video. */
export function isVideoName(text: string): boolean {
  return videoExtension.test(text);
}

/** Returns the lines of a description without icons and labels at their beginning. */
export function getContentLines(description: string): readonly string[] {
  return description.split('\n', maxLines).map((line) =>
    (propertyLine.test(line) || (factLine.test(line) && !isVideoName(line)) ? '' : line)
      .replace(/^[\p{Extended_Pictographic}\u{FE0F}\u{200D}\s]+/u, '')
      .replace(/^[A-Z][A-Za-z ]{1,14}:\s+/, '')
      .trim(),
  );
}

/** Returns true when the first line of a description begins with text or the icon of a file or folder. */
export function beginsWithName(description: string): boolean {
  return /^\s*(?:[📁📂📄🗂]|(?![\p{Extended_Pictographic}\p{So}])\S)/u.test(description);
}

/** Returns true when a line contains a year, a season or a resolution, as release names do. */
export function looksLikeRelease(line: string): boolean {
  return /\b(?:19|20)\d\d\b|\bS\d{1,2}|\b\d{3,4}[pi]\b/i.test(line);
}

/** Compares two names, ignoring separators. */
export function isSameName(first: string, second: string): boolean {
  const normalize = (name: string): string =>
    name
      .replace(videoExtension, '')
      .replaceAll(/[^\p{L}\p{N}+]/gu, '')
      .toLowerCase();
  return normalize(first) === normalize(second);
}

/** Splits `Folder/File.mkv`. */
export function splitPath(path: string): FileNames {
  const segments = path.split(/[/\\]+/).filter((part) => part !== '');
  const file = segments.at(-1);
  if (segments.length < 2 || file === undefined || !isVideoName(file)) return { file: path, folder: undefined };
  return { file, folder: segments[0] };
}
