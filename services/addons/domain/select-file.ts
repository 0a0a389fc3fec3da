import { parseRelease } from './release.ts';

/** A file of a torrent, as far as choosing goes. */
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

/** Whether a path is that of a video. */
export function isVideo(path: string): boolean {
  return video.test(path);
}

/**
 * The file that is meant: the one of this name, the one at this place, the one of this episode, or the largest. An episode
 * that is not there is nobody else's; undefined then.
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
    // One file that does not say what it is will be it.
    if (candidates.some((file) => fits(file, wanted) === false) || candidates.length > 1) return undefined;
  }
  return largest(candidates);
}

/** Undefined: its name does not tell. */
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
