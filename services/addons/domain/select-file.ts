import { parseRelease } from './release.ts';

/** File of a torrent that can be selected. */
export interface Choosable {
  readonly path: string;
  readonly size: number;
  readonly index: number | undefined;
}

export interface WantedFile {
  readonly index: number | undefined;
  readonly filename: string | undefined;
  readonly season: number | undefined;
  readonly episode: number | undefined;
}

const video = /\.(?:mkv|mp4|avi|m4v|mov|ts|m2ts|webm|wmv|flv|mpg|mpeg|ogm|ogv|3gp|vob)$/i;
const extra = /\b(?:sample|trailer|featurettes?|extras?|behind the scenes)\b/i;

/** Returns true when a path is a video. */
export function isVideo(path: string): boolean {
  return video.test(path);
}

/**
 * Selects the requested file: by name, by index, by episode, or the largest one. Returns undefined when the episode is
 * missing, instead of another episode.
 */
export function selectFile<File extends Choosable>(files: readonly File[], wanted: WantedFile): File | undefined {
  const videos = files.filter(({ path }) => isVideo(path));
  const named = videos.find(({ path }) => wanted.filename !== undefined && nameOf(path) === nameOf(wanted.filename));
  if (named !== undefined) return named;
  const placed = wanted.index === undefined ? undefined : videos.find(({ index }) => index === wanted.index);
  if (placed !== undefined && (wanted.episode === undefined || fits(placed, wanted) !== false)) return placed;
  const whole = videos.filter(({ path }) => !extra.test(path));
  const candidates = whole.length === 0 ? videos : whole;
  if (wanted.episode !== undefined) {
    const episodes = candidates.filter((file) => fits(file, wanted) === true);
    if (episodes.length > 0) return largest(episodes);
    // A single file without an episode in its name is the requested one.
    if (candidates.some((file) => fits(file, wanted) === false) || candidates.length > 1) return undefined;
  }
  return largest(candidates);
}

/** Returns undefined when the name contains no episode. */
function fits({ path }: Choosable, { season, episode }: WantedFile): boolean | undefined {
  const parts = path.split('/');
  const own = parseRelease(parts.at(-1) ?? path);
  if (own.episodes === undefined || own.episodes.length === 0) return undefined;
  const seasons = own.seasons ?? parseRelease(parts.at(-2) ?? '').seasons;
  if (season !== undefined && seasons !== undefined && seasons.length > 0 && !seasons.includes(season)) return false;
  return episode === undefined || own.episodes.includes(episode);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).toLowerCase();
}

function largest<File extends Choosable>(files: readonly File[]): File | undefined {
  return files.length === 0 ? undefined : files.reduce((one, other) => (other.size > one.size ? other : one));
}
