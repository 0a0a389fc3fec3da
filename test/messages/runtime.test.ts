import { afterEach, describe, expect, it } from 'vitest';
import { defineDateFormat, formatList, formatNumber, formatRelative } from '../../messages/format.ts';
import { getLocale, negotiateLanguage, setLanguage, withLanguage } from '../../messages/language.ts';
import { findPseudoTransform } from '../../messages/pseudo-language.ts';
import { defineCatalog, loadLanguage, setTextTransform, toText } from '../../messages/runtime.ts';
import { toParsedMessage } from '../../scripts/message-syntax.ts';

const files = toParsedMessage('{count, plural, one {# file} other {# files}} in {folder}');
const hint = toParsedMessage('Open <link>Network</link> and add <code>-u {user}</code>.');
const german = {
  files: toParsedMessage('{count, plural, one {# Datei} other {# Dateien}} in {folder}'),
  hint: toParsedMessage('Füge <code>-u {user}</code> hinzu, unter <link>Netzwerk</link>.'),
};
const catalog = defineCatalog('test', { de: () => Promise.resolve({ default: german }) });

afterEach(() => {
  setLanguage('en');
  setTextTransform(undefined);
});

describe('messages', () => {
  it('uses the plural form and the digits of the language', async () => {
    await loadLanguage('de');

    const count = 1234;
    expect(catalog.text('files', files, { count, folder: 'a' })).toBe('1,234 files in a');
    expect(withLanguage('de', () => catalog.text('files', files, { count: 1, folder: 'a' }))).toBe('1 Datei in a');
    expect(withLanguage('de', () => catalog.text('files', files, { count, folder: 'a' }))).toBe('1.234 Dateien in a');
  });

  it('falls back to English for a message that a language lacks', async () => {
    await loadLanguage('de');
    setLanguage('de');

    expect(catalog.text('title', 'Delete {')).toBe('Delete {');
  });

  it('returns the parts of a message with tags in the order of the language', async () => {
    await loadLanguage('de');

    const { parts } = withLanguage('de', () => catalog.rich('hint', hint, ['link', 'code'], { user: 'ada' }));

    expect(parts[1]).toEqual({ tag: 'code', children: ['-u ada'] });
    expect(toText(parts)).toBe('Füge -u ada hinzu, unter Netzwerk.');
  });

  it('restores the language after a failure', () => {
    const fail = () => {
      throw new Error('failed');
    };

    expect(() => withLanguage('de', fail)).toThrow('failed');
    expect(getLocale()).toBe('en');
  });

  it('applies a pseudo-language to the literal text of a message, not to its values', () => {
    setTextTransform(findPseudoTransform('en-XA'));

    const text = catalog.text('files', files, { count: 2, folder: 'Kitchen' });

    expect(text).toContain('Kitchen');
    expect(text).not.toContain('files');
  });
});

describe('negotiateLanguage', () => {
  it.each([
    [['de-AT', 'en'], { language: 'de', locale: 'de-AT' }],
    [['it', 'fr-CA'], { language: 'fr', locale: 'fr-CA' }],
    [['pt-br'], { language: 'pt-BR', locale: 'pt-BR' }],
    [['it'], { language: 'en', locale: 'en' }],
    [['', 'not a tag'], { language: 'en', locale: 'en' }],
  ])('selects the first available language of %j', (wishes, expected) => {
    expect(negotiateLanguage(wishes, ['en', 'de', 'fr', 'pt-BR'])).toEqual(expected);
  });
});

describe('formats', () => {
  it('follows the current locale', () => {
    const day = defineDateFormat({ day: 'numeric', month: 'long', timeZone: 'UTC' });
    setLanguage('de', 'de-DE');

    expect(day(Date.UTC(2026, 2, 3))).toBe('3. März');
    expect(formatNumber(1234.5)).toBe('1.234,5');
    expect(formatList(['a', 'b', 'c'])).toBe('a, b und c');
    expect(formatRelative(-1, 'day')).toBe('gestern');
  });
});
