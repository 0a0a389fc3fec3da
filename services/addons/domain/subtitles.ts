import { languageOfCode, languagesOfFlags } from './languages.ts';

/** ISO 639-2 in both its forms -> 639-1, of the languages that have a name here. */
const longCodes: Readonly<Record<string, string>> = {
  ...{ eng: 'en', fre: 'fr', fra: 'fr', ger: 'de', deu: 'de', spa: 'es', ita: 'it', por: 'pt', pob: 'pt', rus: 'ru' },
  ...{ jpn: 'ja', kor: 'ko', chi: 'zh', zho: 'zh', ara: 'ar', hin: 'hi', dut: 'nl', nld: 'nl', pol: 'pl', tur: 'tr' },
  ...{ swe: 'sv', nor: 'no', dan: 'da', fin: 'fi', gre: 'el', ell: 'el', heb: 'he', hun: 'hu', rum: 'ro', ron: 'ro' },
  ...{ bul: 'bg', cze: 'cs', ces: 'cs', slo: 'sk', slk: 'sk', slv: 'sl', srp: 'sr', hrv: 'hr', ukr: 'uk', vie: 'vi' },
  ...{ tha: 'th', ind: 'id', per: 'fa', fas: 'fa', may: 'ms', msa: 'ms', tam: 'ta', tel: 'te', ben: 'bn', lit: 'lt' },
  ...{ lav: 'lv', est: 'et', mal: 'ml', kan: 'kn', mar: 'mr', pan: 'pa', guj: 'gu' },
};

/** A code as files and players write it: `eng`, `en`, `pt-BR`. */
function languageOf(code: string): string | undefined {
  const bare = code.toLowerCase().replace(/[-_].*$/, '');
  return languageOfCode(longCodes[bare] ?? bare);
}

const anything = /sub|vost/i;
const after = /(?<![a-z])sub(?:s|bed|titles?)?[ ._:[(-]+((?:[a-z]{2,3}(?![a-z])[ ._,+&/-]*)+)/i;
const before = /(?<![a-z])([a-z]{3})[ ._-]?sub(?:s|bed|titles?)?(?![a-z])/i;

/** Languages that the name of a release says it has subtitles in. */
export function subtitlesOfName(name: string): readonly string[] {
  if (!anything.test(name)) return [];
  const found = new Set<string>();
  if (/(?<![a-z])vost(?:fr|f)?(?![a-z])/i.test(name)) found.add('French');
  if (/(?<![a-z])e-?subs?(?![a-z])/i.test(name)) found.add('English');
  if (/(?<![a-z])m(?:ulti)?[ ._-]?subs?(?![a-z])/i.test(name)) found.add('Multi');
  const listed = (after.exec(name)?.[1] ?? '').split(/[ ._,+&/-]+/);
  // Words of two letters are words more often than codes.
  for (const code of listed) if (code.length === 3 || code === code.toUpperCase()) add(found, code);
  if (found.size === 0) add(found, before.exec(name)?.[1] ?? '');
  return [...found];
}

function add(found: Set<string>, code: string): void {
  const language = code.length < 2 ? undefined : languageOf(code);
  if (language !== undefined) found.add(language);
}

const mostTracks = 100;
/** How addons begin the line that lists them. */
const marked = /(?:📝|💬|🔤|[Ss]ub(?:s|titles)?:)\s*([^\n]{1,200})/u;

/** Languages of the subtitles that come with a stream, or that its description lists. */
export function subtitlesOfStream(tracks: unknown, description: string): readonly string[] {
  const found = new Set<string>();
  if (Array.isArray(tracks))
    for (const track of tracks.slice(0, mostTracks) as unknown[])
      if (typeof track === 'object' && track !== null && 'lang' in track && typeof track.lang === 'string')
        found.add(languageOf(track.lang) ?? track.lang);
  // Most descriptions have none; a look for the marks is cheap.
  if (!/[\u{1F4DD}\u{1F4AC}\u{1F524}]|ub(?:s|titles)?:/u.test(description)) return [...found];
  for (const language of languagesOfFlags(marked.exec(description)?.[1] ?? '')) found.add(language);
  return [...found];
}
