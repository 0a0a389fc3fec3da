import { languages } from '../../../messages/generated/languages.ts';
import { negotiateLanguage, type LanguageChoice } from '../../../messages/language.ts';

/**
 * Returns the language of a command's output. On Linux it is the locale of messages of the environment (POSIX, section
 * 8.2), such as `de_AT.UTF-8`; Windows and macOS have it in their settings, which Intl reads.
 */
export function getCommandLanguage(
  environment: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): LanguageChoice {
  if (platform === 'win32' || platform === 'darwin') {
    return negotiateLanguage([Intl.DateTimeFormat().resolvedOptions().locale], languages);
  }
  // An empty variable counts as not set.
  const locale = environment['LC_ALL'] || environment['LC_MESSAGES'] || environment['LANG'] || '';
  // The encoding and the modifier have no meaning for texts.
  const [tag = ''] = locale.split(/[.@]/, 1);
  return negotiateLanguage([tag.replaceAll('_', '-')], languages);
}
