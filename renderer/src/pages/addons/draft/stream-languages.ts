import * as m from '#messages/addons-rules';
import { getLanguage, getLocale, remember, sourceLanguage } from '../../../../../messages/language.ts';

/** Languages of streams, each with its code, or with a label when it has no code. */
const languageTable: readonly (readonly [language: string, label: string | (() => string)])[] = [
  ['English', 'en'],
  ['Japanese', 'ja'],
  ['Chinese', 'zh'],
  ['Taiwanese', m.taiwanese],
  ['Russian', 'ru'],
  ['Arabic', 'ar'],
  ['Portuguese', 'pt'],
  ['Spanish', 'es'],
  ['Latino', m.latino],
  ['French', 'fr'],
  ['German', 'de'],
  ['Italian', 'it'],
  ['Korean', 'ko'],
  ['Hindi', 'hi'],
  ['Bengali', 'bn'],
  ['Punjabi', 'pa'],
  ['Marathi', 'mr'],
  ['Gujarati', 'gu'],
  ['Tamil', 'ta'],
  ['Telugu', 'te'],
  ['Kannada', 'kn'],
  ['Malayalam', 'ml'],
  ['Thai', 'th'],
  ['Vietnamese', 'vi'],
  ['Indonesian', 'id'],
  ['Turkish', 'tr'],
  ['Hebrew', 'he'],
  ['Persian', 'fa'],
  ['Ukrainian', 'uk'],
  ['Greek', 'el'],
  ['Lithuanian', 'lt'],
  ['Latvian', 'lv'],
  ['Estonian', 'et'],
  ['Polish', 'pl'],
  ['Czech', 'cs'],
  ['Slovak', 'sk'],
  ['Hungarian', 'hu'],
  ['Romanian', 'ro'],
  ['Bulgarian', 'bg'],
  ['Serbian', 'sr'],
  ['Croatian', 'hr'],
  ['Slovenian', 'sl'],
  ['Dutch', 'nl'],
  ['Danish', 'da'],
  ['Finnish', 'fi'],
  ['Swedish', 'sv'],
  ['Norwegian', 'no'],
  ['Malay', 'ms'],
  ['Multi', m.severalLanguages],
  ['Dual Audio', m.dualAudio],
  ['Dubbed', m.dubbed],
  ['Original', m.originalLanguage],
  ['Unknown', m.unknownLanguage],
];

/** Languages of streams in the order of the editor. */
export const languages: readonly string[] = languageTable.map(([language]) => language);

/** Functions that return the label of a language in the current language. */
export const languageNames: Readonly<Record<string, () => string>> = Object.fromEntries(
  languageTable.map(([language, label]) => [
    language,
    typeof label === 'string' ? () => formatLanguage(language, label) : label,
  ]),
);

function formatLanguage(language: string, code: string): string {
  if (getLanguage() === sourceLanguage) return language;
  const locale = getLocale();
  const names = remember('language', [locale], () => new Intl.DisplayNames([locale], { type: 'language' }));
  return names.of(code) ?? language;
}
