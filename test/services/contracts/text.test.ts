import { afterEach, describe, expect, it } from 'vitest';
import { getLanguage, setLanguage } from '../../../messages/language.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { readText, readTexts } from '../../../services/contracts/text.ts';

afterEach(() => setLanguage('en'));

describe('texts', () => {
  it('evaluates texts in the current language at any depth, in a copy', () => {
    const value = { title: getLanguage, list: [{ label: getLanguage, count: 3 }], none: null, name: 'yt-dlp' };
    setLanguage('de');
    expect(readTexts(value)).toEqual({ title: 'de', list: [{ label: 'de', count: 3 }], none: null, name: 'yt-dlp' });
    expect(value.title).toBe(getLanguage);
    expect([readText(getLanguage), readText('ntfy')]).toEqual(['de', 'ntfy']);
  });

  it('gives each reader the text of a problem in their language, and the log the English one', () => {
    setLanguage('de');
    const problem = new Problem('test.failed', 500, getLanguage);
    expect(problem.message).toBe('en');
    expect(problem.detail).toBe('de');
    setLanguage('fr');
    expect(problem).toMatchObject({ code: 'test.failed', detail: 'fr' });
  });
});
