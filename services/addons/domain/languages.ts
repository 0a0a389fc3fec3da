import { findOwn } from '../../contracts/find-own.ts';

/** English name, ISO 639-1 code and flag. The first language with a flag is its default. */
const languageTable: readonly (readonly [string, string, string])[] = [
  ['English', 'en', '🇬🇧'],
  ['Japanese', 'ja', '🇯🇵'],
  ['Chinese', 'zh', '🇨🇳'],
  ['Taiwanese', 'zh-tw', '🇹🇼'],
  ['Russian', 'ru', '🇷🇺'],
  ['Arabic', 'ar', '🇸🇦'],
  ['Portuguese', 'pt', '🇵🇹'],
  ['Portuguese (Brazil)', 'pt-br', '🇧🇷'],
  ['Spanish', 'es', '🇪🇸'],
  ['French', 'fr', '🇫🇷'],
  ['German', 'de', '🇩🇪'],
  ['Italian', 'it', '🇮🇹'],
  ['Korean', 'ko', '🇰🇷'],
  ['Hindi', 'hi', '🇮🇳'],
  ['Bengali', 'bn', '🇧🇩'],
  ['Punjabi', 'pa', '🇵🇰'],
  ['Marathi', 'mr', '🇮🇳'],
  ['Gujarati', 'gu', '🇮🇳'],
  ['Tamil', 'ta', '🇮🇳'],
  ['Telugu', 'te', '🇮🇳'],
  ['Kannada', 'kn', '🇮🇳'],
  ['Malayalam', 'ml', '🇮🇳'],
  ['Thai', 'th', '🇹🇭'],
  ['Vietnamese', 'vi', '🇻🇳'],
  ['Indonesian', 'id', '🇮🇩'],
  ['Turkish', 'tr', '🇹🇷'],
  ['Hebrew', 'he', '🇮🇱'],
  ['Persian', 'fa', '🇮🇷'],
  ['Ukrainian', 'uk', '🇺🇦'],
  ['Greek', 'el', '🇬🇷'],
  ['Lithuanian', 'lt', '🇱🇹'],
  ['Latvian', 'lv', '🇱🇻'],
  ['Estonian', 'et', '🇪🇪'],
  ['Polish', 'pl', '🇵🇱'],
  ['Czech', 'cs', '🇨🇿'],
  ['Slovak', 'sk', '🇸🇰'],
  ['Hungarian', 'hu', '🇭🇺'],
  ['Romanian', 'ro', '🇷🇴'],
  ['Bulgarian', 'bg', '🇧🇬'],
  ['Serbian', 'sr', '🇷🇸'],
  ['Croatian', 'hr', '🇭🇷'],
  ['Slovenian', 'sl', '🇸🇮'],
  ['Dutch', 'nl', '🇳🇱'],
  ['Danish', 'da', '🇩🇰'],
  ['Finnish', 'fi', '🇫🇮'],
  ['Swedish', 'sv', '🇸🇪'],
  ['Norwegian', 'no', '🇳🇴'],
  ['Malay', 'ms', '🇲🇾'],
  ['Latino', 'es-mx', '💃🏻'],
  ['Multi', 'multi audio', '🌎'],
  ['Dual Audio', 'dual audio', '🎭'],
  ['Dubbed', 'dub', '🎙️'],
  ['Original', 'original', '🎬'],
  ['Unknown', '', '❔'],
];

const byCode = new Map(languageTable.map(([name, code]) => [code, name]));
byCode.set('es-419', 'Latino');
const byFlag = new Map(languageTable.toReversed().map(([name, , flag]) => [flag, name]));
for (const [flag, name] of [
  ['🇺🇸', 'English'],
  ['🇲🇽', 'Latino'],
  ['🇦🇷', 'Latino'],
  ['🇨🇴', 'Latino'],
  ['🇨🇱', 'Latino'],
  ['🇵🇪', 'Latino'],
  ['🇦🇪', 'Arabic'],
  ['🇪🇬', 'Arabic'],
  ['🇦🇺', 'English'],
  ['🇨🇦', 'English'],
  ['🇭🇰', 'Chinese'],
  ['🇦🇹', 'German'],
  ['🇨🇭', 'German'],
] as const)
  byFlag.set(flag, name);
const flags = new Map(languageTable.map(([name, , flag]) => [name, flag]));
const codes = new Map(languageTable.map(([name, code]) => [name, code]));

/** Returns the English name for an ISO 639-1 code. */
export function findLanguageByCode(code: string): string | undefined {
  return byCode.get(code);
}

/** Maps ISO 639-2 codes to ISO 639-1 codes, for the languages of the table. */
const longCodes: Readonly<Record<string, string>> = {
  eng: 'en',
  fre: 'fr',
  fra: 'fr',
  ger: 'de',
  deu: 'de',
  spa: 'es',
  ita: 'it',
  por: 'pt',
  pob: 'pt-br',
  rus: 'ru',
  jpn: 'ja',
  kor: 'ko',
  chi: 'zh',
  zho: 'zh',
  ara: 'ar',
  hin: 'hi',
  dut: 'nl',
  nld: 'nl',
  pol: 'pl',
  tur: 'tr',
  swe: 'sv',
  nor: 'no',
  dan: 'da',
  fin: 'fi',
  gre: 'el',
  ell: 'el',
  heb: 'he',
  hun: 'hu',
  rum: 'ro',
  ron: 'ro',
  bul: 'bg',
  cze: 'cs',
  ces: 'cs',
  slo: 'sk',
  slk: 'sk',
  slv: 'sl',
  srp: 'sr',
  hrv: 'hr',
  ukr: 'uk',
  vie: 'vi',
  tha: 'th',
  ind: 'id',
  per: 'fa',
  fas: 'fa',
  may: 'ms',
  msa: 'ms',
  tam: 'ta',
  tel: 'te',
  ben: 'bn',
  lit: 'lt',
  lav: 'lv',
  est: 'et',
  mal: 'ml',
  kan: 'kn',
  mar: 'mr',
  pan: 'pa',
  guj: 'gu',
};

