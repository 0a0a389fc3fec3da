import * as m from '#messages/git-code';
import { defineNumberFormat } from '../../../../../messages/format.ts';
import type { GitLanguage } from '../../../../../services/contracts/git/insights-api.ts';
import { getLanguageColor } from './language-colors.ts';

/** Languages after these are counted together. */
const maxLanguages = 6;

export const formatShare = defineNumberFormat({ style: 'percent', maximumFractionDigits: 1 });

/** Language with its color and its share of the code, from 0 to 1. */
export interface LanguageShare extends GitLanguage {
  readonly color: string;
  readonly share: number;
}

/** Returns the shares of the largest languages, and of the others together. */
export function getLanguageShares(languages: readonly GitLanguage[]): readonly LanguageShare[] {
  const total = languages.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total === 0) return [];
  const visible = languages.length > maxLanguages ? languages.slice(0, maxLanguages - 1) : languages;
  const rest = languages.slice(visible.length).reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    ...visible.map((language) => ({ ...language, color: getLanguageColor(language.name) })),
    ...(rest > 0 ? [{ name: m.otherLanguages(), bytes: rest, color: 'var(--ink-faint)' }] : []),
  ].map((language) => ({ ...language, share: language.bytes / total }));
}
