import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { getLanguage, getLocale } from '../../messages/language.ts';
import { languages } from '../../messages/generated/languages.ts';
import {
  findUsedLanguage,
  negotiateRequestLanguage,
  resolveHostLanguage,
  runInEnglish,
  runInLanguage,
  runOutsideRequests,
} from '../../services/kit/language.ts';

const other = languages.find((language) => language !== 'en') ?? 'en';

describe('the language of a request', () => {
  it('is English without a header, for unknown languages and for malformed headers', () => {
    for (const header of [undefined, '', '*', 'xx-YY', ';;;q=', 'q=1;de', ','.repeat(10_000)])
      expect(negotiateRequestLanguage(header), String(header).slice(0, 20)).toEqual({ language: 'en', locale: 'en' });
  });

  it('is the first wish with a catalog, with its region', () => {
    expect(negotiateRequestLanguage(`xx, ${other}-AT;q=0.8, en;q=0.3`)).toEqual({
      language: other,
      locale: `${other}-AT`,
    });
  });

  it('follows the weights and not the order, and leaves out refused languages', () => {
    expect(negotiateRequestLanguage(`en;q=0.2, ${other};q=0.9`).language).toBe(other);
    expect(negotiateRequestLanguage(`${other};q=0, en-GB`)).toEqual({ language: 'en', locale: 'en-GB' });
  });

  it('holds for everything that the work awaits, and for nothing else', async () => {
    const inside = runInLanguage({ language: other, locale: other }, async () => {
      await pause(5);
      return [getLanguage(), getLocale(), runInEnglish(getLanguage)];
    });
    expect(getLanguage()).toBe('en');
    expect(await inside).toEqual([other, other, 'en']);
    expect(getLanguage()).toBe('en');
  });
});

describe('the used language', () => {
  it('is that of the work after it made a text, also in what it awaited', async () => {
    const used = await runInLanguage({ language: other, locale: other }, async () => {
      const before = findUsedLanguage();
      await pause(1).then(getLocale);
      return [before, findUsedLanguage()];
    });
    expect(used).toEqual([undefined, other]);
  });

  it('is undefined when only texts in English or of other work were made', async () => {
    const used = await runInLanguage({ language: other, locale: other }, async () => {
      runInEnglish(getLanguage);
      await runInLanguage({ language: other, locale: other }, getLanguage);
      runOutsideRequests(getLanguage);
      return findUsedLanguage();
    });
    expect(used).toBeUndefined();
    expect(findUsedLanguage()).toBeUndefined();
  });
});

describe('the language of a host', () => {
  it('is the one of the setting, or of the system', () => {
    expect(resolveHostLanguage(other).language).toBe(other);
    expect(languages).toContain(resolveHostLanguage('').language);
  });

  it.each(['__proto__', 'constructor', 'xx'])('is English for %s, which has no catalog', (setting) => {
    expect(resolveHostLanguage(setting)).toEqual({ language: 'en', locale: 'en' });
  });
});

describe('work outside of requests', () => {
  it('has no scope of the request that starts it, and is in English', async () => {
    const scope = new AsyncLocalStorage<string>();

    const inside = await runInLanguage({ language: other, locale: other }, () =>
      scope.run('request', () =>
        runOutsideRequests(async () => {
          await pause(1);
          return [getLanguage(), scope.getStore()];
        }),
      ),
    );

    expect(inside).toEqual(['en', undefined]);
  });
});