/** Returns the language of a tag in files and players, such as `eng`, `en` or `pt-BR`. */
export function findLanguageByTag(tag: string): string | undefined {
  const lower = tag.toLowerCase().replace('_', '-');
  const baseTag = lower.replace(/-.*$/, '');
  return byCode.get(lower) ?? findLanguageByCode(findOwn(longCodes, baseTag) ?? baseTag);
}

/** Returns the language of a three-letter code. */
export function findLanguageByCode3(code: string): string | undefined {
  return code.length === 3 ? findLanguageByTag(code) : undefined;
}

const byName = new Map(languageTable.map(([name]) => [name.toLowerCase(), name]));

/** Returns the canonical English name of a language, ignoring case. */
export function findLanguageByName(name: string): string | undefined {
  return byName.get(name.toLowerCase());
}

/** Words in release names in addition to the English names of languages. */
const languageWords: readonly (readonly [language: string, words: string])[] = [
  ['French', 'fra|fr|vf|vff|vfi|vfq|vf2|vfb|true-?french|fran[cç]ais'],
  ['German', 'ger|deu|deutsch'],
  ['Italian', 'ita|italiano'],
  ['Spanish', 'spa|esp|castellano|espa[nñ]ol'],
  ['Latino', 'latin[oa]|lat|latam|espa[nñ]ol[ ._-]latino'],
  ['Portuguese (Brazil)', 'pt[ ._-]?br|portuguese[ ._-]\\(?brazil(?:ian)?\\)?|brazilian|dublado'],
  ['Russian', 'rus'],
  ['Japanese', 'jpn|jap'],
  ['Chinese', 'chi|mandarin|cantonese'],
  ['Korean', 'kor'],
  ['Hindi', 'hin'],
  ['Tamil', 'tam'],
  ['Telugu', 'tel'],
  ['English', 'eng'],
  ['Arabic', 'ara'],
  ['Polish', 'pldub|lektor[ ._-]pl'],
  ['Ukrainian', 'ukr'],
  ['Czech', 'cze'],
  ['Hungarian', 'hun'],
  ['Turkish', 'tur'],
  ['Dutch', 'dut'],
  ['Swedish', 'swe'],
  ['Greek', 'ell'],
  ['Thai', 'tha'],
  ['Vietnamese', 'vie'],
];
/** Words that have another meaning in lower case. */
const upperCaseWords = new Set([
  'fr',
  'lat',
  'esp',
  'spa',
  'tel',
  'tam',
  'hin',
  'chi',
  'ara',
  'tur',
  'hun',
  'dut',
  'swe',
  'tha',
  'vie',
  'ell',
]);
const nonAudioLanguages = new Set([
  'Multi',
  'Dual Audio',
  'Dubbed',
  'Original',
  'Unknown',
  'Latino',
  'Portuguese (Brazil)',
]);
const wordPattern = new RegExp(
  String.raw`(?<![^\s[(_\-.,+&|])(?:${[
    ...languageTable.filter(([name]) => !nonAudioLanguages.has(name)).map(([name]) => `(?<n${name}>${name})`),
    ...languageWords.map(([name, list]) => `(?<w${name.replaceAll(/[^A-Za-z]/g, '')}>${list})`),
  ].join('|')})(?=[\s)\]_\-.,+&|]|$)(?![ ._-]?sub(?:title)?s?(?:[\s)\]_\-.,]|$))`,
  'giu',
);
const groupNames = new Map<string, string>([
  ...languageTable.map(([name]): [string, string] => [`n${name}`, name]),
  ...languageWords.map(([name]): [string, string] => [`w${name.replaceAll(/[^A-Za-z]/g, '')}`, name]),
]);

/** Detects languages in a release name without its title, such as `TRUEFRENCH`, `PT-BR` or `Italian`. */
export function findLanguagesByWords(text: string): readonly string[] {
  const languages = new Set<string>();
  for (const match of text.matchAll(wordPattern)) {
    const [word] = match;
    if (upperCaseWords.has(word.toLowerCase()) && word !== word.toUpperCase()) continue;
    const group = Object.keys(match.groups ?? {}).find((name) => match.groups?.[name] !== undefined) ?? '';
    const language = groupNames.get(group);
    if (language !== undefined) languages.add(language);
  }
  return [...languages];
}

/** Returns the flag of a language, or its name if it has none. */
export function getFlag(name: string): string {
  return flags.get(name) ?? name;
}

/** Returns the code of a language in upper case for formats. */
export function getLanguageCode(name: string): string {
  const code = codes.get(name) ?? name;
  return (code.includes(' ') ? name : code).toUpperCase();
}

/** Matches flags. The globe is no language when it precedes a list of languages. */
const flagPattern = /[\u{1F1E6}-\u{1F1FF}]{2}|🌎(?!\u{FE0F}?[ \t]*[\u{1F1E6}-\u{1F1FF}\p{L}])|🎭/gu;

/** Detects languages by flags. */
export function findLanguagesByFlags(text: string): readonly string[] {
  const matches = text.match(flagPattern);
  if (matches === null) return [];
  return [...new Set(matches.flatMap((flag) => byFlag.get(flag) ?? []))];
}
