import { afterEach, describe, expect, it } from 'vitest';
import { capitalize, defineDateFormat, formatList, formatNumber, formatRelative } from '../../messages/format.ts';
import { getLocale, negotiateLanguage, remember, withLanguage } from '../../messages/language.ts';
import { findPseudoTransform } from '../../messages/pseudo-language.ts';
import { defineCatalog, loadLanguage, setTextTransform, toText } from '../../messages/runtime.ts';
import { toParsedMessage } from '../../scripts/message-syntax.ts';

const files = toParsedMessage('{count, plural, one {# file} other {# files}} in {folder}');
const hint = toParsedMessage('Open <link>Network</link> and add <code>-u {user}</code>.');
/** Positions of the messages in the catalog. */
const [filesIndex, hintIndex, titleIndex] = [0, 1, 2];
const german = [
  toParsedMessage('{count, plural, one {# Datei} other {# Dateien}} in {folder}'),
  toParsedMessage('Füge <code>-u {user}</code> hinzu, unter <link>Netzwerk</link>.'),
  null,
];
const catalog = defineCatalog('test', { de: () => Promise.resolve({ default: german }) });

afterEach(() => setTextTransform(undefined));

describe('capitalize', () => {
  it.each([
    ['in 5 minutes', 'In 5 minutes'],
    ['über Nacht', 'Über Nacht'],
    ['', ''],
  ])('changes %j to %j', (line, expected) => {
    expect(capitalize(line)).toBe(expected);
  });

  it('uses the letters of the language', () => {
    expect(withLanguage('tr', () => capitalize('istanbul'))).toBe('İstanbul');
  });
});

describe('messages', () => {
  it('uses the plural form and the digits of the language', async () => {
    await loadLanguage('de');

    const count = 1234;
    expect(catalog.text(filesIndex, files, { count, folder: 'a' })).toBe('1,234 files in a');
    expect(withLanguage('de', () => catalog.text(filesIndex, files, { count: 1, folder: 'a' }))).toBe('1 Datei in a');
    expect(withLanguage('de', () => catalog.text(filesIndex, files, { count, folder: 'a' }))).toBe(
      '1.234 Dateien in a',
    );
  });

  it('falls back to English for a message that a language lacks', async () => {
    await loadLanguage('de');

    expect(withLanguage('de', () => catalog.text(titleIndex, 'Delete {'))).toBe('Delete {');
  });

  it('returns the parts of a message with tags in the order of the language', async () => {
    await loadLanguage('de');

    const { parts } = withLanguage('de', () => catalog.rich(hintIndex, hint, ['link', 'code'], { user: 'ada' }));

    expect(parts[1]).toEqual({ tag: 'code', children: ['-u ada'] });
    expect(toText(parts)).toBe('Füge -u ada hinzu, unter Netzwerk.');
  });

  it('falls back to English when a translation cannot be loaded, and tries it again', async () => {
    let attempts = 0;
    const flaky = defineCatalog('flaky', {
      es: () => {
        attempts += 1;
        return attempts === 1 ? Promise.reject(new Error('no file')) : Promise.resolve({ default: ['Ir'] });
      },
    });

    await loadLanguage('es');
    expect(withLanguage('es', () => flaky.text(0, 'Go'))).toBe('Go');

    await loadLanguage('es');
    expect(withLanguage('es', () => flaky.text(0, 'Go'))).toBe('Ir');
  });

  it.each(['__proto__', 'constructor', 'toString'])('is in English in the language %s', async (language) => {
    await loadLanguage(language);

    expect(withLanguage(language, () => catalog.text(titleIndex, 'Delete'))).toBe('Delete');
  });

  it('restores the language after a failure', () => {
    const fail = () => {
      throw new Error('failed');
    };

    const before = getLocale();
    expect(() => withLanguage('de', fail)).toThrow('failed');
    expect(getLocale()).toBe(before);
  });

  it('applies a pseudo-language to the literal text of a message, not to its values', () => {
    setTextTransform(findPseudoTransform('en-XA'));

    const text = catalog.text(filesIndex, files, { count: 2, folder: 'Kitchen' });

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
    [['de-ZZ'], { language: 'de', locale: 'de' }],
    [['de-AT-u-nu-thai-x-private'], { language: 'de', locale: 'de-AT' }],
    [['__proto__', 'constructor'], { language: 'en', locale: 'en' }],
  ])('selects the first available language of %j', (wishes, expected) => {
    expect(negotiateLanguage(wishes, ['en', 'de', 'fr', 'pt-BR'])).toEqual(expected);
  });
});

describe('formats', () => {
  it('follows the current locale', () => {
    const day = defineDateFormat({ day: 'numeric', month: 'long', timeZone: 'UTC' });

    withLanguage('de', () => {
      expect(day(Date.UTC(2026, 2, 3))).toBe('3. März');
      expect(formatNumber(1234.5)).toBe('1.234,5');
      expect(formatList(['a', 'b', 'c'])).toBe('a, b und c');
      expect(formatRelative(-1, 'day')).toBe('gestern');
    });
  });
});

describe('remember', () => {
  it('drops the formatters that were created first when clients choose many parameters', () => {
    let created = 0;
    const get = (index: number): number => remember('test', [index], () => (created += 1));
    for (let index = 0; index < 5_000; index += 1) get(index);

    get(4_999);
    expect(created).toBe(5_000);
    get(0);
    expect(created).toBe(5_001);
  });
});
