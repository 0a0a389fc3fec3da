import type { ParsedFile } from '../stream.ts';

const union = (first: readonly string[], second: readonly string[]): readonly string[] =>
  first.length === 0 ? second : second.length === 0 ? first : [...new Set([...first, ...second])];
const nonEmpty = <Item>(list: readonly Item[] | undefined): readonly Item[] | undefined =>
  list === undefined || list.length === 0 ? undefined : list;

/** Combines the attributes in the names of a file and its folder. The file has priority. */
export function mergeFiles(file: ParsedFile, folder: ParsedFile): ParsedFile {
  const seasons = nonEmpty(file.seasons) ?? nonEmpty(folder.seasons);
  const episodes = nonEmpty(file.episodes) ?? nonEmpty(folder.episodes);
  const hasTitle = file.title !== undefined && file.title.length > 2 && !/^(?:s\d|e\d|\d)/i.test(file.title);
  return {
    ...omitUndefined(folder),
    ...omitUndefined(file),
    title: hasTitle ? file.title : (folder.title ?? file.title),
    seasons,
    episodes,
    ...(nonEmpty(file.seasons) === undefined ? {} : { folderSeasons: folder.seasons }),
    ...(nonEmpty(file.episodes) === undefined ? {} : { folderEpisodes: folder.episodes }),
    editions: union(file.editions, folder.editions),
    visualTags: union(file.visualTags, folder.visualTags),
    audioTags: union(file.audioTags, folder.audioTags),
    audioChannels: union(file.audioChannels, folder.audioChannels),
    languages: union(file.languages, folder.languages),
    subtitles: union(file.subtitles, folder.subtitles),
    subbed: file.subbed || folder.subbed,
    dubbed: file.dubbed || folder.dubbed,
    seasonPack: file.seasonPack || folder.seasonPack,
  };
}

function omitUndefined(file: ParsedFile): Partial<ParsedFile> {
  return Object.fromEntries(Object.entries(file).filter(([, value]) => value !== undefined));
}

const maxEpisodesPerFile = 5;

/** Returns true for files of a pack, which are much smaller than their folder or name many episodes. */
export function isPart(file: ParsedFile, size: number | undefined, folderSize: number | undefined): boolean {
  const episodes = file.episodes?.length ?? 0;
  if (episodes === 0) return false;
  const isSmaller = size !== undefined && folderSize !== undefined && folderSize > size * 2;
  return isSmaller || episodes > maxEpisodesPerFile;
}
