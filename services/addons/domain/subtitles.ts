import { findLanguageByTag, findLanguagesByFlags } from './languages.ts';

const subtitlePattern = /sub|vost/i;
const listAfterPattern = /(?<![a-z])sub(?:s|bed|titles?)?[ ._:[(-]+((?:[a-z]{2,3}(?![a-z])[ ._,+&/-]*)+)/i;
const codeBeforePattern = /(?<![a-z])([a-z]{3})[ ._-]?sub(?:s|bed|titles?)?(?![a-z])/i;

/** Detects subtitle languages in the name of a release. */
export function findSubtitlesInName(name: string): readonly string[] {
  if (!subtitlePattern.test(name)) return [];
  const languages = new Set<string>();
  if (/(?<![a-z])vost(?:fr|f)?(?![a-z])/i.test(name)) languages.add('French');
  if (/(?<![a-z])e-?subs?(?![a-z])/i.test(name)) languages.add('English');
  if (/(?<![a-z])m(?:ulti)?[ ._-]?subs?(?![a-z])/i.test(name)) languages.add('Multi');
  const listed = (listAfterPattern.exec(name)?.[1] ?? '').split(/[ ._,+&/-]+/);
  // Lower-case words of two letters are usually no codes.
  for (const code of listed) if (code.length === 3 || code === code.toUpperCase()) addLanguage(languages, code);
  if (languages.size === 0) addLanguage(languages, codeBeforePattern.exec(name)?.[1] ?? '');
  return [...languages];
}

function addLanguage(languages: Set<string>, code: string): void {
  const language = code.length < 2 ? undefined : findLanguageByTag(code);
  if (language !== undefined) languages.add(language);
}

const maxTracks = 100;
/** Prefixes of the line that lists subtitles. */
const listPattern = /(?:📝|💬|🔤|[Ss]ub(?:s|titles)?:)\s*([^\n]{1,200})/u;

/** Returns the languages of the subtitles that a stream contains or that its description lists. */
export function findSubtitlesInStream(tracks: unknown, description: string): readonly string[] {
  const languages = new Set<string>();
  if (Array.isArray(tracks))
    for (const track of tracks.slice(0, maxTracks) as unknown[])
      if (typeof track === 'object' && track !== null && 'lang' in track && typeof track.lang === 'string')
        languages.add(findLanguageByTag(track.lang) ?? track.lang);
  // Most descriptions contain no subtitles, and this test is fast.
  if (!/[\u{1F4DD}\u{1F4AC}\u{1F524}]|ub(?:s|titles)?:/u.test(description)) return [...languages];
  for (const language of findLanguagesByFlags(listPattern.exec(description)?.[1] ?? '')) languages.add(language);
  return [...languages];
}
