import { parseRelease } from './release.ts';

/** File of a torrent that can be selected. */
export interface SelectableFile {
  readonly path: string;
  readonly size: number;
  readonly index: number | undefined;
}

export interface FileRequest {
  readonly index: number | undefined;
  readonly filename: string | undefined;
  readonly season: number | undefined;
  readonly episode: number | undefined;
}

const videoPattern = /\.(?:mkv|mp4|avi|m4v|mov|ts|m2ts|webm|wmv|flv|mpg|mpeg|ogm|ogv|3gp|vob)$/i;
const extraPattern = /\b(?:sample|trailer|featurettes?|extras?|behind the scenes)\b/i;

/** Returns true when a path is a video. */
export function isVideo(path: string): boolean {
  return videoPattern.test(path);
}

/**
 * Selects the requested file: by name, by index, by episode, or the largest one. Returns undefined when the episode is
 * missing, instead of another episode.
 */
export function selectFile<File extends SelectableFile>(
  files: readonly File[],
  fileRequest: FileRequest,
): File | undefined {
  const videos = files.filter(({ path }) => isVideo(path));
  const nameMatch = videos.find(
    ({ path }) => fileRequest.filename !== undefined && getFileName(path) === getFileName(fileRequest.filename),
  );
  if (nameMatch !== undefined) return nameMatch;
  const indexMatch =
    fileRequest.index === undefined ? undefined : videos.find(({ index }) => index === fileRequest.index);
  if (
    indexMatch !== undefined &&
    (fileRequest.episode === undefined || matchesEpisode(indexMatch, fileRequest) !== false)
  )
    return indexMatch;
  const mainVideos = videos.filter(({ path }) => !extraPattern.test(path));
  const candidates = mainVideos.length === 0 ? videos : mainVideos;
  if (fileRequest.episode !== undefined) {
    const episodes = candidates.filter((file) => matchesEpisode(file, fileRequest) === true);
    if (episodes.length > 0) return findLargest(episodes);
    // A single file without an episode in its name is the requested one.
    if (candidates.some((file) => matchesEpisode(file, fileRequest) === false) || candidates.length > 1)
      return undefined;
  }
  return findLargest(candidates);
}

/** Returns undefined when the name contains no episode. */
function matchesEpisode({ path }: SelectableFile, { season, episode }: FileRequest): boolean | undefined {
  const segments = path.split('/');
  const release = parseRelease(segments.at(-1) ?? path);
  if (release.episodes === undefined || release.episodes.length === 0) return undefined;
  const seasons = release.seasons ?? parseRelease(segments.at(-2) ?? '').seasons;
  if (season !== undefined && seasons !== undefined && seasons.length > 0 && !seasons.includes(season)) return false;
  return episode === undefined || release.episodes.includes(episode);
}

function getFileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).toLowerCase();
}

function findLargest<File extends SelectableFile>(files: readonly File[]): File | undefined {
  return files.length === 0 ? undefined : files.reduce((a, b) => (b.size > a.size ? b : a));
}
