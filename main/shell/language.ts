import { languages } from '../../messages/generated/languages.ts';
import { negotiateLanguage, setLanguage, type LanguageChoice } from '../../messages/language.ts';
import { loadLanguage } from '../../messages/runtime.ts';
import type { ElectronApi } from './electron.ts';

/** Returns the language of the tray and the dialogs: the first language of the system that has a catalog. */
export function getSystemLanguage(app: Pick<ElectronApi['app'], 'getPreferredSystemLanguages'>): LanguageChoice {
  return negotiateLanguage(app.getPreferredSystemLanguages(), languages);
}

/** Makes the language of the system that of this process. Electron knows it when the app is ready. */
export async function applySystemLanguage(app: Pick<ElectronApi['app'], 'getPreferredSystemLanguages'>): Promise<void> {
  const choice = getSystemLanguage(app);
  await loadLanguage(choice.language);
  setLanguage(choice.language, choice.locale);
}
