import { getLanguage, getLocale, remember } from './language.ts';

/** Returns a function that formats numbers in the current locale. */
export function defineNumberFormat(options: Intl.NumberFormatOptions = {}): (value: number) => string {
  return (value) => {
    const locale = getLocale();
    return remember('number', [locale, options], () => new Intl.NumberFormat(locale, options)).format(value);
  };
}

/** Returns a function that formats times, in ms since the epoch, in the current locale and the time zone of the process. */
export function defineDateFormat(options: Intl.DateTimeFormatOptions): (time: number | Date) => string {
  return (time) => {
    const locale = getLocale();
    return remember('date', [locale, options], () => new Intl.DateTimeFormat(locale, options)).format(time);
  };
}

/** Formats a number in the current locale, with grouped digits: `1,234`. */
export const formatNumber = defineNumberFormat();

/** Formats a list in the current language: `a, b, and c`. */
export function formatList(
  items: readonly string[],
  type: 'conjunction' | 'disjunction' | 'unit' = 'conjunction',
): string {
  const locale = getLocale();
  return remember('list', [locale, type], () => new Intl.ListFormat(locale, { type })).format(items);
}

/** Formats the name of a language in that language, with a capital letter: `Deutsch`. */
export function formatLanguageName(language: string): string {
  const name = new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language;
  return name.slice(0, 1).toLocaleUpperCase(language) + name.slice(1);
}

/** Formats a difference to now in the current language: `in 5 minutes`, `yesterday`. */
export function formatRelative(
  value: number,
  unit: Intl.RelativeTimeFormatUnit,
  style: Intl.RelativeTimeFormatStyle = 'long',
): string {
  const locale = getLocale();
  const create = () => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style });
  return remember('relative', [locale, style], create).format(value, unit);
}

/** Returns a line with a capital first letter, by the rules of the current language. */
export function capitalize(line: string): string {
  const [first = ''] = line;
  return first.toLocaleUpperCase(getLanguage()) + line.slice(first.length);
}
