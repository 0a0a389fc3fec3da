import { languageOfTag as languageOf, languagesOfFlags } from './languages.ts';

const anything = /sub|vost/i;
const after = /(?<![a-z])sub(?:s|bed|titles?)?[ ._:[(-]+((?:[a-z]{2,3}(?![a-z])[ ._,+&/-]*)+)/i;
const before = /(?<![a-z])([a-z]{3})[ ._-]?sub(?:s|bed|titles?)?(?![a-z])/i;

/** Detects subtitle languages in the name of a release. */
export function subtitlesOfName(name: string): readonly string[] {
  if (!anything.test(name)) return [];
  const found = new Set<string>();
  if (/(?<![a-z])vost(?:fr|f)?(?![a-z])/i.test(name)) found.add('French');
  if (/(?<![a-z])e-?subs?(?![a-z])/i.test(name)) found.add('English');
  if (/(?<![a-z])m(?:ulti)?[ ._-]?subs?(?![a-z])/i.test(name)) found.add('Multi');
  const listed = (after.exec(name)?.[1] ?? '').split(/[ ._,+&/-]+/);
  // Lower-case words of two letters are usually no codes.
  for (const code of listed) if (code.length === 3 || code === code.toUpperCase()) add(found, code);
  if (found.size === 0) add(found, before.exec(name)?.[1] ?? '');
  return [...found];
}

function add(found: Set<string>, code: string): void {
  const language = code.length < 2 ? undefined : languageOf(code);
  if (language !== undefined) found.add(language);
}

const mostTracks = 100;
/** Prefixes of the line that lists subtitles. */
const marked = /(?:📝|💬|🔤|[Ss]ub(?:s|titles)?:)\s*([^\n]{1,200})/u;

/** Returns the languages of the subtitles that a stream contains or that its description lists. */
export function subtitlesOfStream(tracks: unknown, description: string): readonly string[] {
  const found = new Set<string>();
  if (Array.isArray(tracks))
    for (const track of tracks.slice(0, mostTracks) as unknown[])
      if (typeof track === 'object' && track !== null && 'lang' in track && typeof track.lang === 'string')
        found.add(languageOf(track.lang) ?? track.lang);
  // Most descriptions contain no subtitles, and this test is fast.
  if (!/[\u{1F4DD}\u{1F4AC}\u{1F524}]|ub(?:s|titles)?:/u.test(description)) return [...found];
  for (const language of languagesOfFlags(marked.exec(description)?.[1] ?? '')) found.add(language);
  return [...found];
}
