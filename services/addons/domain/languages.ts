/** English name, ISO 639-1 code, flag. The first of those with the same flag is meant by it. */
const table: readonly (readonly [string, string, string])[] = [
  ['English', 'en', '🇬🇧'],
  ['Japanese', 'ja', '🇯🇵'],
  ['Chinese', 'zh', '🇨🇳'],
  ['Taiwanese', 'zh-tw', '🇹🇼'],
  ['Russian', 'ru', '🇷🇺'],
  ['Arabic', 'ar', '🇸🇦'],
  ['Portuguese', 'pt', '🇵🇹'],
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
  ['Latino', 'es-419', '💃🏻'],
  ['Multi', 'multi audio', '🌎'],
  ['Dual Audio', 'dual audio', '🎭'],
  ['Dubbed', 'dub', '🎙️'],
  ['Original', 'original', '🎬'],
  ['Unknown', '', '❔'],
];

const byCode = new Map(table.map(([name, code]) => [code, name]));
const byFlag = new Map(table.toReversed().map(([name, , flag]) => [flag, name]));
for (const [flag, name] of [
  ['🇺🇸', 'English'],
  ['🇧🇷', 'Portuguese'],
  ['🇲🇽', 'Latino'],
  ['🇦🇪', 'Arabic'],
] as const)
  byFlag.set(flag, name);
const flags = new Map(table.map(([name, , flag]) => [name, flag]));
const codes = new Map(table.map(([name, code]) => [name, code]));

/** The English name of an ISO code as release parsers give it. */
export function languageOfCode(code: string): string | undefined {
  return byCode.get(code);
}

/** The flag of a language; its name where it has none. */
export function flagOf(name: string): string {
  return flags.get(name) ?? name;
}

/** The code of a language in capitals, as formats show it. */
export function codeOf(name: string): string {
  const code = codes.get(name) ?? name;
  return (code.includes(' ') ? name : code).toUpperCase();
}

const flagPattern = /[\u{1F1E6}-\u{1F1FF}]{2}|🌎|🎭/gu;

/** Languages whose flags stand in a text. */
export function languagesOfFlags(text: string): readonly string[] {
  const found = text.match(flagPattern);
  if (found === null) return [];
  return [...new Set(found.flatMap((flag) => byFlag.get(flag) ?? []))];
}
